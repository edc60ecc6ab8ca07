"""The environment, by Gymnasium's own checker and by its rules."""

import pathlib
import warnings

import numpy as np
import pytest

import itergnn

gymnasium = pytest.importorskip("gymnasium")
import itergnn.gym  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402


MODELS = pathlib.Path(__file__).parents[3] / "models"


@pytest.mark.parametrize("observation", ["graph", "image", "both"])
def test_gymnasiums_checker_is_content(observation):
    environment = gymnasium.make("itergnn/Pacman-v0", dots=5, walls=4, size=8, observation=observation)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The checker has advice about image sizes and about graphs as inputs of policies, which is no fault.
        warnings.filterwarnings("ignore", message=".*(Box observation space|spec|render).*")
        check_env(environment.unwrapped, skip_render_check=True)


def test_a_seed_is_a_game_and_the_nearest_dot_player_eats_everything():
    environment = gymnasium.make("itergnn/Pacman-v0", dots=10, walls=8)
    first, _ = environment.reset(seed=3)
    again, info = environment.reset(seed=3)
    np.testing.assert_array_equal(first.nodes, again.nodes)
    total, over = 0.0, False
    while not over:
        action = environment.unwrapped.game.nearest_dot()
        _, reward, terminated, truncated, info = environment.step(action)
        total, over = total + reward, terminated or truncated
    assert terminated and info["success"] == 1.0 and total == info["reachable"]


def test_time_runs_out_without_calling_it_an_end():
    environment = gymnasium.make("itergnn/Pacman-v0", dots=1, walls=0, size=3).unwrapped
    environment.reset(seed=1)
    wall = next(action for action, way in enumerate(environment.game.feasible()) if not way) if not all(
        environment.game.feasible()
    ) else None
    moves = [wall] if wall is not None else [0, 1]
    for step in range(environment.game.step_limit):
        _, _, terminated, truncated, _ = environment.step(moves[step % len(moves)])
        if terminated:
            pytest.skip("the way to and fro had a dot")
    assert truncated and not terminated


def test_images_show_the_game():
    environment = gymnasium.make("itergnn/Pacman-v0", dots=4, walls=2, observation="both", render_mode="rgb_array")
    seen, _ = environment.reset(seed=5)
    walls, dots, agent = seen["image"]
    assert agent.sum() == 1 and dots.sum() == 4 and (walls * dots).sum() == 0
    assert environment.render().shape == (128, 128, 3)
    graph = itergnn.gym.from_instance(seen["graph"])
    assert graph.x[:, 2].sum() == 1 and graph.x[:, 3].sum() == 4


@pytest.mark.parametrize("observation", ["graph", "image"])
def test_vectorised(observation):
    environments = gymnasium.make_vec("itergnn/Pacman-v0", num_envs=3, vectorization_mode="sync", vector_kwargs=None,
                                      dots=3, walls=2, size=6, observation=observation)
    seen, _ = environments.reset(seed=1)
    assert len(seen) == 3
    for _ in range(40):
        seen, rewards, _, _, info = environments.step(environments.action_space.sample())
    assert rewards.shape == (3,) and info["success"].shape == (3,)


@pytest.mark.parametrize("settings", [{"dots": 99, "size": 5}, {"observation": "sound"}, {"size": 0}])
def test_bad_settings_are_value_errors(settings):
    with pytest.raises(ValueError):
        gymnasium.make("itergnn/Pacman-v0", **settings)


def test_an_action_that_does_not_exist_is_a_value_error():
    with pytest.raises(ValueError, match="action 7"):
        itergnn.Pacman().step(7)


def test_a_trained_network_is_a_policy():
    agent = itergnn.gym.Agent(str(MODELS / "pacman-iter.safetensors"))
    environment = gymnasium.make("itergnn/Pacman-v0", dots=5, walls=0, size=8)
    _, info = environment.reset(seed=1)
    assert agent(environment) == int(agent.values(environment).argmax()) and agent.values(environment).shape == (4,)
    for _ in range(40):
        _, _, terminated, _, info = environment.step(agent(environment))
        if terminated:
            break
    assert info["success"] >= 0.8
    several = gymnasium.make_vec("itergnn/Pacman-v0", num_envs=3, vectorization_mode="sync", dots=2, walls=1, size=5)
    several.reset(seed=1)
    moves = agent(several)
    assert moves.shape == (3,) and several.step(moves)[1].shape == (3,)


def test_a_model_of_another_task_is_no_player(run):
    with pytest.raises(ValueError, match="shortest-path, not to play pacman"):
        itergnn.gym.Agent(run.model)
