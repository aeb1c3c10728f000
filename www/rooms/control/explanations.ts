// Explanations of the control room, with equations and papers. The page loads them when the visitor opens their tab.

import { equation } from "../../parts/equation";
import { minus } from "../../parts/format";
import type { Explanation } from "../../parts/room";
import type { Environment } from "./protocol";
import { entropy } from "./text";
import { explanationOf } from "./worlds/explained";
import type { World } from "./worlds/world";

/** Returns the explanations for a world. */
export const explanations = (world: World, environment: Environment): Explanation[] => [
  explanationOf(environment),
  {
    heading: "What is the return?",
    words:
      `The return of an episode is the sum of its rewards: ${world.returns}. The circles on the chart are tests: 100 fresh episodes ` +
      `without learning. ${goal(environment)}` +
      "The curve is the mean of the last 100 training episodes. It lags behind the circles, because training explores and a long " +
      "episode counts only when it ends. Learning weights later rewards less, by the discount γ.",
    equation:
      equation(
        "the return from step t is the sum over k of gamma to the k times the reward at t plus k plus 1",
        "G_t = ∑_{k ≥ 0} γ^k r_{t + k + 1}",
      ) +
      `<p>The chart shows the return without discount (γ = 1). With γ = 0.99 a constant reward of 1 adds up to 100: the critic looks ` +
      `about a hundred steps ahead.</p>`,
  },
  {
    heading: "What is PPO?",
    words:
      `Proximal policy optimisation repeats two phases. First it plays all ${world.many} for a few steps and records them. Then it ` +
      "updates the network: actions that turned out better than expected become likelier, the others less likely. The update of an " +
      "action stops when its probability has changed by more than the clip range ε. So no single batch can change the policy much.",
    equation:
      equation(
        "the objective is the mean of the smaller of two products: the advantage times rho, and the advantage times rho clipped to one " +
          "plus or minus epsilon; rho is the new probability of the action divided by the old one",
        "L^clip = 'E' (min (ρ_t hat A_t, ~ clip (ρ_t, 1 − ε, 1 + ε) hat A_t)), ~ ~ ρ_t = frac{π_θ (a_t | s_t)}{π_old (a_t | s_t)}",
      ) +
      `<p>Schulman, Wolski, Dhariwal, Radford and Klimov, <cite>Proximal policy optimization algorithms</cite> (2017). ε is the ` +
      `clip range.</p>`,
  },
  {
    heading: "Better than expected: the critic",
    words:
      `A second network, the critic, sees the state of one ${world.one} and estimates the reward still to come. The state plane shows ` +
      "this value for every state. When the critic's curve at the single environment dips, it expects trouble ahead. The advantage is " +
      "how much better an action turned out than the critic expected; the policy learns from it alone. The value loss is the critic's " +
      "error. It is large when the policy has just improved.",
    summary: "The equations",
    equation:
      equation(
        "the temporal difference is the reward plus gamma times the value of the next state, minus the value of the state",
        "δ_t = r_t + γ V (s_{t + 1}) − V (s_t)",
      ) +
      equation(
        "the advantage is the sum over k of gamma lambda to the k times delta at t plus k",
        "hat A_t = ∑_{k ≥ 0} (γ λ)^k δ_{t + k}",
      ) +
      equation(
        "the value loss is half the mean squared difference of the value and its target",
        "L^V = frac 1 2 'E' (V (s_t) − V_t^target)^2",
      ) +
      "<p>Schulman, Moritz, Levine, Jordan and Abbeel, <cite>High-dimensional continuous control using generalized advantage " +
      "estimation</cite> (2016). λ is the knob GAE λ: at 0 the advantage rests on the critic's values, at 1 on the rewards that " +
      "followed.</p>",
  },
  {
    heading: "Reading the small curves",
    words:
      "In reinforcement learning a loss is not a score; watch the return instead. The policy loss compares the policy with itself before " +
      "the update, so it stays near 0. " +
      `Entropy falls${environment.choices.length ? ` from ${entropy(environment).most!.toFixed(2)}` : ""} as the policy becomes certain; ` +
      "if it falls at once, exploration ended too soon. The approximate KL divergence measures the size of each update: 0.01 is steady. " +
      "Ten times that is too much; lower the learning rate.",
    summary: "The equations",
    equation:
      equation("entropy is minus the sum over actions of pi times log pi", "H = − ∑_a π (a | s) ~ ln ~ π (a | s)") +
      equation("the divergence is about the mean of rho minus one, minus the logarithm of rho", "KL ≈ 'E' ((ρ_t − 1) − ln ~ ρ_t)"),
  },
];

/** Explains when the task is solved; empty for an environment without a goal. */
function goal({ solved_at }: Environment): string {
  if (solved_at === null) return "";
  return `The task is solved when a test averages ${minus(String(solved_at))} and a second test confirms it. `;
}
