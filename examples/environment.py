"""Runs 1,024 CartPole environments with random actions, prints the speed, and draws one environment.

    python examples/environment.py
"""

import time

import hothouse

ENVIRONMENTS = 1024
STEPS = 500

envs = hothouse.make_vec("CartPole-v1", num_envs=ENVIRONMENTS, autoreset_mode="SameStep", render_mode="rgb_array")
envs.reset(seed=1)
actions = [envs.action_space.sample() for _ in range(8)]
episodes = 0
began = time.perf_counter()
for step in range(STEPS):
    observations, rewards, terminated, truncated, info = envs.step(actions[step % len(actions)])
    episodes += int((terminated | truncated).sum())
seconds = time.perf_counter() - began

print(f"{ENVIRONMENTS * STEPS / seconds:,.0f} steps per second, {episodes} episodes ended")
print(f"picture of environment 0: {envs.picture(0).shape}")
