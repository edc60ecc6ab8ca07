"""Loss, gradient, running statistics and scores of small GIN and Iter-GIN classifiers, by PyTorch in double precision.

Graphs are dense adjacency matrices, normalisation is torch.nn.functional.batch_norm, gradients are automatic, and there
is no dropout. Parameters are one flat vector, in the order embedding, blocks (first map, its scale and shift, second
map, its scale and shift, confidence), votes; weights are [inputs, outputs] before biases.
"""

import json

import torch
from torch.nn.functional import batch_norm, cross_entropy

torch.set_default_dtype(torch.float64)
NODE, HIDDEN, CLASSES, BLOCKS = 3, 4, 3, 2

# Edges into every node of every graph: a ring with a chord, a line, an edge one way, a star.
GRAPHS = [
    [[1, 4], [0, 2], [1, 3, 4], [2, 4], [3, 0, 2]],
    [[1], [0, 2], [1]],
    [[], [0]],
    [[1, 2, 3], [0], [0], [0]],
]
LABELS = [2, 0, 1, 0]


class Flat:
    """Hands out pieces of a flat vector in order."""

    def __init__(self, values):
        self.values, self.place = values, 0

    def take(self, *shape):
        count = 1
        for extent in shape:
            count *= extent
        piece = self.values[self.place : self.place + count].reshape(shape)
        self.place += count
        return piece

    def affine(self, inputs, outputs):
        return self.take(inputs, outputs), self.take(outputs)


def adjacency(graphs):
    sizes = [len(graph) for graph in graphs]
    matrix = torch.zeros(sum(sizes), sum(sizes))
    start = 0
    for graph in graphs:
        for receiver, senders in enumerate(graph):
            for sender in senders:
                matrix[start + receiver, start + sender] += 1
        start += len(graph)
    return matrix, sizes


def layer(maps, running, training, matrix, states, step):
    state = states + matrix @ states
    for ((weight, bias), scale, shift), statistics in zip(maps, running):
        mean, variance = statistics[step]
        state = state @ weight + bias
        state = torch.relu(batch_norm(state, mean, variance, scale, shift, training, 0.1, 1e-5))
    return state


def iterate(maps, confidence, running, training, states, module):
    """The iterative module; graphs that are done leave."""
    weight, bias = confidence
    active = list(range(len(GRAPHS)))
    state = list(torch.split(states, [len(graph) for graph in GRAPHS]))
    output = [torch.zeros_like(rows) for rows in state]
    remaining = [torch.ones(()) for _ in GRAPHS]
    steps = [0] * len(GRAPHS)
    for step in range(module["most_steps"]):
        matrix, sizes = adjacency([GRAPHS[graph] for graph in active])
        rows = layer(maps, running, training, matrix, torch.cat([state[graph] for graph in active]), step)
        for graph, own in zip(list(active), torch.split(rows, sizes)):
            chance = torch.sigmoid(own.max(0).values @ weight[:, 0] + bias[0])
            output[graph] = module["decay"] * output[graph] + remaining[graph] * chance * own
            remaining[graph] = module["decay"] * (1 - chance) * remaining[graph]
            state[graph] = own
            steps[graph] += 1
            if remaining[graph].item() <= module["epsilon"]:
                active.remove(graph)
        if not active:
            break
    return torch.cat(output), steps


def steps_of(module):
    """Running statistics are kept for every step of the iterative module apart."""
    return module["most_steps"] if module else 1


def scores(parameters, statistics, features, pooling, module, training):
    flat, running_values = Flat(parameters), Flat(statistics)
    embedding = flat.affine(NODE, HIDDEN) if module else None
    blocks = []
    for block in range(BLOCKS):
        maps, running = [], []
        for number in range(2):
            inputs = NODE if block == 0 and number == 0 and not module else HIDDEN
            maps.append((flat.affine(inputs, HIDDEN), flat.take(HIDDEN), flat.take(HIDDEN)))
            running.append([(running_values.take(HIDDEN), running_values.take(HIDDEN)) for _ in range(steps_of(module))])
        blocks.append((maps, running, flat.affine(HIDDEN, 1) if module else None))
    votes = [flat.affine(NODE if layer_number == 0 else HIDDEN, CLASSES) for layer_number in range(BLOCKS + 1)]
    assert flat.place == len(parameters) and running_values.place == len(statistics)

    states = torch.relu(features @ embedding[0] + embedding[1]) if module else features
    layers, steps = [features], [0] * len(GRAPHS)
    matrix, sizes = adjacency(GRAPHS)
    for maps, running, confidence in blocks:
        if module:
            states, used = iterate(maps, confidence, running, training, states, module)
        else:
            states, used = layer(maps, running, training, matrix, states, 0), [1] * len(GRAPHS)
        layers.append(states)
        steps = [before + now for before, now in zip(steps, used)]
    total = torch.zeros(len(GRAPHS), CLASSES)
    for rows, (weight, bias) in zip(layers, votes):
        parts = torch.split(rows, sizes)
        pooled = torch.stack([part.sum(0) if pooling == "sum" else part.mean(0) for part in parts])
        total = total + pooled @ weight + bias
    return total, steps


def count(module):
    maps = lambda inputs: inputs * HIDDEN + HIDDEN + 2 * HIDDEN
    first = HIDDEN if module else NODE
    blocks = maps(first) + (2 * BLOCKS - 1) * maps(HIDDEN) + (BLOCKS * (HIDDEN + 1) if module else 0)
    votes = (NODE + 1) * CLASSES + BLOCKS * (HIDDEN + 1) * CLASSES
    return (NODE * HIDDEN + HIDDEN if module else 0) + blocks + votes


def case(pooling, module, seed):
    torch.manual_seed(seed)
    parameters = (torch.rand(count(module)) * 2 - 1).requires_grad_()
    statistics = torch.rand(BLOCKS * 4 * HIDDEN * steps_of(module)) + 0.5
    features = torch.rand(sum(len(graph) for graph in GRAPHS), NODE)
    given = {
        "pooling": pooling,
        "iteration": module,
        "parameters": parameters.tolist(),
        "statistics": statistics.tolist(),
        "features": features.flatten().tolist(),
    }
    total, steps = scores(parameters, statistics, features, pooling, module, True)
    loss = cross_entropy(total, torch.tensor(LABELS))
    loss.backward()
    # batch_norm has moved the statistics in place.
    inferred, _ = scores(parameters, statistics, features, pooling, module, False)
    found = {
        "loss": loss.item(),
        "gradient": parameters.grad.tolist(),
        "statistics_after": statistics.tolist(),
        "steps": steps,
        "scores_after": inferred.detach().flatten().tolist(),
    }
    return {**given, **found}


def main():
    node_offsets, edge_offsets, senders = [0], [0], []
    for graph in GRAPHS:
        base = node_offsets[-1]
        for incoming in graph:
            senders += [base + sender for sender in incoming]
            edge_offsets.append(len(senders))
        node_offsets.append(base + len(graph))
    cases = [
        case("sum", None, 1),
        case("mean", None, 2),
        case("sum", {"most_steps": 10, "epsilon": 1e-7, "decay": 0.9999}, 3),
        case("mean", {"most_steps": 10, "epsilon": 0.1, "decay": 0.95}, 4),
    ]
    assert len(set(cases[3]["steps"])) > 1, "graphs should leave at different steps"
    print(json.dumps({
        "node_width": NODE, "hidden_width": HIDDEN, "classes": CLASSES, "blocks": BLOCKS, "torch": torch.__version__,
        "node_offsets": node_offsets, "edge_offsets": edge_offsets, "senders": senders, "labels": LABELS, "cases": cases,
    }))


main()
