// The words of the control room that hold for every world, and the equations for whoever wants them.

import type { ChartWords } from "../../parts/curves";
import type { Explanation } from "../../parts/room";
import type { Environment } from "./protocol";
import { minus } from "../../parts/format";
import type { World } from "./worlds/world";
import { equation } from "../../parts/equation";

export const stage = {
  value: "Critic expects",
  total: "Return so far",
  best: "Best finished episode",
  action: "action",
};

export const charts: Record<string, ChartWords> = {
  return: { title: "Mean return", digits: 0 },
  policy_loss: { about: "how much the update favours what went well; hovers about 0", span: [-0.01, 0.01] },
  value_loss: { about: "how far the critic is off; falls as it understands", span: [0, 1] },
  approx_kl: { about: "how far one update moved the policy", span: [0, 0.02] },
};

/** What the entropy of a policy that does not care would be, and how to say it. */
export function entropy(environment: Environment): { about: string; most: number | undefined } {
  const choices = environment.choices.length;
  if (choices === 0) return { about: "how widely the policy still tries", most: undefined };
  const most = Math.log(choices);
  return {
    about: `how undecided the policy is; ${most.toFixed(2)} is ${choices === 2 ? "a coin toss" : `an even choice of ${choices}`}`,
    most,
  };
}

/** Each a heading, plain words, and an equation with its source. */
export const explanations = (world: World, environment: Environment): Explanation[] => [
  world.explanation,
  {
    heading: "What is the return?",
    words:
      `The return of an episode is the sum of its rewards: ${world.returns}. The task counts as solved when 100 fresh episodes, in which ` +
      `the network only plays and does not learn, reach ${minus(String(environment.solved_at))} on average, and another 100 confirm it. ` +
      "Those tests are the circles on the chart. The curve is the mean of the last 100 episodes that ended in training. It lags behind " +
      "the circles: there the network still tries things out, and a long episode counts only when it ends. For learning, rewards far " +
      "ahead count a little less; the discount γ says how much.",
    equation:
      equation(
        "the return from step t is the sum over k of gamma to the k times the reward at t plus k plus 1",
        "G_t = ∑_{k ≥ 0} γ^k r_{t + k + 1}",
      ) +
      `<p>The chart shows it without discount (γ = 1). With γ = 0.99 a constant reward of 1 adds up to 100: the critic looks ` +
      `about a hundred steps ahead.</p>`,
  },
  {
    heading: "What is PPO?",
    words:
      `Proximal policy optimisation repeats two things. First all ${world.many} are played for a few steps and everything is written ` +
      "down. Then the network is nudged so that actions that turned out better than expected become likelier, and worse ones rarer. The " +
      "trick is in the word proximal: as soon as an action's probability has changed by more than the clip range ε, the nudge stops, so " +
      "that one lucky batch cannot turn the policy upside down.",
    equation:
      equation(
        "the clipped objective",
        "L^clip = 'E' (min (ρ_t hat A_t, ~ clip (ρ_t, 1 − ε, 1 + ε) hat A_t)), ~ ~ ρ_t = frac{π_θ (a_t | s_t)}{π_old (a_t | s_t)}",
      ) +
      `<p>Schulman, Wolski, Dhariwal, Radford and Klimov, <cite>Proximal policy optimization algorithms</cite> (2017). ε is the ` +
      `clip range.</p>`,
  },
  {
    heading: "Better than expected: the critic",
    words:
      `A second network, the critic, looks at a ${world.one} and estimates the reward still to come; the state plane shows its value of ` +
      "every state. Where the line of its estimate at the single environment dips, it sees trouble before anything has gone wrong. How " +
      "much better things went than the critic thought is the advantage, and that alone is what the policy learns from. The value loss " +
      "is the critic's own error, and is large whenever the policy has just become better than the critic believes.",
    summary: "The equations",
    equation:
      equation("the temporal difference", "δ_t = r_t + γ V (s_{t + 1}) − V (s_t)") +
      equation(
        "the advantage is the sum over k of gamma lambda to the k times delta at t plus k",
        "hat A_t = ∑_{k ≥ 0} (γ λ)^k δ_{t + k}",
      ) +
      equation("the value loss", "L^V = frac 1 2 'E' (V (s_t) − V_t^target)^2") +
      "<p>Schulman, Moritz, Levine, Jordan and Abbeel, <cite>High-dimensional continuous control using generalized advantage " +
      "estimation</cite> (2016). λ is GAE λ among the knobs: at 0 the critic's values decide alone, at 1 the rewards that " +
      "followed.</p>",
  },
  {
    heading: "Reading the small curves",
    words:
      "In reinforcement learning a loss is not a score. The policy loss compares the policy with itself a moment ago, so it starts " +
      "near 0 each time and a good run need not push it anywhere; the return is what tells whether it learns. " +
      `Entropy falls${environment.choices.length ? ` from ${entropy(environment).most!.toFixed(2)}` : ""} as the policy makes up its ` +
      "mind; if it falls at once, it stopped trying things too soon. The approximate KL divergence says how far each update went: around " +
      "0.01 is steady, ten times that is a lurch, and a sign to lower the learning rate.",
    summary: "The equations",
    equation:
      equation("entropy is minus the sum over actions of pi times log pi", "H = − ∑_a π (a | s) ~ ln ~ π (a | s)") +
      equation("the estimated divergence", "KL ≈ 'E' ((ρ_t − 1) − ln ~ ρ_t)"),
  },
];
