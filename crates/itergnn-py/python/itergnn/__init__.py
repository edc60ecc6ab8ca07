"""Graph neural networks that learn on small graphs and work on graphs of any size.

The engine is Rust; this package takes and gives what Python programs have: NumPy arrays, NetworkX, PyTorch Geometric,
SciPy and igraph graphs.

>>> import itergnn
>>> path = itergnn.exact.shortest_path(itergnn.generators.lobster(100, seed=7), 0, 99)
>>> path.length
99.0
"""

from . import exact, generators
from ._core import Graph, Pacman, Sample
from .convert import graph
from .errors import InputError, ItergnnError, RunError
from .sampling import sample

__all__ = [
    "Graph",
    "InputError",
    "ItergnnError",
    "Pacman",
    "RunError",
    "Sample",
    "exact",
    "generators",
    "graph",
    "sample",
]
