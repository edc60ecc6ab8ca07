"""Generators and samples."""

import json

import numpy as np
import pytest

import itergnn
from itergnn import generators

NAMES = ["er", "knn", "planar", "lobster", "tree", "regular"]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_graph(name):
    draw = getattr(generators, name)
    assert draw(20, seed=3) == draw(20, seed=3)
    assert draw(20, seed=3) != draw(20, seed=4)
    several = draw(20, seed=3, count=4)
    assert several[0] == draw(20, seed=3) and several[:2] == draw(20, seed=3, count=2)


def test_regular_shapes():
    assert generators.grid(4).num_nodes == 16
    assert generators.cycle(5).num_edges == generators.line(6).num_edges == 10
    assert generators.complete(5).num_edges == 20
    degrees = np.bincount(generators.regular(10, 4, seed=1).edge_index[0])
    assert (degrees == 4).all()


def test_what_cannot_be_drawn_is_a_value_error():
    with pytest.raises(ValueError, match="regular"):
        generators.regular(3, 7)
    with pytest.raises(ValueError, match="unknown 'lobsters'"):
        itergnn._core.generate("lobsters", 3, 1, 0)
    with pytest.raises(ValueError, match="no setting 'q'"):
        itergnn._core.generate("er", 3, 1, 0, q=2)


def test_labels_are_the_exact_solvers():
    for sample in itergnn.sample("shortest-path", 20, size=(4, 34), weights=(0.5, 1.5)):
        fields = sample.fields
        path = itergnn.exact.shortest_path(sample.graph, fields["source"], fields["target_node"])
        assert sample.target[0, 0] == pytest.approx(path.length, rel=1e-6)
        assert 4 <= sample.size < 34


def test_samples_know_their_task_and_their_json_form():
    sample = itergnn.sample("newton-balls", 1, size=6)[0]
    assert (sample.task, sample.size, sample.target.shape, len(sample.target_nodes)) == ("newton-balls", 6, (2, 2), 2)
    line = json.loads(sample.to_json())
    assert line["edges"] == sample.graph.edge_index.T.tolist()
    assert itergnn.sample("pacman", 1, dots=3, walls=0, size=8)[0].fields["reachable_dots"] == 3
    assert itergnn.sample("tsp", 1, size=7, split="test")[0].graph.num_nodes == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "shortest-paths"}, "shortest-path"),
        ({"task": "tsp", "generator": "er"}, "generator"),
        ({"task": "shortest-path", "size": (9, 3)}, "size '9..3'"),
        ({"task": "shortest-path", "split": "dev"}, "train, validation or test"),
    ],
)
def test_bad_settings_are_value_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        itergnn.sample(**arguments)
