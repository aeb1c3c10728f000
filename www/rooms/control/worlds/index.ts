// The worlds of the environments, by the environment's id. An environment that is not listed has the world `any`.

import type { Environment } from "../protocol";
import { acrobot } from "./acrobot";
import { any } from "./any";
import { cartPole } from "./cart_pole";
import { lunarLander } from "./lunar_lander";
import { mountainCar, mountainCarContinuous } from "./mountain_car";
import { pendulum } from "./pendulum";
import type { World } from "./world";

const worlds: Record<string, World> = {
  "CartPole-v1": cartPole,
  "MountainCar-v0": mountainCar,
  "MountainCarContinuous-v0": mountainCarContinuous,
  "Pendulum-v1": pendulum,
  "Acrobot-v1": acrobot,
  "LunarLander-v3": lunarLander,
};

export const worldOf = (environment: Environment): World => worlds[environment.id] ?? any(environment);
