// The words of the control room: what a newcomer sees, and the equations for whoever wants them.

import { equation, frac, gap, i, n, o, over, paren, row, sub, subsup, sum, sup, w } from "../../parts/equation";

export const title = "Poles that learn to stand";

export const forest = {
  title: "Some of the poles that train",
  legend: ["just begun", "½ s", "2 s", "5 s and more upright"],
};

export const stage = {
  title: "One pole to push",
  invite: "Drag the cart or the pole, or use the arrow keys. Training goes on.",
  help:
    "The policy as it is now balances this pole in real time. Left and right arrow keys push the cart, with Shift the tip of the pole.",
  pushRight: "Policy: push right",
  value: "Critic: still to come",
  upright: "Upright for",
};

export const charts = {
  mean_return: "steps upright; circles: fresh tests",
  policy_loss: "how much the update favours what went well; hovers about 0",
  value_loss: "how far the critic is off; falls as it understands",
  entropy: "how undecided the policy is; 0.69 is a coin toss",
  approx_kl: "how far one update moved the policy",
};

/** Each a heading, plain words, and an equation with its source. */
export type Explanation = { heading: string; words: string; equation: { summary: string; markup: string }[] };

const theta = i("θ");
const ddTheta = over(theta, "¨");
const dTheta = over(theta, "˙");
const ratio = sub(i("ρ"), i("t"));
const advantage = sub(over(i("A"), "^"), i("t"));
const state = (t: string): string => sub(i("s"), t);
const next = row(i("t"), o("+"), n("1"));

export const explanations: Explanation[] = [
  {
    heading: "What am I seeing?",
    words:
      "Every stroke is a pole on a cart. Fifty times a second a small neural network pushes each cart left or right, always with the same force. " +
      "A pole that leans more than 12 degrees, or a cart that leaves its track, ends the episode and starts anew; after 500 steps, ten seconds, it is done. " +
      "At first the network pushes at random and all poles fall at once. Nobody shows it how: it only learns that each step upright is worth 1. " +
      "All the poles share one network, so what any of them lives through teaches all.",
    equation: [
      {
        summary: "The physics",
        markup:
          equation(
            "angular acceleration of the pole",
            ddTheta,
            o("="),
            frac(
              row(i("g"), gap, w("sin"), theta, o("−"), w("cos"), theta, gap, frac(row(i("F"), o("+"), sub(i("m"), i("p")), i("ℓ"), sup(dTheta, n("2")), w("sin"), theta), row(sub(i("m"), i("c")), o("+"), sub(i("m"), i("p"))))),
              row(i("ℓ"), paren(frac(n("4"), n("3")), o("−"), frac(row(sub(i("m"), i("p")), sup(w("cos"), n("2")), theta), row(sub(i("m"), i("c")), o("+"), sub(i("m"), i("p")))))),
            ),
          ) +
          equation(
            "acceleration of the cart",
            over(i("x"), "¨"),
            o("="),
            frac(
              row(i("F"), o("+"), sub(i("m"), i("p")), i("ℓ"), paren(sup(dTheta, n("2")), w("sin"), theta, o("−"), ddTheta, gap, w("cos"), theta)),
              row(sub(i("m"), i("c")), o("+"), sub(i("m"), i("p"))),
            ),
          ) +
          "<p>Force <i>F</i> is 10 N to the left or right, the cart weighs 1 kg, the pole 0.1 kg with half-length ℓ = 0.5 m, and a step lasts 0.02 s. " +
          "As in Barto, Sutton and Anderson, <cite>Neuronlike adaptive elements that can solve difficult learning control problems</cite> (1983), and Gymnasium's CartPole-v1.</p>",
      },
    ],
  },
  {
    heading: "What is the return?",
    words:
      "The return of an episode is the sum of its rewards: here, simply the number of steps the pole stayed up, 500 at most. " +
      "The task counts as solved when 100 fresh episodes, in which the network only plays and does not learn, reach 475 on average. Those tests are the circles on the chart. " +
      "The curve is the mean of the last 100 episodes that ended in training. It lags behind the circles: there the network still tries things out, and a pole that will stand for ten seconds has not ended yet. " +
      "For learning, rewards far ahead count a little less; the knob “Patience” says how much.",
    equation: [
      {
        summary: "The equation",
        markup:
          equation(
            "the return from step t is the sum over k of gamma to the k times the reward at t plus k plus 1",
            sub(i("G"), i("t")),
            o("="),
            sum(row(i("k"), o("≥"), n("0"))),
            sup(i("γ"), i("k")),
            sub(i("r"), row(i("t"), o("+"), i("k"), o("+"), n("1"))),
          ) + "<p>The chart shows it without discount (γ = 1). A constant reward of 1 with γ = 0.99 adds up to 100: that is what a calm critic comes to expect.</p>",
      },
    ],
  },
  {
    heading: "What is PPO?",
    words:
      "Proximal policy optimisation repeats two things. First all poles are played for a few steps and everything is written down. " +
      "Then the network is nudged so that actions that turned out better than expected become likelier, and worse ones rarer. " +
      "The trick is in the word proximal: as soon as an action's odds have changed by more than the step limit, the nudge stops, so that one lucky batch cannot turn the policy upside down.",
    equation: [
      {
        summary: "The equation",
        markup:
          equation(
            "the clipped objective",
            sup(i("L"), w("clip")),
            o("="),
            w("E"),
            paren(w("min"), paren(ratio, advantage, o(","), gap, w("clip"), paren(ratio, o(","), n("1"), o("−"), i("ε"), o(","), n("1"), o("+"), i("ε")), advantage)),
            o(","),
            gap,
            gap,
            ratio,
            o("="),
            frac(
              row(sub(i("π"), theta), paren(sub(i("a"), i("t")), o("|"), state(i("t")))),
              row(sub(i("π"), w("old")), paren(sub(i("a"), i("t")), o("|"), state(i("t")))),
            ),
          ) + "<p>Schulman, Wolski, Dhariwal, Radford and Klimov, <cite>Proximal policy optimization algorithms</cite> (2017). ε is the step limit.</p>",
      },
    ],
  },
  {
    heading: "Better than expected: the critic",
    words:
      "A second network, the critic, looks at a pole and estimates the reward still to come. Push the large pole and watch its estimate dip before anything has fallen: it has learned what danger looks like. " +
      "How much better things went than the critic thought is the advantage, and that alone is what the policy learns from. " +
      "The value loss is the critic's own error, and is large whenever the policy has just become better than the critic believes.",
    equation: [
      {
        summary: "The equations",
        markup:
          equation(
            "the temporal difference",
            sub(i("δ"), i("t")),
            o("="),
            sub(i("r"), i("t")),
            o("+"),
            i("γ"),
            i("V"),
            paren(state(next)),
            o("−"),
            i("V"),
            paren(state(i("t"))),
          ) +
          equation(
            "the advantage is the sum over k of gamma lambda to the k times delta at t plus k",
            advantage,
            o("="),
            sum(row(i("k"), o("≥"), n("0"))),
            sup(paren(i("γ"), i("λ")), i("k")),
            sub(i("δ"), row(i("t"), o("+"), i("k"))),
          ) +
          equation(
            "the value loss",
            sup(i("L"), i("V")),
            o("="),
            frac(n("1"), n("2")),
            w("E"),
            sup(paren(i("V"), paren(state(i("t"))), o("−"), subsup(i("V"), i("t"), w("target"))), n("2")),
          ) +
          "<p>Schulman, Moritz, Levine, Jordan and Abbeel, <cite>High-dimensional continuous control using generalized advantage estimation</cite> (2016). λ is the trust in what really happened.</p>",
      },
    ],
  },
  {
    heading: "Reading the small curves",
    words:
      "In reinforcement learning a loss is not a score. The policy loss compares the policy with itself a moment ago, so it starts near 0 each time and a good run need not push it anywhere; the return is what tells whether it learns. " +
      "Entropy falls from a coin toss (0.69) as the policy makes up its mind; if it falls at once, it stopped trying things too soon. " +
      "The policy change (KL) says how far each update went: around 0.01 is steady, ten times that is a lurch, and a sign to lower the learning rate.",
    equation: [
      {
        summary: "The equations",
        markup:
          equation(
            "entropy is minus the sum over actions of pi times log pi",
            i("H"),
            o("="),
            o("−"),
            sum(i("a")),
            i("π"),
            paren(i("a"), o("|"), i("s")),
            gap,
            w("ln"),
            gap,
            i("π"),
            paren(i("a"), o("|"), i("s")),
          ) +
          equation(
            "the estimated divergence",
            w("KL"),
            o("≈"),
            w("E"),
            paren(paren(ratio, o("−"), n("1")), o("−"), w("ln"), gap, ratio),
          ),
      },
    ],
  },
];
