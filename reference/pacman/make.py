"""Pacman maps with what networkx says about them: reachable dots, moves towards a nearest dot, corners of shortest paths.

python reference/pacman/make.py > reference/pacman/values.json
"""

import json
import random

import networkx as nx

SIDE = 16
MOVES = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


def draw(walls, dots, rng):
    blocked = set()
    for _ in range(walls):
        across = rng.random() < 0.5
        x, y = rng.randrange(SIDE - 2 if across else SIDE), rng.randrange(SIDE if across else SIDE - 2)
        blocked |= {(x + i, y) if across else (x, y + i) for i in range(3)}
    free = [(x, y) for y in range(SIDE) for x in range(SIDE) if (x, y) not in blocked]
    agent, *rest = rng.sample(free, dots + 1)
    return blocked, agent, rest


def rows(blocked, agent, dots):
    symbol = {**{cell: "#" for cell in blocked}, **{cell: "." for cell in dots}, agent: "@"}
    return ["".join(symbol.get((x, y), " ") for x in range(SIDE)) for y in range(SIDE)]


def corners(distance, dot):
    """Cells where the path from the dot back to the agent turns: straight on where that is shortest, else the first move that is."""
    found, cell, heading = [], dot, None
    while distance[cell] > 0:
        order = ([heading] if heading else []) + list(MOVES.values())
        step = next(m for m in order if distance.get((cell[0] + m[0], cell[1] + m[1])) == distance[cell] - 1)
        if heading and step != heading:
            found.append(cell)
        heading, cell = step, (cell[0] + step[0], cell[1] + step[1])
    return found


def describe(walls, dots, rng):
    blocked, agent, placed = draw(walls, dots, rng)
    maze = nx.grid_2d_graph(SIDE, SIDE)
    maze.remove_nodes_from(blocked)
    distance = nx.single_source_shortest_path_length(maze, agent)
    to_dot = nx.multi_source_dijkstra_path_length(maze, set(placed))
    after = {}
    for name, (dx, dy) in MOVES.items():
        to = (agent[0] + dx, agent[1] + dy)
        after[name] = to_dot.get(to) if to in maze else None
    best = min((value for value in after.values() if value is not None), default=None)
    turned = {corner for dot in placed if dot in distance for corner in corners(distance, dot)}
    return {
        "map": rows(blocked, agent, placed),
        "reachable": sum(dot in distance for dot in placed),
        "good": [name for name, value in after.items() if best is not None and value == best],
        "corners": sorted(turned),
    }


def main():
    rng = random.Random(20261115)
    settings = [(walls, dots) for walls in (0, 3, 8, 15, 40) for dots in (1, 5, 10, 20)] * 2
    print(json.dumps([describe(walls, dots, rng) for walls, dots in settings]))


if __name__ == "__main__":
    main()
