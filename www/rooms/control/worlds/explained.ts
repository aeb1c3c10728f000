// The explanation of each environment: what the picture shows, how the rewards are defined, and the physics.

import { equation } from "../../../parts/equation";
import type { Explanation } from "../../../parts/room";
import type { Environment } from "../protocol";

const physics = (throttle: string, power: string, about: string): string =>
  equation("the speed grows by the throttle and shrinks or grows with the slope", `v_{t + 1} = v_t + ${power} ~ a − 0.0025 ~ cos 3 x_t`) +
  `<p>${throttle} Speed is limited to ±0.07 per step, and the left end of the road stops the car. ${about}</p>`;
const SOURCE = "As in Moore, <cite>Efficient memory-based learning for robot control</cite> (1990), and Gymnasium's";

const worlds: Record<string, Explanation> = {
  "CartPole-v1": {
    heading: "What am I seeing?",
    words:
      "Each stick is a pole on a cart; one network steers them all. Fifty times a second it pushes each cart left or right with the " +
      "same force. An episode ends when the pole leans more than 12 degrees, when the cart leaves its track, or after 500 steps (ten " +
      "seconds). At first the pushes are random and the poles fall at once. The only feedback is a reward of 1 for each step upright. " +
      "Experience from every pole trains the same network.",
    summary: "The physics",
    equation:
      equation(
        "angular acceleration of the pole",
        "ddot θ = frac{g ~ sin θ − cos θ ~ frac{F + m_p ℓ dot θ^2 sin θ}{m_c + m_p}}{ℓ (frac 4 3 − frac{m_p cos^2 θ}{m_c + m_p})}",
      ) +
      equation("acceleration of the cart", "ddot x = frac{F + m_p ℓ (dot θ^2 sin θ − ddot θ ~ cos θ)}{m_c + m_p}") +
      "<p>The force <i>F</i> is 10 N to the left or right. The cart weighs 1 kg, the pole 0.1 kg; its half-length ℓ is 0.5 m. A step " +
      "lasts 0.02 s. As in Barto, Sutton and Anderson, <cite>Neuronlike adaptive elements that can solve difficult learning control " +
      "problems</cite> (1983), and Gymnasium's CartPole-v1.</p>",
  },
  "MountainCar-v0": {
    heading: "What am I seeing?",
    words:
      "Each stroke is a car in the same valley, drawn in lanes; the band below the road shows their density. A car drives back, coasts, " +
      "or drives forward, and its motor is weaker than the slope. Each step costs 1 until the flag is reached; 200 steps end the " +
      "episode. The task is hard because at first hardly any car reaches the flag, so good and bad actions get the same reward. Colour " +
      "shows the car's energy relative to the energy that the flag requires.",
    summary: "The physics",
    equation: physics("The throttle a is −1, 0 or 1.", "0.001", `${SOURCE} MountainCar-v0.`),
  },
  "MountainCarContinuous-v0": {
    heading: "What am I seeing?",
    words:
      "Each stroke is a car in the same valley, drawn in lanes; the band below the road shows their density. The throttle is a number " +
      "from −1 to 1. The flag is worth 100, and each step costs a tenth of the throttle squared; 999 steps end the episode. Before a car " +
      "reaches the flag by chance, the network learns only that throttle costs, and may stop using it. Colour shows the car's energy " +
      "relative to the energy that the flag requires.",
    summary: "The physics",
    equation: physics("The throttle a is a number from −1 to 1.", "0.0015", `${SOURCE} MountainCarContinuous-v0.`),
  },
  "Pendulum-v1": {
    heading: "What am I seeing?",
    words:
      "On the left all rods share one pivot; on the right each is drawn alone. Twenty times a second the network sets a torque from −2 " +
      "to 2 N·m. This is too little to lift a hanging rod, so it has to swing first and brake in time. Each step costs by the angle from " +
      "upright, the speed and the torque. An episode has 200 steps and begins anywhere on the circle. At first the fan is full; as the " +
      "network learns, it folds into one line.",
    summary: "The physics",
    equation:
      equation("angular acceleration of the rod", "ddot θ = frac{3 g}{2 ℓ} sin θ + frac 3 {m ℓ^2} u") +
      equation(
        "the reward is minus the sum of the squared angle, 0.1 times the squared speed and 0.001 times the squared torque",
        "r = − {θ^2 + 0.1 ~ dot θ^2 + 0.001 ~ u^2}",
      ) +
      "<p>The rod is ℓ = 1 m long and weighs 1 kg, <i>g</i> is 10 m/s², a step lasts 0.05 s, and the speed is limited to 8 rad/s. As " +
      "in Gymnasium's Pendulum-v1.</p>",
  },
  "Acrobot-v1": {
    heading: "What am I seeing?",
    words:
      "On the left all acrobots hang from one bar; on the right each is drawn alone. An acrobot has two links of equal length and one " +
      "motor between them. Five times in a simulated second the network turns the motor one way, the other way, or leaves it idle. Each " +
      "step costs 1 until the tip is one link above the bar. Like a child on a swing, the acrobot has to bend in time with its swinging.",
    summary: "The goal and the physics",
    equation:
      equation(
        "the goal: minus the cosine of theta 1, minus the cosine of theta 1 plus theta 2, is greater than 1",
        "− cos θ_1 − cos (θ_1 + θ_2) > 1",
      ) +
      "<p>Each link is 1 m long and weighs 1 kg, with its mass in the middle. The torque is −1, 0 or 1 N·m. A step of 0.2 s is one " +
      "fourth-order Runge–Kutta step. As in Sutton, <cite>Generalization in reinforcement learning: successful examples using sparse " +
      "coarse coding</cite> (1996), with the equations of Sutton and Barto's book, and Gymnasium's Acrobot-v1.</p>",
  },
  "LunarLander-v3": {
    heading: "What am I seeing?",
    words:
      "Each small craft is a lander in training, drawn with a faint trail over one of a few equal pads. A cross marks a crash, a ring a " +
      "landing. Fifty times a second the network fires the left, main or right engine, or none. At first most landers tumble. Then they " +
      "learn to hover, because a crash costs more than fuel. Only later do they learn to land. Each lander has its own hills around the " +
      "pad; they are drawn for the single lander only.",
    summary: "The reward",
    equation:
      equation(
        "the potential is minus 100 times the distance to the pad, minus 100 times the speed, minus 100 times the angle, plus 10 for " +
          "each leg on the ground",
        "Φ = − 100 (x^2 + y^2)^½ − 100 ({v^2}_x + {v^2}_y)^½ − 100 {|θ|} + 10 {l + r}",
      ) +
      "<p>The reward of a step is the increase of Φ, minus 0.3 for the main engine or 0.03 for a side engine. The reward of the last " +
      "step is −100 instead after a crash or beyond the left or right edge, and 100 at rest on the ground. As in Gymnasium's " +
      "LunarLander-v3.</p>",
  },
};

/** Returns the explanation of an environment that `worlds` does not list. */
const any = ({ observation }: Environment): Explanation => ({
  heading: "What am I seeing?",
  words: `Each line is one environment. Its points from left to right are the numbers that the network sees: ${observation.join(", ")}.`,
});

export const explanationOf = (environment: Environment): Explanation => worlds[environment.id] ?? any(environment);
