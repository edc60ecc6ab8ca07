"""Labels and the success of post-processed walks for image navigation, by networkx and a plain reading of the paper.

Writes one JSON object to stdout: maps of random heights with two marked cells, the shortest length over free cells, a table of predicted distances to the target
for every cell (exact ones, exact ones with noise, or ones that ignore obstacles) and what the walk by that table comes to.
"""

import json
import math

import networkx as nx
import numpy as np

rng = np.random.default_rng(6)
BLOCKED_ABOVE = np.float32(0.8)


def short(value):
    """The shortest decimal that a 32-bit float is read back from."""
    return float(str(value))


def grid(side, heights, obstacles):
    """The graph of the cells, without those that cannot be entered if `obstacles`."""
    graph = nx.grid_2d_graph(side, side)
    if obstacles:
        graph.remove_nodes_from([cell for cell in list(graph) if heights[cell] > BLOCKED_ABOVE])
    return graph


def walk(side, table, source, target):
    """The paper's algorithm: from p go to the neighbour l with table[l] + 1 <= table[p] that minimises the difference.

    Ties go to the smaller table[l], then to the smaller number; a cell is not entered twice. Returns None where no neighbour qualifies.
    """
    number = lambda cell: cell[0] * side + cell[1]
    distance = lambda cell: 0.0 if cell == target else float(table[number(cell)])
    path = [source]
    while path[-1] != target:
        row, column = here = path[-1]
        around = [(row + a, column + b) for a, b in ((0, 1), (0, -1), (1, 0), (-1, 0))]
        around = [cell for cell in around if 0 <= cell[0] < side and 0 <= cell[1] < side and cell not in path]
        slack = 2 * 2.0**-23 * abs(distance(here))
        fits = [cell for cell in around if distance(cell) + 1 <= distance(here) + slack]
        if not fits:
            return None
        path.append(min(fits, key=lambda cell: (abs(distance(cell) + 1 - distance(here)), distance(cell), number(cell))))
    return path


def case(side, kind):
    while True:
        heights = rng.random((side, side), dtype=np.float32)
        free = [tuple(int(x) for x in cell) for cell in np.argwhere(heights <= BLOCKED_ABOVE)]
        if len(free) < 2:
            continue
        source, target = (free[index] for index in rng.choice(len(free), 2, replace=False))
        graph = grid(side, heights, True)
        if nx.has_path(graph, source, target):
            break
    label = nx.shortest_path_length(graph, source, target)
    known = nx.single_source_shortest_path_length(grid(side, heights, kind != "ignorant"), target)
    cells = [(row, column) for row in range(side) for column in range(side)]
    table = [float(known.get(cell, math.inf)) for cell in cells]
    if kind == "noisy":
        # Stretched, so that the inequality mostly holds in spite of the noise.
        table = [short(np.float32(1.15 * value + rng.normal(0, 0.08))) for value in table]
    path = walk(side, table, source, target)
    free = path is not None and all(heights[cell] <= BLOCKED_ABOVE for cell in path)
    success = free and len(path) - 1 == label
    return {
        "side": side,
        "heights": [short(height) for height in heights.ravel()],
        "source": source[0] * side + source[1],
        "target": target[0] * side + target[1],
        "label": label,
        "kind": kind,
        "table": [value if math.isfinite(value) else None for value in table],
        "walk": None if path is None else [row * side + column for row, column in path],
        "success": bool(success),
    }


cases = [case(side, kind) for side in (4, 9, 16) for kind in ("exact", "noisy", "ignorant") for _ in range(4)]
print(json.dumps({"networkx": nx.__version__, "numpy": np.__version__, "cases": cases}))
