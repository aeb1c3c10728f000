// Texts of the control room that apply to every world.

import type { ChartWords } from "../../parts/curves";
import type { Environment } from "./protocol";

export const stage = {
  value: "Critic's value",
  total: "Return so far",
  best: "Best finished episode",
  action: "action",
};

export const charts: Record<string, ChartWords> = {
  return: { title: "Mean return", digits: 0 },
  policy_loss: { about: "clipped objective of PPO; stays near 0", span: [-0.01, 0.01] },
  value_loss: { about: "squared error of the critic; falls as it learns", span: [0, 1] },
  approx_kl: { about: "change of the policy in one update", span: [0, 0.02] },
};

/**
 * Returns the caption of the entropy chart, and the entropy of a uniform policy in nats. For continuous actions, this entropy is undefined.
 */
export function entropy(environment: Environment): { about: string; most: number | undefined } {
  const choices = environment.choices.length;
  if (choices === 0) return { about: "how widely the policy still explores", most: undefined };
  const most = Math.log(choices);
  return {
    about: `how random the policy is; ${most.toFixed(2)} is ${choices === 2 ? "a coin toss" : `uniform over ${choices}`}`,
    most,
  };
}
