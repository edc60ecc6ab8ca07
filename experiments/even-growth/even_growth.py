"""Trains an Iter-Homo-Path-settle network of unweighted lobsters further, so that its states grow evenly.

    python experiments/even-growth/even_growth.py MODEL.safetensors OUT.safetensors --steps 800 --price 1

The step of a trained network multiplies large states by a number near one, not by one, and its stop has only seen
some twenty iterations. Both can be seen without labels and without large graphs: where source and target are in two
parts of a graph, the waves never meet, so the loop must not stop, and whatever counts the iterations must go on
counting evenly. Of every batch of 32 graphs of sizes [4, 34), 24 are samples of the task, with the loss that
`itergnn train` has for this network (squared error, mass left at 30 iterations to the last step, .3 x that mass).
8 have their pair apart and run for --iterations; they pay for

- uneven growth: the squared second difference of the pooled state, and of the prediction, over the squared first
  difference, both over two iterations, because waves go to and fro in a tree;
- confidence: softplus(logit + 8) / 8.

The network, its file and its meaning stay as they were. Needs torch and safetensors (requirements.txt).
"""

import argparse
import json
import math
import random
import struct
import time

import torch
from safetensors.torch import load_file
from torch.nn.functional import leaky_relu, softplus

PAIRS_TOGETHER, PAIRS_APART = 24, 8
TRAINING_CAP = 30
SETTLE = 0.3
# Iterations before the growth is looked at: the waves have reached every node by then.
SETTLED = 16
HIDDEN = "network.blocks.0.layer.message.layers"


def lobster(rng, size):
    """Nodes and edges of a lobster whose line has `size` nodes."""
    edges, nodes, first = [(i, i + 1) for i in range(size - 1)], size, []
    for _ in range(sum(rng.random() < 0.2 for _ in range(size))):
        edges.append((rng.randrange(size), nodes))
        first.append(nodes)
        nodes += 1
    for _ in range(sum(rng.random() < 0.2 for _ in range(len(first)))):
        edges.append((rng.choice(first), nodes))
        nodes += 1
    return nodes, edges


def distance(nodes, edges, source, target):
    neighbours = [[] for _ in range(nodes)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    distances, queue = {source: 0}, [source]
    for node in queue:
        for other in neighbours[node]:
            if other not in distances:
                distances[other] = distances[node] + 1
                queue.append(other)
    return distances[target]


def draw(rng, apart):
    """Nodes, edges, source, target and distance, which is 0 for a pair apart."""
    size = rng.randrange(4, 34)
    if not apart:
        nodes, edges = lobster(rng, size)
        source, target = rng.sample(range(nodes), 2)
        return nodes, edges, source, target, float(distance(nodes, edges, source, target))
    cut = rng.randrange(2, size - 1)
    (left, edges), (right, others) = lobster(rng, cut), lobster(rng, size - cut)
    source, target = rng.randrange(left), left + rng.randrange(right)
    if rng.random() < 0.5:
        source, target = target, source
    return left + right, edges + [(a + left, b + left) for a, b in others], source, target, 0.0


def join(graphs):
    """Attributes and padded neighbours of all nodes, padded nodes of each graph, and the distances."""
    attributes, neighbours, rows = [], [], []
    most = max(nodes for nodes, *_ in graphs)
    for nodes, edges, source, target, _ in graphs:
        first = len(attributes)
        own = [[] for _ in range(nodes)]
        for a, b in edges:
            own[a].append(first + b)
            own[b].append(first + a)
        for node in range(nodes):
            attributes.append([node == source, node == target, node not in (source, target)])
        neighbours += own
        rows.append(list(range(first, first + nodes)) + [first] * (most - nodes))
    most = max(map(len, neighbours))
    padded = [some + [some[0]] * (most - len(some)) for some in neighbours]
    labels = [label for *_, label in graphs]
    return torch.tensor(attributes, dtype=torch.float32), torch.tensor(padded), torch.tensor(rows), torch.tensor(labels)


class Network:
    """path-sim with maximum on unit weights, bias-free, as the model file has it."""

    def __init__(self, path):
        self.tensors = {name: tensor.clone().requires_grad_() for name, tensor in load_file(path).items()}
        names = ["blocks.0.confidence.linear", "embedding.layers.0", "embedding.layers.1", "head.layers.0"]
        self.confidence, *self.embedding, self.head = (self.tensors[f"network.{name}.weight"] for name in names)
        self.first, self.second = (self.tensors[f"{HIDDEN}.{layer}.weight"] for layer in (0, 1))

    def states(self, attributes, neighbours, rows, iterations):
        """The states of all nodes and the pooled ones of all graphs, iteration by iteration."""
        state = leaky_relu(leaky_relu(attributes @ self.embedding[0]) @ self.embedding[1])
        # What attributes and unit weights add to the first layer of a message is the same in every iteration.
        constant = attributes @ self.first[:3] + self.first[67]
        states, pooled = [], []
        for _ in range(iterations):
            message = leaky_relu(leaky_relu(constant + state @ self.first[3:67]) @ self.second)
            state = torch.maximum(state, message[neighbours].amax(1))
            states.append(state)
            pooled.append(state[rows].amax(1))
        return states, pooled

    def predict(self, states, pooled, rows):
        """Predictions, and the mass that was left at the cap."""
        left, sum_of_states, mass = torch.ones(len(rows)), 0, 0
        for step in range(TRAINING_CAP):
            confidence = torch.sigmoid((pooled[step] @ self.confidence).squeeze(1))
            weight, after = left * confidence, left * (1 - confidence)
            if step == TRAINING_CAP - 1:
                weight = weight + after
            sum_of_states = sum_of_states + weight[:, None, None] * states[step][rows]
            mass, left = mass + weight, after
        mean = sum_of_states / mass[:, None, None]
        return (mean.amax(1) @ self.head).squeeze(1), left


def unevenness(values, floor):
    """How much a growth over two iterations differs from the one two iterations earlier, squared and relative."""
    growth = (values[2:] - values[:-2])[SETTLED:]
    change = (growth[2:] - growth[:-2]).pow(2).sum(-1)
    return (change / (growth[:-2].pow(2).sum(-1) + floor)).mean()


def save(source, target, network, settings):
    """The file of the source with other numbers, and a line about them in its card."""
    raw = open(source, "rb").read()
    length = struct.unpack("<Q", raw[:8])[0]
    header, body = json.loads(raw[8 : 8 + length]), bytearray(raw[8 + length :])
    for name, tensor in network.tensors.items():
        begin, end = header[name]["data_offsets"]
        body[begin:end] = tensor.detach().numpy().astype("<f4").tobytes()
    about = json.loads(header["__metadata__"]["itergnn"])
    about["card"]["training"].setdefault("even_growth", []).append(settings)
    header["__metadata__"]["itergnn"] = json.dumps(about, separators=(",", ":"))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(target, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(body))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="trained by `itergnn train shortest-path --model iter-homo-path-settle`")
    parser.add_argument("out", help="where the network goes")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--price", type=float, default=1.0, help="of uneven growth")
    parser.add_argument("--stop-price", type=float, default=0.1, help="of confidence where a pair is apart")
    parser.add_argument("--learning-rate", type=float, default=3e-4, help="at first; a cosine leads to 0")
    parser.add_argument("--iterations", type=int, default=50, help="of pairs apart")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    rng = random.Random(arguments.seed)
    network = Network(arguments.model)
    parameters = list(network.tensors.values())
    optimiser = torch.optim.Adam(parameters, lr=arguments.learning_rate, eps=1e-5)
    started = time.time()
    for step in range(arguments.steps):
        factor = 0.5 * (1 + math.cos(math.pi * step / arguments.steps)) * min(1, (step + 1) / 50)
        optimiser.param_groups[0]["lr"] = arguments.learning_rate * factor
        count = PAIRS_TOGETHER + PAIRS_APART
        graphs = [draw(rng, apart=index >= PAIRS_TOGETHER) for index in range(count)]
        attributes, neighbours, rows, labels = join(graphs)
        states, pooled = network.states(attributes, neighbours, rows, arguments.iterations)
        predictions, left = network.predict(states, pooled, rows)
        together = labels > 0
        error = (predictions - labels)[together].pow(2).mean()
        mass = left[together].mean()
        apart = torch.stack([some[~together] for some in pooled])
        logits = (apart @ network.confidence).squeeze(-1)
        confident = softplus(logits + 8).mean() / 8
        growth = unevenness(apart, 1e-6)
        growth_of_prediction = unevenness(apart @ network.head, 1e-4)
        price = arguments.price * (growth + growth_of_prediction) + arguments.stop_price * confident
        optimiser.zero_grad()
        (error + SETTLE * mass + price).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        if step % 50 == 0 or step == arguments.steps - 1:
            print(
                f"step {step}, {time.time() - started:.0f} s: squared error {error:.2e}, mass left {mass:.1e}, "
                f"unevenness {growth:.2e} and {growth_of_prediction:.2e}, confidence {confident:.2e}",
                flush=True,
            )
    settings = {name: value for name, value in vars(arguments).items() if name not in ("model", "out", "threads")}
    save(arguments.model, arguments.out, network, settings)


if __name__ == "__main__":
    main()
