"""Other learners on these environments: the loop of single-file PPO scripts, and Stable-Baselines3."""

import gymnasium
import numpy as np
import pytest

import hothouse


class Network:
    """Two layers of tanh and a linear head, with Adam."""

    def __init__(self, rng, sizes, gain):
        self.layers = []
        for i, (inp, out) in enumerate(zip(sizes, sizes[1:])):
            scale = gain if i == len(sizes) - 2 else 2**0.5
            basis = np.linalg.qr(rng.normal(size=(max(inp, out), min(inp, out))))[0]
            weights = basis if basis.shape == (inp, out) else basis.T
            self.layers += [scale * weights, np.zeros(out)]
        self.first = [np.zeros_like(x) for x in self.layers]
        self.second = [np.zeros_like(x) for x in self.layers]
        self.updates = 0

    def forward(self, x):
        self.kept = [x]
        for i in range(0, len(self.layers), 2):
            x = x @ self.layers[i] + self.layers[i + 1]
            if i < len(self.layers) - 2:
                x = np.tanh(x)
            self.kept.append(x)
        return x

    def backward(self, slope, lr):
        gradients = [None] * len(self.layers)
        for i in reversed(range(0, len(self.layers), 2)):
            gradients[i] = self.kept[i // 2].T @ slope
            gradients[i + 1] = slope.sum(0)
            if i:
                slope = (slope @ self.layers[i].T) * (1 - self.kept[i // 2] ** 2)
        length = sum((g**2).sum() for g in gradients) ** 0.5
        self.updates += 1
        for x, g, m, v in zip(self.layers, gradients, self.first, self.second):
            g = g * min(1.0, 0.5 / (length + 1e-6))
            m += 0.1 * (g - m)
            v += 0.001 * (g**2 - v)
            x -= lr * (m / (1 - 0.9**self.updates)) / (np.sqrt(v / (1 - 0.999**self.updates)) + 1e-5)


def odds_of(logits):
    odds = np.exp(logits - logits.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True)


def learn(envs):
    """Rollouts of 128 steps in 8 environments, GAE, four epochs of four minibatches: the mean episode length grows to over 100."""
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    rng = np.random.default_rng(1)
    actor = Network(rng, [4, 64, 64, 2], 0.01)
    critic = Network(rng, [4, 64, 64, 1], 1.0)
    steps, count, gamma, smooth, clip = 128, 8, 0.99, 0.95, 0.2
    observations = np.zeros((steps, count, 4))
    actions, logs, rewards, dones, values = (np.zeros((steps, count)) for _ in range(5))
    lengths = []
    shown, _ = envs.reset(seed=1)
    done = np.zeros(count)
    iterations = 40
    for iteration in range(iterations):
        lr = 2.5e-3 * (1 - iteration / iterations)
        for t in range(steps):
            observations[t], dones[t] = shown, done
            odds = odds_of(actor.forward(observations[t]))
            action = (rng.random(count) > odds[:, 0]).astype(np.int64)
            actions[t], logs[t] = action, np.log(odds[np.arange(count), action])
            values[t] = critic.forward(observations[t])[:, 0]
            shown, rewards[t], terminated, truncated, info = envs.step(action)
            done = np.logical_or(terminated, truncated).astype(float)
            if "episode" in info:
                lengths.extend(info["episode"]["l"][info["_episode"]])
        advantages, last, value = np.zeros_like(rewards), 0.0, critic.forward(np.asarray(shown, float))[:, 0]
        for t in reversed(range(steps)):
            going = 1 - (done if t == steps - 1 else dones[t + 1])
            after = value if t == steps - 1 else values[t + 1]
            last = rewards[t] + gamma * after * going - values[t] + gamma * smooth * going * last
            advantages[t] = last
        returns = (advantages + values).reshape(-1)
        flat = [x.reshape(-1, *x.shape[2:]) for x in (observations, actions.astype(int), logs, advantages)]
        for _ in range(4):
            for part in np.split(rng.permutation(steps * count), 4):
                x, a, old, gain = (one[part] for one in flat)
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                odds = odds_of(actor.forward(x))
                rows = np.arange(len(part))
                ratio = np.exp(np.log(odds[rows, a]) - old)
                moved = np.where(gain > 0, ratio < 1 + clip, ratio > 1 - clip)
                slope = odds * (gain * ratio * moved)[:, None]
                slope[rows, a] -= gain * ratio * moved
                entropy = -(odds * np.log(odds)).sum(1, keepdims=True)
                slope += 0.01 * odds * (np.log(odds) + entropy)
                actor.backward(slope / len(part), lr)
                error = critic.forward(x)[:, 0] - returns[part]
                critic.backward(0.5 * error[:, None] / len(part), lr)
    # Random actions last about 22 steps.
    assert np.mean(lengths[:50]) < 40
    assert np.mean(lengths[-30:]) > 100


def test_a_ppo_script_learns():
    learn(hothouse.make_vec("CartPole-v1", num_envs=8))


@pytest.mark.all("test_gymnasium_make_vec_returns_our_environments")
def test_a_ppo_script_learns_in_environments_of_gymnasium():
    learn(gymnasium.make_vec("hothouse/CartPole-v1", num_envs=8))


def test_stable_baselines3_learns():
    stable_baselines3 = pytest.importorskip("stable_baselines3", reason="npm test -- --only learners installs Stable-Baselines3")
    from hothouse.sb3 import VecEnv

    envs = VecEnv("CartPole-v1", 8)
    model = stable_baselines3.PPO("MlpPolicy", envs, n_steps=128, seed=1, device="cpu")
    model.learn(40_000)
    from stable_baselines3.common.evaluation import evaluate_policy

    mean, _ = evaluate_policy(model, VecEnv("CartPole-v1", 8), n_eval_episodes=16, warn=False)
    assert mean > 100
