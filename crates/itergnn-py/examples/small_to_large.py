"""Train small, solve large: shortest paths learned on graphs of at most 33 nodes, asked of graphs of hundreds.

    python small_to_large.py --out result.png

Draws the relative error over the size of the graphs, and a path that the network found in a graph far larger than any
it has seen.
"""

import argparse

import matplotlib
import networkx

import itergnn

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", default="small_to_large.png", help="the picture")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50, 100, 200, 500])
    parser.add_argument("--count", type=int, default=50, help="test graphs per size")
    given = parser.parse_args()

    run = itergnn.train(
        task="shortest-path",
        generator="lobster",
        size=(4, 34),
        weights=(0.5, 1.5),
        model="iter-homo-path",
        epochs=given.epochs,
        samples=given.samples,
        validation=max(given.samples // 10, 1),
    )
    print(run.metrics[["epoch", "train_loss", "validation_relative_loss"]].to_string(index=False))

    errors = []
    for size in given.sizes:
        report = itergnn.evaluate(run.model, size=size, count=given.count, max_iterations=4 * size)
        errors.append(report["relative_loss"])
        print(f"size {size}: relative error {errors[-1]:.4f}, {report['iterations']['mean']:.0f} iterations")

    # A NetworkX graph with names, ten times as large as anything the network has seen.
    town = networkx.Graph()
    lobster = itergnn.generators.lobster(max(given.sizes), seed=1)
    town.add_edges_from((f"corner {sender}", f"corner {receiver}") for sender, receiver in lobster.edge_index.T)
    start, end = "corner 0", f"corner {max(given.sizes) // 2}"
    found, exact = run.model.solve(town, start, end), itergnn.exact.shortest_path(town, start, end)
    walked = "no path" if found.path is None else f"a path of length {found.length}"
    print(f"{start} to {end}: {walked}, predicted {found.predicted_length:.1f}, shortest {exact.length}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    left.plot(given.sizes, errors, marker="o")
    left.axvspan(4, 34, alpha=0.2, label="sizes of training")
    left.set(xscale="log", xlabel="size", ylabel="relative error", title="shortest path length")
    left.legend()
    steps = run.model.trace(lobster_sample(), max_iterations=60, channels=[0])[0]
    right.plot(steps.steps, steps.confidence, label="confidence")
    right.plot(steps.steps, steps.remaining, label="probability left")
    right.set(xlabel="iteration", title="when the network stops")
    right.legend()
    figure.tight_layout()
    figure.savefig(given.out)
    print(f"picture: {given.out}")


def lobster_sample() -> itergnn.Sample:
    return itergnn.sample("shortest-path", 1, size=20, weights=(0.5, 1.5), split="test")[0]


if __name__ == "__main__":
    main()
