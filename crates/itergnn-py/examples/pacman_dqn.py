"""Pacman in Gymnasium, and an agent in the style of CleanRL that learns it: one file, a small network, Q-learning.

    python pacman_dqn.py --steps 20000

The network is two layers of NumPy on the image observation, so that the file shows the whole agent and needs nothing
else; with PyTorch the same loop takes any network.
"""

import argparse
from collections import deque

import gymnasium
import numpy as np

import itergnn.gym  # noqa: F401  (registers the environment)


class Network:
    """A layer of rectified units and a linear one, with Adam."""

    def __init__(self, inputs: int, hidden: int, outputs: int, rate: float, random: np.random.Generator) -> None:
        scale = lambda rows, columns: random.normal(0, np.sqrt(2 / rows), (rows, columns))  # noqa: E731
        self.weights = [scale(inputs, hidden), np.zeros(hidden), scale(hidden, outputs) * 0.1, np.zeros(outputs)]
        self.rate, self.step = rate, 0
        self.first = [np.zeros_like(weight) for weight in self.weights]
        self.second = [np.zeros_like(weight) for weight in self.weights]

    def values(self, seen: np.ndarray) -> np.ndarray:
        inner, inner_bias, outer, outer_bias = self.weights
        return np.maximum(seen @ inner + inner_bias, 0) @ outer + outer_bias

    def learn(self, seen: np.ndarray, actions: np.ndarray, targets: np.ndarray) -> float:
        inner, inner_bias, outer, outer_bias = self.weights
        hidden = np.maximum(seen @ inner + inner_bias, 0)
        values = hidden @ outer + outer_bias
        error = values[np.arange(len(actions)), actions] - targets
        slope = np.zeros_like(values)
        slope[np.arange(len(actions)), actions] = 2 * error / len(actions)
        back = (slope @ outer.T) * (hidden > 0)
        gradients = [seen.T @ back, back.sum(0), hidden.T @ slope, slope.sum(0)]
        self.step += 1
        for weight, gradient, first, second in zip(self.weights, gradients, self.first, self.second, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            corrected = first / (1 - 0.9**self.step)
            weight -= self.rate * corrected / (np.sqrt(second / (1 - 0.999**self.step)) + 1e-8)
        return float((error**2).mean())


def play(environment: gymnasium.Env, network: Network | None, episodes: int, seed: int) -> float:
    """Mean share of the dots eaten within as many moves as the map has cells."""
    random, eaten = np.random.default_rng(seed), []
    for episode in range(episodes):
        seen, info = environment.reset(seed=seed + episode)
        for _ in range(environment.observation_space.shape[1] ** 2):
            free = np.flatnonzero(info["feasible"])
            if network is None or random.random() < 0.05:
                action = random.choice(free)
            else:
                values = network.values(seen.reshape(1, -1))[0]
                action = free[np.argmax(values[free])]
            seen, _, terminated, truncated, info = environment.step(action)
            if terminated or truncated:
                break
        eaten.append(info["success"])
    return float(np.mean(eaten))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--size", type=int, default=5)
    parser.add_argument("--dots", type=int, default=3)
    parser.add_argument("--walls", type=int, default=0)
    parser.add_argument("--games", type=int, default=8, help="games played side by side")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    settings = {"dots": given.dots, "walls": given.walls, "size": given.size, "observation": "image"}
    random = np.random.default_rng(given.seed)
    games = gymnasium.make_vec("itergnn/Pacman-v0", num_envs=given.games, vectorization_mode="sync", **settings)
    network = Network(3 * given.size**2, 128, 4, 1e-3, random)
    memory: deque = deque(maxlen=20_000)

    seen, _ = games.reset(seed=given.seed)
    seen = seen.reshape(given.games, -1)
    for step in range(given.steps // given.games):
        explore = max(0.05, 1 - 2 * step * given.games / given.steps)
        actions = network.values(seen).argmax(1)
        actions = np.where(random.random(given.games) < explore, random.integers(0, 4, given.games), actions)
        after, rewards, terminated, _, _ = games.step(actions)
        after = after.reshape(given.games, -1)
        memory.extend(zip(seen, actions, rewards, after, terminated, strict=True))
        seen = after
        if len(memory) >= 500:
            batch = [memory[place] for place in random.integers(0, len(memory), 64)]
            states, moves, gains, later, over = (np.stack(part) for part in zip(*batch, strict=True))
            targets = gains + 0.9 * network.values(later).max(1) * ~over
            network.learn(states, moves, targets)
    judge = gymnasium.make("itergnn/Pacman-v0", **settings)
    print(f"random moves eat {play(judge, None, 50, 10_000):.0%} of the dots, the trained agent {play(judge, network, 50, 10_000):.0%}")


if __name__ == "__main__":
    main()
