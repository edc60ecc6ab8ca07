"""Tour lengths by LKH (through elkai), for the exact travelling salesman solver.

Writes one JSON object to stdout. Distances are fixed-point: the Euclidean distance times SCALE, rounded half up. LKH is a heuristic, but at
these sizes, with RUNS restarts, it is not known to miss the optimum; the solver under test must match it exactly.
"""

import json
import math

import elkai
import numpy as np

SCALE = 100.0
RUNS = 20
rng = np.random.default_rng(34)


def instances():
    """Uniform points of the task's kind, then awkward ones: duplicates, ties on a small grid, clusters, a line, a ring."""
    for size in [4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 31, 32, 33, 40, 50, 60, 80]:
        yield f"uniform {size}", rng.integers(1, 1001, (size, 2))
    yield "duplicates", np.repeat(rng.integers(1, 1001, (9, 2)), 3, axis=0)
    yield "ties 6x6", rng.integers(1, 7, (25, 2))
    yield "ties 10x10", rng.integers(1, 11, (40, 2))
    yield "odd grid", np.array([(x, y) for x in range(5) for y in range(5)])
    yield "clusters", np.concatenate([rng.integers(0, 40, (10, 2)) + rng.integers(0, 1000, 2) for _ in range(4)])
    yield "line", np.column_stack([rng.permutation(20) * 13, np.full(20, 7)])
    angles = rng.permutation(30) * 2 * np.pi / 30
    yield "ring", np.column_stack([500 + 400 * np.cos(angles), 500 + 400 * np.sin(angles)]).round().astype(int)
    yield "two lines", np.array([(10 * i, 300 * (i % 2)) for i in range(36)])


def distance(p, q):
    dx, dy = float(p[0] - q[0]), float(p[1] - q[1])
    return math.floor(math.sqrt(dx * dx + dy * dy) * SCALE + 0.5)


cases = []
for name, points in instances():
    points = [(int(x), int(y)) for x, y in points]
    matrix = [[distance(p, q) for q in points] for p in points]
    tour = elkai.DistanceMatrix(matrix).solve_tsp(runs=RUNS)
    assert sorted(tour[:-1]) == list(range(len(points))) and tour[0] == tour[-1], name
    cases.append({"name": name, "points": points, "length": sum(matrix[a][b] for a, b in zip(tour, tour[1:]))})

print('{"scale": %s, "cases": [' % SCALE)
print(",\n".join(json.dumps(case) for case in cases))
print("]}")
