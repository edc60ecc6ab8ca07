"""Writes golden-heads.json: outputs and all gradients of whole models with an edge head and with a pointer head.

Double precision, numpy with reverse-mode differentiation by the package autograd. Written from the definitions, one node and one edge at a
time: `python make_golden_heads.py` with numpy and autograd installed.
"""

import json
from importlib.metadata import version
from pathlib import Path

import autograd
import autograd.numpy as np
import numpy

SLOPE = 0.01
NODE, EDGE, HIDDEN, STEPS = 3, 2, 6, 2
# A hub with a self-loop and parallel edges, an isolated node, and a second and a third graph, the last of one node. Sorted by receiver.
EDGES = [(1, 0), (2, 0), (3, 0), (0, 0), (0, 1), (1, 3), (1, 3), (5, 6), (6, 5)]
EDGES.sort(key=lambda edge: edge[1])
GRAPH_SIZES = [5, 2, 1]
NODES = sum(GRAPH_SIZES)
# Which choice of each node is right: a number of its incoming edges, or their count for the node itself.
TARGETS = [2, 1, 0, 1, 0, 0, 1, 0]


def incoming(node):
    return [number for number, edge in enumerate(EDGES) if edge[1] == node]


def perceptron_shapes(name, inputs, outputs, layers, biased):
    middle = [int(inputs + (outputs - inputs) * (layer + 1) / layers) for layer in range(layers)]
    widths = [inputs] + middle
    shapes = {}
    for layer in range(layers):
        shapes[f"{name}.layers.{layer}.weight"] = (widths[layer], widths[layer + 1])
        if biased:
            shapes[f"{name}.layers.{layer}.bias"] = (widths[layer + 1],)
    return shapes


def perceptron(parameters, name, vector, layers, final=True):
    for layer in range(layers):
        vector = np.dot(vector, parameters[f"{name}.layers.{layer}.weight"])
        if f"{name}.layers.{layer}.bias" in parameters:
            vector = vector + parameters[f"{name}.layers.{layer}.bias"]
        if layer + 1 < layers or final:
            vector = np.where(vector > 0, vector, SLOPE * vector)
    return vector


def shapes_of(kind, outputs, biased):
    shapes = perceptron_shapes("network.embedding", NODE, HIDDEN, 2, biased)
    shapes |= perceptron_shapes("network.blocks.0.layer.message", NODE + HIDDEN + EDGE, HIDDEN, 2, biased)
    shapes |= perceptron_shapes("network.readout.edge", 2 * HIDDEN + EDGE, HIDDEN, 2, biased)
    if kind == "pointer":
        shapes |= perceptron_shapes("network.readout.own", HIDDEN, HIDDEN, 2, biased)
    return shapes | perceptron_shapes("network.head", HIDDEN, outputs, 1, biased)


def model(kind, parameters, nodes, edges):
    """One row per edge, or per choice of each node: its incoming edges in order, then the node itself."""
    states = [perceptron(parameters, "network.embedding", nodes[node], 2) for node in range(NODES)]
    for _ in range(STEPS):
        after = []
        for node in range(NODES):
            messages = []
            for number in incoming(node):
                sender = EDGES[number][0]
                row = np.concatenate([nodes[sender], states[sender], edges[number]])
                messages.append(perceptron(parameters, "network.blocks.0.layer.message", row, 2))
            # A node without incoming edges keeps its state.
            after.append(np.max(np.stack(messages + [states[node]]), axis=0))
        states = after

    def edge_row(number):
        sender, receiver = EDGES[number]
        row = np.concatenate([states[sender], states[receiver], edges[number]])
        return perceptron(parameters, "network.readout.edge", row, 2)

    if kind == "edge":
        rows = [edge_row(number) for number in range(len(EDGES))]
    else:
        rows = []
        for node in range(NODES):
            rows += [edge_row(number) for number in incoming(node)]
            rows.append(perceptron(parameters, "network.readout.own", states[node], 2))
    return np.stack([perceptron(parameters, "network.head", row, 1, final=False) for row in rows])


def loss_of(kind, outputs):
    if kind == "edge":
        probe = numpy.linspace(-1, 1, outputs.size).reshape(outputs.shape)
        return np.sum(outputs * probe)
    total, start = 0.0, 0
    for node in range(NODES):
        count = len(incoming(node)) + 1
        scores = outputs[start : start + count, 0]
        total = total - (scores[TARGETS[node]] - np.log(np.sum(np.exp(scores))))
        start += count
    return total / NODES


def plain(values):
    values = numpy.asarray(values)
    return {"shape": list(values.shape), "values": values.flatten().tolist()}


def main():
    random = numpy.random.default_rng(15)
    cases = []
    for kind, outputs in [("edge", 2), ("pointer", 1)]:
        for biased in [True, False]:
            shapes = shapes_of(kind, outputs, biased)
            parameters = {name: random.uniform(-0.7, 0.7, shape) for name, shape in shapes.items()}
            nodes, edges = random.uniform(-1, 1, (NODES, NODE)), random.uniform(-1, 1, (len(EDGES), EDGE))
            values = model(kind, parameters, nodes, edges)

            def loss(arguments):
                return loss_of(kind, model(kind, *arguments))

            gradients, of_nodes, of_edges = autograd.grad(loss)((parameters, nodes, edges))
            cases.append(
                {
                    "readout": kind,
                    "output_width": outputs,
                    "prior": "none" if biased else "full",
                    "nodes": plain(nodes),
                    "edges": plain(edges),
                    "parameters": {name: plain(value) for name, value in parameters.items()},
                    "output": plain(values),
                    "loss": float(loss((parameters, nodes, edges))),
                    "gradients": {name: plain(value) for name, value in gradients.items()},
                    "node_gradient": plain(of_nodes),
                    "edge_gradient": plain(of_edges),
                }
            )
    golden = {
        "made_with": f"numpy {numpy.__version__}, autograd {version('autograd')}",
        "graph_sizes": GRAPH_SIZES,
        "edge_list": EDGES,
        "hidden": HIDDEN,
        "steps": STEPS,
        "targets": TARGETS,
        "cases": cases,
    }
    Path(__file__).with_name("golden-heads.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
