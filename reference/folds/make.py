"""Stratified folds by scikit-learn, for labels made of a small formula and of the shape of the published sets."""

import json

import numpy
from sklearn.model_selection import StratifiedKFold


def labels(count, classes, skew):
    """Labels without any order, from a multiplicative sequence; `skew` above 1 makes class 0 rarer."""
    values = [(index * index * 7919 + index * 104729) % 1009 / 1009 for index in range(count)]
    return [int(classes * value ** (1 / skew)) for value in values]


def case(classes, folds, seed):
    split = StratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    tests = [sorted(int(sample) for sample in test) for _, test in split.split(numpy.zeros(len(classes)), classes)]
    return {"classes": classes, "folds": folds, "seed": seed, "tests": tests}


cases = [
    case(labels(188, 2, 2.0), 10, 0),  # as MUTAG
    case(labels(344, 2, 1.2), 10, 0),  # as PTC
    case(labels(1113, 2, 0.7), 10, 0),  # as PROTEINS
    case(labels(1500, 3, 1.0), 10, 0),  # as IMDB-M, in no order
    case([index // 500 for index in range(1500)], 10, 0),  # sorted by class
    case([1, 1, 0, 2, 0, 1, 2, 0, 1, 2, 2, 0], 3, 7),
    case(labels(50, 4, 1.0), 5, 1),
    case(labels(97, 3, 1.5), 7, 4_294_967_295),
]
print(json.dumps(cases, separators=(",", ":")))
