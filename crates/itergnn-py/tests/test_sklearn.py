"""The estimators: the parts of scikit-learn's contract that make sense for graphs."""

import numpy as np
import pytest

import itergnn

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.utils import estimator_checks  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

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


def of_rows(table: np.ndarray) -> list:
    """Two nodes that both have the numbers of a row."""
    pair = itergnn.generators.line(2).with_attributes(edge_attr=np.ones((2, 1)))
    return [pair.with_attributes(x=np.stack([row, row])) for row in table]


class OfTables:
    """Makes an estimator of graphs one of tables, which are what scikit-learn's checks have."""

    def fit(self, X, y):
        numeric = isinstance(self, IterGNNRegressor)
        X, y = validate_data(self, X, y, multi_output=numeric, y_numeric=numeric)
        return super().fit(of_rows(X), y)

    def _values(self, X):
        check_is_fitted(self, "model_")
        return super()._values(of_rows(validate_data(self, X, reset=False)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.no_validation = True, False
        # Networks of this size learn nothing in one epoch; learning has a test of its own.
        (tags.regressor_tags or tags.classifier_tags).poor_score = True
        return tags


class TableRegressor(OfTables, IterGNNRegressor):
    pass


class TableClassifier(OfTables, IterGNNClassifier):
    pass


@pytest.mark.parametrize("estimator", [TableRegressor, TableClassifier])
def test_scikit_learns_checks_of_estimators(estimator):
    made = estimator("iter-path", hidden_width=4, epochs=1, max_iterations=5)
    results = estimator_checks.check_estimator(made, on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    passed = [result for result in results if result["status"] == "passed"]
    assert failed == {} and len(passed) > 40


@pytest.mark.parametrize("estimator", [IterGNNRegressor, IterGNNClassifier])
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_valid_tag_types,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_mixin_order,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
    ],
    ids=lambda check: check.__name__,
)
def test_scikit_learns_checks_that_need_no_data(check, estimator):
    check(estimator.__name__, estimator())


@pytest.mark.parametrize(
    ("made", "targets", "message"),
    [(graphs(3), [1.0], "3 graphs and 1 targets"), (graphs(1), [1.0], "n_samples=1: at least two"), (graphs(1)[0], [1.0], "list of graphs")],
)
def test_what_cannot_be_fitted_is_a_value_error(made, targets, message):
    with pytest.raises(ValueError, match=message):
        IterGNNRegressor(**SETTINGS).fit(made, targets)
