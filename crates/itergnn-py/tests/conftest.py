"""A small trained model that several tests use."""

import pytest

import itergnn

SMALL = {"name": "iter-homo-path", "hidden_width": 8}


@pytest.fixture(scope="session")
def run(tmp_path_factory) -> itergnn.Run:
    """A network of the paper that has seen a few graphs."""
    return itergnn.train(
        task="shortest-path",
        size=(4, 10),
        model=SMALL,
        epochs=2,
        samples=64,
        validation=16,
        out=tmp_path_factory.mktemp("run") / "small",
        progress=False,
    )
