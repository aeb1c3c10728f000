//! Network graphs: policy and critic for acting, and the PPO loss for learning.

use super::config::{MAX_OUTPUTS, PpoConfig, PpoError};
use super::rollout::REST;
use graph::{Graph, Init, Layout, NodeId, Params, Plan};
use math::{Isa, Simd, poly};
use std::f32::consts::{LN_2, PI};
use std::sync::Arc;
use worlds::control::{Actions, Kind};

/// Meaning of the policy's outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Head {
    /// The outputs are the logits of this number of choices.
    Choices(usize),
    /// The outputs are the means of `count` independent Gaussians. Their standard deviations are separate parameters. Each number of an
    /// action is limited to -1 to 1, by tanh if `squash` is true, otherwise by clamping. A limited number x becomes the number `middle` +
    /// `half`·x of the environment's action.
    Gaussian { count: usize, middle: f32, half: f32, squash: bool },
}

impl Head {
    /// Returns the number of policy outputs per state.
    pub fn outputs(self) -> usize {
        match self {
            Head::Choices(count) | Head::Gaussian { count, .. } => count,
        }
    }

    /// Returns the number of values in an action; 1 for a choice.
    pub fn numbers(self) -> usize {
        match self {
            Head::Choices(_) => 1,
            Head::Gaussian { count, .. } => count,
        }
    }
}

/// Properties of an environment that determine the networks and the loss: the number of observation features, the kind of actions, and the
/// size of masks.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub observation: usize,
    pub head: Head,
    /// Number of values in the mask of a state; 0 if all choices are always permitted.
    pub mask: usize,
}

impl Task {
    pub fn new(kind: &Kind, config: &PpoConfig) -> Result<Self, PpoError> {
        let head = match kind.spec.actions {
            Actions::Choices(count) => Head::Choices(count as usize),
            Actions::Box { count, low, high } => {
                let (middle, half) = (0.5 * (low + high) as f32, 0.5 * (high - low) as f32);
                Head::Gaussian { count: count as usize, middle, half, squash: config.squash }
            }
        };
        if !(1..=MAX_OUTPUTS).contains(&head.outputs()) {
            return Err(PpoError::Outputs { id: kind.spec.id.to_string(), outputs: head.outputs() });
        }
        Ok(Self { observation: kind.spec.observation.len(), head, mask: kind.mask_len() })
    }

    /// Returns the number of values per state that [`super::Ppo::predict`] writes to `policy`.
    pub fn policy_len(self) -> usize {
        match self.head {
            Head::Choices(count) => count,
            Head::Gaussian { count, .. } => 2 * count,
        }
    }

    /// Returns the number of values in a sample: the observation, the action, [`REST`] further values, and the mask.
    pub fn sample_len(self) -> usize {
        self.observation + self.head.numbers() + REST + self.mask
    }
}

/// Converts numbers of a policy's action to numbers of the environment's action; see [`Head::Gaussian`].
#[inline(always)]
pub(super) fn to_range<S: Simd>(s: S, drawn: S::F, middle: f32, half: f32, squash: bool) -> S::F {
    let within = if squash { poly::tanh(s, drawn) } else { s.max(s.min(drawn, s.splat(1.0)), s.splat(-1.0)) };
    s.add(s.mul(within, s.splat(half)), s.splat(middle))
}

/// Name of the parameter that holds ln σ of each number of a continuous action, where σ is the standard deviation.
pub const SPREAD: &str = "policy.spread";

/// Returns ln σ of each number of a continuous action; empty for choices.
pub(super) fn log_spreads(params: &Params) -> &[f32] {
    params.get(SPREAD).unwrap_or_default()
}

fn layer(g: &mut Graph, x: NodeId, name: &str, config: &PpoConfig) -> NodeId {
    let x = g.dense(x, name, config.hidden, Init::Orthogonal(2f32.sqrt()));
    if config.tanh { g.tanh(x) } else { g.relu(x) }
}

fn trunk(g: &mut Graph, observation: NodeId, name: &str, config: &PpoConfig) -> NodeId {
    let x = layer(g, observation, &format!("{name}.0"), config);
    layer(g, x, &format!("{name}.1"), config)
}

/// Adds policy and critic to the graph. Returns the policy's outputs `[rows, outputs]` and the critic's value `[rows, 1]`.
pub(super) fn networks(g: &mut Graph, task: Task, config: &PpoConfig, observation: NodeId) -> (NodeId, NodeId) {
    let (policy, critic) = if config.shared {
        let trunk = trunk(g, observation, "trunk", config);
        (trunk, trunk)
    } else {
        (trunk(g, observation, "policy", config), trunk(g, observation, "critic", config))
    };
    if let Head::Gaussian { count, .. } = task.head {
        // Acting reads this parameter without the graph. The graph declares the parameter so that all graphs have the same parameters.
        g.vector(SPREAD, count, Init::Zeros);
    }
    let policy = g.dense(policy, "policy.2", task.head.outputs(), Init::Orthogonal(0.01));
    let value = g.dense(critic, "critic.2", 1, Init::Orthogonal(1.0));
    (policy, value)
}

pub fn plan_acting(task: Task, config: &PpoConfig, rows: usize, layout: Layout, isa: Isa) -> Result<Arc<Plan>, PpoError> {
    let mut g = Graph::new();
    let observation = g.input("observation", [rows, task.observation]);
    let (policy, value) = networks(&mut g, task, config, observation);
    Ok(Arc::new(Plan::new(&g, &[("policy", policy), ("value", value)], layout, isa)?))
}

/// Returns a plan of the policy without the critic. It has the same parameters as a plan with the critic.
pub(super) fn plan_policy(task: Task, config: &PpoConfig, rows: usize, layout: Layout, isa: Isa) -> Result<Arc<Plan>, PpoError> {
    let mut g = Graph::new();
    let observation = g.input("observation", [rows, task.observation]);
    let (policy, _) = networks(&mut g, task, config, observation);
    Ok(Arc::new(Plan::new(&g, &[("policy", policy)], layout, isa)?))
}

/// Names of the loss metrics. Each metric is a mean over the rows of a learning plan. The rows are a shard on the CPU, and a
/// minibatch on an offload machine, such as a GPU.
pub const METRICS: [&str; 5] = ["policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction"];

pub fn plan_learning(task: Task, config: &PpoConfig, rows: usize, isa: Isa) -> Result<Arc<Plan>, PpoError> {
    let mut g = Graph::new();
    let g = &mut g;
    let observation = g.input("observation", [rows, task.observation]);
    let (policy, value) = networks(g, task, config, observation);
    let column = |g: &mut Graph, name| g.input(name, [rows, 1]);
    let scalar = |g: &mut Graph, name| g.input(name, [1, 1]);
    let (action, old_log_prob) = (g.input("action", [rows, task.head.numbers()]), column(g, "old_log_prob"));
    let (advantage, target) = (column(g, "advantage"), column(g, "return"));
    let clip = scalar(g, "clip");
    let (entropy_coef, value_coef) = (scalar(g, "entropy_coef"), scalar(g, "value_coef"));
    let within = |g: &mut Graph, x, lo, hi| {
        let x = g.max(x, lo);
        g.min(x, hi)
    };

    // Policy loss: the negative clipped surrogate.
    let (log_prob, entropy) = match task.head {
        Head::Choices(_) => {
            let logits = if task.mask > 0 { masked(g, policy, task.mask) } else { policy };
            choice(g, logits, action, rows)
        }
        Head::Gaussian { count, squash, .. } => gaussian(g, policy, action, count, squash),
    };
    let log_ratio = g.sub(log_prob, old_log_prob);
    let ratio = g.exp(log_ratio);
    let (lo, hi) = (g.affine(clip, -1.0, 1.0), g.affine(clip, 1.0, 1.0));
    let clipped = within(g, ratio, lo, hi);
    let (free, held) = (g.mul(ratio, advantage), g.mul(clipped, advantage));
    let surrogate = g.min(free, held);
    let surrogate = g.mean_all(surrogate);
    let policy_loss = g.neg(surrogate);

    let error = g.sub(value, target);
    let square = g.square(error);
    let square = if config.clip_value {
        let old_value = column(g, "old_value");
        let (lowest, change) = (g.neg(clip), g.sub(value, old_value));
        let change = within(g, change, lowest, clip);
        let near = g.add(old_value, change);
        let near_error = g.sub(near, target);
        let near_square = g.square(near_error);
        g.max(square, near_square)
    } else {
        square
    };
    let mean = g.mean_all(square);
    let value_loss = g.affine(mean, 0.5, 0.0);

    let weighted_value = g.mul(value_loss, value_coef);
    let bonus = g.mul(entropy, entropy_coef);
    let loss = g.add(policy_loss, weighted_value);
    let loss = g.sub(loss, bonus);

    // E[(ρ - 1) - ln ρ] estimates the KL divergence of the new policy from the old policy (Schulman 2020).
    let less_one = g.affine(ratio, 1.0, -1.0);
    let kl = g.sub(less_one, log_ratio);
    let approx_kl = g.mean_all(kl);
    let (moved, limit) = (g.square(less_one), g.square(clip));
    let beyond = g.greater(moved, limit);
    let clip_fraction = g.mean_all(beyond);

    let gradients = g.gradients(loss);
    let metrics = [policy_loss, value_loss, entropy, approx_kl, clip_fraction];
    let outputs: Vec<(&str, NodeId)> = METRICS.into_iter().zip(metrics).collect();
    Ok(Arc::new(Plan::training(g, &outputs, &gradients, isa)?))
}

/// Amount by which a mask lowers the logit of a forbidden choice. The exponential of the lowered logit is 0. The amount is finite, so that
/// its product with 0 is 0.
const FORBIDDEN: f32 = 1e9;

/// Lowers the logits of forbidden choices, so that their probabilities and gradients are 0. Returns all logits.
pub(super) fn masked(g: &mut Graph, logits: NodeId, choices: usize) -> NodeId {
    let rows = g.shape(logits)[0];
    let mask = g.input("mask", [rows, choices]);
    let shift = g.affine(mask, FORBIDDEN, -FORBIDDEN);
    g.add(logits, shift)
}

/// Returns ln π(a|s) of discrete actions, and the mean entropy of the policy, H = -Σ p·ln p.
fn choice(g: &mut Graph, logits: NodeId, action: NodeId, rows: usize) -> (NodeId, NodeId) {
    let log_probs = g.log_softmax(logits);
    let log_prob = g.take(log_probs, action);
    let probs = g.exp(log_probs);
    let terms = g.mul(probs, log_probs);
    let sum = g.sum_all(terms);
    (log_prob, g.affine(sum, -1.0 / rows as f32, 0.0))
}

/// Returns ln π(u|s) of Gaussian samples u before squashing, and the entropy H = ln σ + ½·ln 2πe. Both are summed over the `count` numbers
/// of an action. ln π omits the squashing term, because this term depends only on u and cancels in the ratio of two policies. If `squash`
/// is true, H also includes the mean of ln(1 - tanh² u). In this mean, u is μ + σ·ε with the sampled noise ε.
fn gaussian(g: &mut Graph, mean: NodeId, drawn: NodeId, count: usize, squash: bool) -> (NodeId, NodeId) {
    let log_spread = g.vector(SPREAD, count, Init::Zeros);
    let inverse = g.neg(log_spread);
    let inverse = g.exp(inverse);
    let distance = g.sub(drawn, mean);
    let noise = g.mul(distance, inverse);
    let square = g.square(noise);
    let half = g.affine(square, -0.5, -0.5 * (2.0 * PI).ln());
    let log_prob = g.sub(half, log_spread);
    let log_prob = g.sum_rows(log_prob);
    let entropy = g.affine(log_spread, 1.0, 0.5 * (1.0 + (2.0 * PI).ln()));
    let entropy = g.sum_rows(entropy);
    if !squash {
        return (log_prob, entropy);
    }
    let noise = g.stop_gradient(noise);
    let spread = g.exp(log_spread);
    let offset = g.mul(noise, spread);
    let again = g.add(mean, offset);
    // ln(1 - tanh² u) = 2·(ln 2 + u - ln(1 + e²ᵘ)) is even in u, so it is evaluated at -|u|. There, e²ᵘ cannot overflow.
    let size = {
        let other = g.neg(again);
        g.min(again, other)
    };
    let e = g.affine(size, 2.0, 0.0);
    let e = g.exp(e);
    let e = g.affine(e, 1.0, 1.0);
    let soft = g.ln(e);
    let inner = g.sub(size, soft);
    let log_slope = g.affine(inner, 2.0, 2.0 * LN_2);
    let shrunk = g.mean_all(log_slope);
    let shrunk = g.affine(shrunk, count as f32, 0.0);
    (log_prob, g.add(entropy, shrunk))
}
