"""Symbolic Pacman as a Gymnasium environment.

    import gymnasium, itergnn.gym
    environment = gymnasium.make("itergnn/Pacman-v0", dots=10, walls=8)

Rules: the agent moves left, right, up or down in a maze; a move into a wall does nothing; every dot is worth 1. The
episode terminates when all reachable dots are eaten and is truncated after size * size * (dots + 1) moves.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from ._core import Graph, Pacman, Player
from .errors import InputError
from .model import Model, load

__all__ = ["Agent", "PacmanEnv", "from_instance", "instance", "register"]

ID = "itergnn/Pacman-v0"
NODE_WIDTH = 5
CHANNELS = 3


class PacmanEnv(gymnasium.Env):
    """The game as an environment.

    Observations, by `observation`:

    - `"graph"`: a `GraphInstance`, the complete graph of agent, dots and landmarks (the corners of shortest paths to
      the dots). Nodes: position seen from the agent, then one-hot (agent, dot, landmark); edges: the Manhattan
      distance.
    - `"image"`: `[3, size, size]`, zeros and ones: walls, dots, agent.
    - `"both"`: a dictionary with `graph` and `image`.

    `info` has `eaten`, `reachable`, `success` (their ratio, the paper's metric) and `feasible`, the moves that lead
    somewhere.

    >>> import gymnasium, itergnn.gym
    >>> environment = gymnasium.make("itergnn/Pacman-v0", dots=10, walls=8, observation="image")
    >>> image, info = environment.reset(seed=7)
    >>> image.shape, info["eaten"]
    ((3, 16, 16), 0)
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 10}

    def __init__(
        self,
        dots: int = 10,
        walls: int = 8,
        size: int = 16,
        wall_length: int = 3,
        observation: str = "graph",
        render_mode: str | None = None,
    ) -> None:
        if observation not in ("graph", "image", "both"):
            raise InputError(f"observation {observation!r}: expected graph, image or both")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise InputError(f"render_mode {render_mode!r}: expected ansi or rgb_array")
        self._settings = {"dots": dots, "walls": walls, "size": size, "wall_length": wall_length}
        self._observation = observation
        self.render_mode = render_mode
        self.game = Pacman(**self._settings)
        self.action_space = spaces.Discrete(4)
        seen = {
            "graph": spaces.Graph(
                node_space=spaces.Box(-float(size), float(size), (NODE_WIDTH,), np.float32),
                edge_space=spaces.Box(0.0, 2.0 * size, (1,), np.float32),
            ),
            "image": spaces.Box(0.0, 1.0, (CHANNELS, size, size), np.float32),
        }
        self.observation_space = spaces.Dict(seen) if observation == "both" else seen[observation]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins a new game. Games in which no dot can be reached are passed over, as in training."""
        super().reset(seed=seed)
        while True:
            self.game.reset(int(self.np_random.integers(2**63)))
            if not self.game.over:
                return self._see(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Makes a move."""
        reward = self.game.step(int(action))
        terminated = self.game.eaten == self.game.reachable
        return self._see(), float(reward), terminated, self.game.over and not terminated, self._info()

    def render(self) -> Any:
        """The maze as text, or as an RGB image."""
        if self.render_mode == "ansi":
            return str(self.game)
        if self.render_mode == "rgb_array":
            walls, dots, agent = self.game.image()
            picture = np.full((*walls.shape, 3), 255, dtype=np.uint8)
            for mask, colour in ((walls, (40, 40, 60)), (dots, (220, 120, 0)), (agent, (30, 110, 220))):
                picture[mask > 0] = colour
            return picture.repeat(8, axis=0).repeat(8, axis=1)
        return None

    def _see(self) -> Any:
        if self._observation == "image":
            return self.game.image()
        if self._observation == "graph":
            return instance(self.game.graph())
        return {"graph": instance(self.game.graph()), "image": self.game.image()}

    def _info(self) -> dict[str, Any]:
        eaten, reachable = self.game.eaten, self.game.reachable
        feasible = np.array(self.game.feasible(), dtype=bool)
        return {"eaten": eaten, "reachable": reachable, "success": eaten / reachable, "feasible": feasible}


class Agent:
    """A trained network as a policy: `agent(environment)` is the move with the largest value.

    `model` is a `Model`, a file or a run directory of a network trained on pacman. With `symmetries` values are
    averaged over the eight rotations and reflections of the game, for eight times the work.
    """

    def __init__(self, model: Model | str, *, symmetries: bool = False) -> None:
        found = model if isinstance(model, Model) else load(model)
        self._player = Player(found._inner, symmetries)

    def values(self, environment: Any) -> np.ndarray:
        """The values of the four moves: `[4]` for an environment, `[games, 4]` for a vector of them."""
        games, single = _games(environment)
        values = self._player.values(games)
        return values[0] if single else values

    def __call__(self, environment: Any) -> Any:
        """The move for an environment (or a game), or an array of moves for a vector environment."""
        values = self.values(environment)
        return int(values.argmax()) if values.ndim == 1 else values.argmax(axis=1)


def _games(environment: Any) -> tuple[list[Pacman], bool]:
    if isinstance(environment, Pacman):
        return [environment], True
    inner = environment.unwrapped
    if hasattr(inner, "envs"):
        return [one.unwrapped.game for one in inner.envs], False
    return [inner.game], True


def instance(graph: Graph) -> spaces.GraphInstance:
    """A graph as Gymnasium has it: nodes, edges and `edge_links` `[edges, 2]`."""
    return spaces.GraphInstance(
        nodes=graph.x, edges=graph.edge_attr, edge_links=np.ascontiguousarray(graph.edge_index.T)
    )


def from_instance(observation: spaces.GraphInstance) -> Graph:
    """The graph of an observation."""
    index = np.ascontiguousarray(observation.edge_links.T.astype(np.int64))
    return Graph(len(observation.nodes), index, observation.edges, observation.nodes)


def register() -> None:
    """Makes `gymnasium.make` know the environment; importing this module does it."""
    if ID not in gymnasium.registry:
        gymnasium.register(id=ID, entry_point="itergnn.gym:PacmanEnv")


register()
