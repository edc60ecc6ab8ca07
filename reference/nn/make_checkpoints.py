"""Writes checkpoints/*.pth in the form of the authors' training script, and checkpoints/expected.json with their predictions.

    pip install -r requirements.txt && python make_checkpoints.py
"""

import json
from pathlib import Path

import torch
from torch import nn
from torch_geometric.data import Data

from authors_models import AuthorsModel

NODE, EDGE, OUT, HIDDEN = 3, 1, 2, 6

# (model string, parts, file format)
CASES = [
    ("DecIterGNN30-HomoPathSimConv-Max", ("DecIterGNN", 30, "Homo", "PathSimConv", "Max", 1), "zip"),
    ("IterGNN40-PathConv-Sum", ("IterGNN", 40, "", "PathConv", "Sum", 1), "legacy"),
    ("DeepGNN3-SHomoMPNNMaxConv-Mean", ("DeepGNN", 3, "SHomo", "MPNNMaxConv", "Mean", 1), "zip"),
    ("SharedDeepGNN4-HomoPathConv-Attention", ("SharedDeepGNN", 4, "Homo", "PathConv", "Attention", 1), "zip"),
    ("DecIterNodeGNN40-SHomoPathSimConv-Sum-2", ("DecIterNodeGNN", 40, "SHomo", "PathSimConv", "Sum", 2), "zip"),
    ("IterNodeGNN25-PathSimConv-HeadTail", ("IterNodeGNN", 25, "", "PathSimConv", "HeadTail", 1), "zip"),
    ("DecIterGNN5-MPNNMaxConv-Attention", ("DecIterGNN", 5, "", "MPNNMaxConv", "Attention", 1), "zip"),
    ("DeepGNN2-GCNConv-Max", ("DeepGNN", 2, "", "GCNConv", "Max", 1), "zip"),
    ("IterGNN30-HomoGATConv-Min", ("IterGNN", 30, "Homo", "GATConv", "Min", 1), "zip"),
    ("DeepGNN2-GINConv-Max", ("DeepGNN", 2, "", "GINConv", "Max", 1), "zip"),
    ("DeepGNN2-GATConv-Max", ("DeepGNN", 2, "", "GATConv", "Max", 1), "pyg1"),
]


def as_pyg1(state):
    """GAT as PyG 1 kept it: the weight [inputs, outputs], both attention vectors in one tensor, the receiver's first."""
    old = {}
    for name, value in state.items():
        if name.endswith("module.lin.weight"):
            old[name.replace("lin.weight", "weight")] = value.t().contiguous()
        elif name.endswith("att_src"):
            old[name.replace("att_src", "att")] = torch.cat([state[name.replace("src", "dst")], value], -1)
        elif not name.endswith("att_dst"):
            old[name] = value
    return old


def graphs():
    """A chain, a graph with an isolated node and a self-loop, one node."""
    shapes = [
        (5, [(i, i + 1) for i in range(4)] + [(i + 1, i) for i in range(4)]),
        (5, [(0, 1), (1, 2), (2, 0), (2, 2), (0, 3)]),
        (1, []),
    ]
    for nodes, edges in shapes:
        index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t().contiguous()
        yield Data(x=torch.randn(nodes, NODE), edge_index=index, edge_attr=torch.rand(len(edges), EDGE) + 0.5)


def main():
    folder = Path(__file__).parent / "checkpoints"
    folder.mkdir(exist_ok=True)
    torch.manual_seed(11)
    samples = list(graphs())
    records = [{"node_attributes": g.x.tolist(), "edges": g.edge_index.t().tolist(), "edge_attributes": g.edge_attr.tolist()}
               for g in samples]
    expected = {"torch": torch.__version__, "graphs": records, "models": []}
    for name, parts, form in CASES:
        model = AuthorsModel(*parts, NODE, EDGE, OUT, HIDDEN)
        with torch.no_grad():
            for parameter in model.parameters():
                nn.init.normal_(parameter, std=0.6)
            outputs = [model(graph) for graph in samples]
        state = {"epoch": 3, "model_state_dict": as_pyg1(model.state_dict()) if form == "pyg1" else model.state_dict(),
                 "loss_hist": [0.5, 0.25]}
        torch.save(state, folder / f"{name}.pth", _use_new_zipfile_serialization=form == "zip")
        expected["models"].append({"name": name, "predictions": [y[0].tolist() for y, _ in outputs],
                                   "iterations": [used for _, used in outputs]})
        print(name, [used for _, used in outputs])
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
