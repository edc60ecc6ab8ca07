"""Bring your own dataset: PyTorch Geometric's `Data` objects, or any others with the same fields.

    python own_dataset.py

How far is every node from the marked one? Learned on trees of 15 nodes, asked of trees of 60. With
PyTorch Geometric installed the graphs are its `Data`; without it a class with the same fields stands in, and nothing
else in this file changes.
"""

import argparse
from types import SimpleNamespace

import numpy as np

import itergnn

try:
    import torch
    from torch_geometric.data import Data

    def data(**fields: np.ndarray) -> Data:
        return Data(**{name: torch.from_numpy(value) for name, value in fields.items()})

except ImportError:

    def data(**fields: np.ndarray) -> SimpleNamespace:
        return SimpleNamespace(**fields, num_nodes=len(fields["x"]))


def dataset(count: int, nodes: int, seed: int) -> list:
    """Random trees; the attribute of a node says whether it is the marked one, its target is the distance from
    there."""
    made = []
    for graph in itergnn.generators.tree(nodes, seed=seed, count=count):
        distances = np.array([itergnn.exact.shortest_path(graph, 0, node).length for node in range(nodes)])
        mark, lengths = np.eye(nodes, 1, dtype=np.float32), np.ones((graph.num_edges, 1), dtype=np.float32)
        made.append(data(x=mark, edge_index=graph.edge_index, edge_attr=lengths, y=distances))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=400, help="graphs to learn from")
    parser.add_argument("--epochs", type=int, default=20)
    given = parser.parse_args()
    small, large = dataset(given.count, 15, seed=0), dataset(20, 60, seed=1)
    run = itergnn.train(small, level="node", model="iter-homo-path", epochs=given.epochs, progress=False)
    print(run.metrics[["epoch", "train_loss"]].tail(1).to_string(index=False))
    answers = run.model.predict(large, max_iterations=240)
    errors = [np.abs(answer.values[:, 0] - np.asarray(one.y)).mean() for one, answer in zip(large, answers, strict=True)]
    print(f"trees of four times the size: off by {np.mean(errors):.2f} per node")


if __name__ == "__main__":
    main()
