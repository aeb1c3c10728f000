"""Loads the policy from a checkpoint of the control room and plays 100 episodes.

    hothouse train control --until-solved --save run.safetensors
    python examples/policy.py run.safetensors
"""

import sys

import numpy as np

import hothouse

EPISODES = 100

run = hothouse.Run.restore(sys.argv[1])
policy = run.policy()
envs = hothouse.make_vec(run.variant, num_envs=EPISODES, autoreset_mode="SameStep")
observations, _ = envs.reset(seed=1)
returns = np.zeros(EPISODES)
first = np.ones(EPISODES, bool)  # True for environments in their first episode
while first.any():
    observations, rewards, terminated, truncated, _ = envs.step(policy(observations))
    returns += np.where(first, rewards, 0)
    first &= ~(terminated | truncated)

print(f"{run.variant}, seed {run.seed}, iteration {run.progress['iteration']}: mean return {returns.mean():.1f} of {EPISODES} episodes")
