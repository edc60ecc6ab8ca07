"""Estimators with the interface of scikit-learn: `fit`, `predict`, `score` on lists of graphs.

    from itergnn.sklearn import IterGNNRegressor
    model = IterGNNRegressor(epochs=20).fit(graphs, lengths)
    model.score(larger_graphs, their_lengths)

Graphs may be of any library that `itergnn.graph` reads. `get_params`, `set_params`, `clone`, pipelines, grid searches
and cross-validation work as usual, since a list of graphs is indexed like any other list of samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets

from .convert import graphs
from .errors import InputError
from .model import Model
from .training import train

__all__ = ["IterGNNClassifier", "IterGNNRegressor"]


class _Estimator(BaseEstimator):
    def __init__(
        self,
        model: str = "iter-homo-path",
        hidden_width: int = 64,
        epochs: int = 20,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        validation_fraction: float = 0.1,
        max_iterations: int | None = 1000,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.hidden_width = hidden_width
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.max_iterations = max_iterations
        self.random_state = random_state

    def _fit(self, X: Any, targets: np.ndarray, **settings: Any) -> None:
        made = _checked(X)
        if len(made) != len(targets):
            raise InputError(f"{len(made)} graphs and {len(targets)} targets; expected as many of both")
        if not 0 < self.validation_fraction < 1:
            raise InputError(f"validation_fraction {self.validation_fraction}: expected a number between 0 and 1")
        if len(made) < 2:
            raise InputError(f"n_samples={len(made)}: at least two graphs are needed, one of them to validate")
        held_out = min(max(1, round(self.validation_fraction * len(made))), len(made) - 1)
        order = np.random.default_rng(self.random_state).permutation(len(made))
        pairs = [(made[place], targets[place]) for place in order]
        run = train(
            data=pairs[held_out:],
            validation_data=pairs[:held_out],
            model={"name": self.model, "hidden_width": self.hidden_width},
            epochs=self.epochs,
            batch_size=self.batch_size,
            optimiser={"learning_rate": self.learning_rate},
            seed=self.random_state,
            progress=False,
            **settings,
        )
        self.model_: Model = run.model
        self.metrics_ = run.records
        self.n_features_in_ = made[0].x.shape[1]

    def _values(self, X: Any) -> np.ndarray:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        answers = self.model_.predict(_checked(X), max_iterations=self.max_iterations)
        return np.array([answer.values[0] for answer in answers])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        tags.non_deterministic = False
        return tags


class IterGNNRegressor(RegressorMixin, _Estimator):
    """Numbers per graph. `y` is `[graphs]` or `[graphs, outputs]`; `score` is the coefficient of determination."""

    def fit(self, X: Any, y: Any) -> IterGNNRegressor:
        """Trains a network on graphs and their numbers; some are held out to choose the best epoch."""
        targets = np.asarray(y, dtype=np.float64)
        self._flat = targets.ndim == 1
        self._fit(X, targets[:, None] if self._flat else targets)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """The numbers of every graph, shaped like `y`."""
        values = self._values(X)
        return values[:, 0] if self._flat else values


class IterGNNClassifier(ClassifierMixin, _Estimator):
    """Classes of graphs. `score` is the accuracy; `classes_` has the labels in their order."""

    def fit(self, X: Any, y: Any) -> IterGNNClassifier:
        """Trains a network on graphs and their labels; some are held out to choose the best epoch."""
        check_classification_targets(y)
        self.classes_, numbers = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("y has one class; at least two are needed")
        self._fit(X, numbers[:, None], classes=len(self.classes_))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, `[graphs, classes]`."""
        values = self._values(X)
        weights = np.exp(values - values.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest label of every graph."""
        numbers = self._values(X).argmax(axis=1)
        return self.classes_[numbers]


def _checked(X: Any) -> list:
    made, single = graphs(X)
    if single:
        raise InputError("expected a list of graphs, found one; put it into a list")
    return made
