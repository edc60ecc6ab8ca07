"""The estimators: the parts of scikit-learn's contract that make sense for graphs."""

import numpy as np
import pytest

import itergnn

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402

from itergnn.sklearn import IterGNNClassifier, IterGNNRegressor  # noqa: E402

SETTINGS = {"model": "iter-path", "hidden_width": 8, "epochs": 2, "max_iterations": 30}


def graphs(count: int) -> list:
    """Lines of three to seven nodes, each with its number of nodes as attribute."""
    drawn = [itergnn.generators.line(3 + place % 5) for place in range(count)]
    return [graph.with_attributes(x=np.full((len(graph), 1), float(len(graph)))) for graph in drawn]


def lengths(made: list) -> np.ndarray:
    return np.array([len(graph) - 1.0 for graph in made])


@pytest.mark.parametrize("estimator", [IterGNNRegressor, IterGNNClassifier])
def test_parameters_are_kept_and_cloned(estimator):
    made = estimator(**SETTINGS)
    assert clone(made).get_params() == made.get_params()
    assert made.set_params(epochs=7).get_params()["epochs"] == 7
    with pytest.raises(NotFittedError):
        made.predict(graphs(2))


def test_regression_has_the_shape_of_its_targets_and_is_repeatable():
    made, model = graphs(20), IterGNNRegressor(**SETTINGS)
    first = model.fit(made, lengths(made)).predict(made)
    assert first.shape == (20,) and np.isfinite(model.score(made, lengths(made)))
    np.testing.assert_array_equal(clone(model).fit(made, lengths(made)).predict(made), first)
    both = np.stack([lengths(made), -lengths(made)], axis=1)
    assert clone(model).fit(made, both).predict(made).shape == (20, 2)


def test_regression_learns():
    made = graphs(60)
    model = IterGNNRegressor("iter-path", hidden_width=8, epochs=60, learning_rate=5e-3, max_iterations=30)
    model.fit(made, lengths(made))
    assert model.score(made, lengths(made)) > 0.5


def test_classes_are_the_labels_given():
    made = graphs(30)
    labels = np.where(lengths(made) > 4, "long", "short")
    model = IterGNNClassifier(**SETTINGS).fit(made, labels)
    assert list(model.classes_) == ["long", "short"] and set(model.predict(made)) <= {"long", "short"}
    np.testing.assert_allclose(model.predict_proba(made).sum(axis=1), 1.0)
    assert 0 <= model.score(made, labels) <= 1


def test_searches_and_cross_validation_take_lists_of_graphs():
    made = graphs(12)
    scores = cross_val_score(IterGNNRegressor(**SETTINGS), made, lengths(made), cv=2)
    assert scores.shape == (2,)
    search = GridSearchCV(IterGNNRegressor(**SETTINGS), {"hidden_width": [4, 8]}, cv=2).fit(made, lengths(made))
    assert search.best_params_["hidden_width"] in (4, 8)


@pytest.mark.parametrize(
    ("made", "targets", "message"),
    [(graphs(3), [1.0], "3 graphs and 1 targets"), (graphs(1), [1.0], "at least two"), (graphs(1)[0], [1.0], "list of graphs")],
)
def test_what_cannot_be_fitted_is_a_value_error(made, targets, message):
    with pytest.raises(ValueError, match=message):
        IterGNNRegressor(**SETTINGS).fit(made, targets)
