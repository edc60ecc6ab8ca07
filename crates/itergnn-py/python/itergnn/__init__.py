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
from .model import Model, Prediction, Solution, Trace, evaluate, load
from .sampling import sample
from .training import Run, SeedRun, train

__all__ = [
    "Graph",
    "InputError",
    "ItergnnError",
    "Model",
    "Pacman",
    "Prediction",
    "Run",
    "RunError",
    "Sample",
    "SeedRun",
    "Solution",
    "Trace",
    "evaluate",
    "exact",
    "generators",
    "graph",
    "load",
    "sample",
    "train",
]
