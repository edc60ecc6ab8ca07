"""Widest paths on road networks: draws and labels them, and reads answers. Standard library only.

The width of a path is that of its narrowest road; between two places the widest path is wanted (a heavy load, a cable,
a flow). The program knows nothing of it: it learns from the labels written here.
"""

import csv
import heapq
import json
import random
import sys


def roads(side, rng):
    """A town: a grid of streets, every tenth missing, with widths in metres; connected or drawn again."""
    while True:
        edges = [
            (y * side + x, (y + dy) * side + x + dx, round(rng.uniform(2, 12), 1))
            for y in range(side)
            for x in range(side)
            for dx, dy in ((1, 0), (0, 1))
            if x + dx < side and y + dy < side and rng.random() < 0.9
        ]
        if all(width > 0 for width in widest(side * side, edges, 0)):
            return edges


def widest(nodes, edges, source):
    """The width of the widest path from the source to every node; 0 where there is none."""
    ways = [[] for _ in range(nodes)]
    for a, b, width in edges:
        ways[a].append((b, width))
        ways[b].append((a, width))
    best = [0.0] * nodes
    best[source] = max((width for _, _, width in edges), default=0.0)
    heap = [(-best[source], source)]
    while heap:
        width, node = heapq.heappop(heap)
        for other, road in ways[node]:
            if min(-width, road) > best[other]:
                best[other] = min(-width, road)
                heapq.heappush(heap, (-best[other], other))
    return best


def shortest(nodes, edges, source, target):
    """A path with the fewest roads, or None."""
    ways = [[] for _ in range(nodes)]
    for a, b, _ in edges:
        ways[a].append(b)
        ways[b].append(a)
    came, queue = {source: None}, [source]
    for node in queue:
        for other in ways[node]:
            if other not in came:
                came[other] = node
                queue.append(other)
    if target not in came:
        return None
    path = [target]
    while came[path[-1]] is not None:
        path.append(came[path[-1]])
    return path[::-1]


def sample(nodes, edges, source, target=None):
    """A line for itergnn: the source is marked by the widest road's width, every road is there in both directions."""
    mark = max(width for _, _, width in edges)
    line = {
        "node_attributes": [[mark if node == source else 0.0] for node in range(nodes)],
        "edges": [[a, b] for a, b, _ in edges] + [[b, a] for a, b, _ in edges],
        "edge_attributes": [[width] for _, _, width in edges] * 2,
    }
    return json.dumps(line if target is None else {**line, "target": target})


def read(file):
    """Names and roads of a CSV file with the columns from, to, width."""
    with open(file, newline="") as lines:
        rows = [(row["from"], row["to"], float(row["width"])) for row in csv.DictReader(lines)]
    names = sorted({name for a, b, _ in rows for name in (a, b)})
    number = {name: index for index, name in enumerate(names)}
    return names, number, [(number[a], number[b], width) for a, b, width in rows]


def main():
    command, *rest = sys.argv[1:]
    if command == "draw":  # draw COUNT SMALLEST LARGEST SEED: labelled towns of so many streets per side
        count, smallest, largest, seed = map(int, rest)
        rng = random.Random(seed)
        for _ in range(count):
            side = rng.randint(smallest, largest)
            edges = roads(side, rng)
            source = rng.randrange(side * side)
            print(sample(side * side, edges, source, widest(side * side, edges, source)))
    elif command == "city":  # city SIDE SEED: one town as CSV, with names
        side, seed = map(int, rest)
        writer = csv.writer(sys.stdout)
        writer.writerow(["from", "to", "width"])
        name = lambda node: f"corner-{node % side}-{node // side}"
        writer.writerows((name(a), name(b), width) for a, b, width in roads(side, random.Random(seed)))
    elif command == "ask":  # ask CITY.csv FROM: the city as a line for itergnn
        names, number, edges = read(rest[0])
        print(sample(len(names), edges, number[rest[1]]))
    elif command == "way":  # way CITY.csv FROM TO PREDICTION.jsonl: a path of the width that was predicted
        names, number, edges = read(rest[0])
        source, target = number[rest[1]], number[rest[2]]
        with open(rest[3]) as lines:
            width = json.loads(next(lines))["prediction"][target][0]
        print(f"predicted width {width:.2f}")
        path = None
        while path is None:  # if there is no such path, a little narrower
            path = shortest(len(names), [edge for edge in edges if edge[2] >= width], source, target)
            width *= 1.0 if path else 0.95
        print(" ".join(names[node] for node in path))
        roads_taken = [max(w for a, b, w in edges if {a, b} == {u, v}) for u, v in zip(path, path[1:])]
        print(f"width {min(roads_taken)}, the widest there is {widest(len(names), edges, source)[target]}")


if __name__ == "__main__":
    main()
