//! Temporal-difference targets: the rewards of a transition plus the discounted value of the next state. The value of a state is the
//! greatest of its action values, which the target network computes. The weights of this network change more slowly than those of the
//! trained network (Mnih et al. 2015). With double Q-learning, the trained network selects the action and the target network evaluates it
//! (van Hasselt et al. 2016).

use super::super::net::NetConfig;
use super::play::best;
use super::replay::{MOST_STEPS, Transition};
use crate::settings;
use crate::settings::linear;
use graph::{Graph, Isa, Layout, NodeId, Plan, PlanError};
use worlds::cube::Puzzle;

settings! {
    /// Rewards and discount.
    #[derive(Copy)]
    pub struct Rewards {
        live gamma: f32, [linear(0.5, 1.0), "Discount γ", "", "Factor on a reward for each move that it is delayed."];
        live step: f32, [as "step_reward", linear(-10.0, 0.0), "Step reward", "",
            "Reward of each move; negative, so that short solutions are better."];
        live goal: f32, [as "goal_reward", linear(0.0, 100.0), "Goal reward", "",
            "Reward for solving the cube, in addition to the step reward."];
    }
}

impl Rewards {
    /// Returns true if solutions with fewer moves have a higher return.
    pub fn prefers_few(&self) -> bool {
        self.gamma > 0.0 && (self.step < 0.0 || self.goal > 0.0 && self.gamma < 1.0)
    }

    /// Computes the return (sum of the discounted rewards) of a solution with `moves` moves.
    pub fn of_moves(&self, moves: usize) -> f32 {
        self.of_steps(moves, true).0
    }

    /// Returns two values. The first is the sum of the discounted rewards of `steps` steps. The second is the factor by which the value of
    /// the state after these steps must be multiplied. If `done`, the last step solves the cube and the factor is 0.
    pub fn of_steps(&self, steps: usize, done: bool) -> (f32, f32) {
        let (mut sum, mut discount) = (0.0, 1.0);
        for step in 0..steps {
            let goal = if done && step + 1 == steps { self.goal } else { 0.0 };
            sum += discount * (self.step + goal);
            discount *= self.gamma;
        }
        (sum, if done { 0.0 } else { discount })
    }

    /// Returns a lower and an upper bound of the action values in an unsolved state.
    pub fn bounds(&self) -> (f32, f32) {
        let never = if self.gamma < 1.0 { self.step / (1.0 - self.gamma) } else { f32::NEG_INFINITY };
        (never, self.of_moves(1))
    }

    /// Converts each action value to a number of moves: a solution with this number of moves has the action value as its return.
    pub fn moves_of(&self, g: &mut Graph, q: NodeId) -> NodeId {
        if self.gamma == 1.0 {
            return g.affine(q, 1.0 / self.step, -self.goal / self.step);
        }
        // A solution of n moves has the return `never + slope * gamma^n`; `never` is the return of endless play without a solution.
        let never = self.step / (1.0 - self.gamma);
        let slope = self.goal / self.gamma - never;
        let power = g.affine(q, 1.0 / slope, -never / slope);
        let least = g.scalar(1e-6);
        let power = g.max(power, least);
        let ln = g.ln(power);
        g.affine(ln, 1.0 / self.gamma.ln(), 0.0)
    }
}

/// Rules by which targets are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Targets {
    pub rewards: Rewards,
    /// True for double Q-learning: the target network evaluates the action that the trained network prefers.
    pub double: bool,
    /// True if the values of next states are limited to [`Rewards::bounds`].
    pub bounded: bool,
}

impl Targets {
    /// Computes the targets of a batch into `values`. `trained` and `target` are the two networks' action values of the next states.
    /// `trained` is used only if `double` is true.
    pub fn fill<P: Copy>(&self, batch: &[Transition<P>], trained: &[f32], target: &[f32], actions: usize, values: &mut [f32]) {
        let (least, most) = self.rewards.bounds();
        let returns: [[(f32, f32); 2]; MOST_STEPS + 1] =
            std::array::from_fn(|steps| [false, true].map(|done| self.rewards.of_steps(steps, done)));
        for (i, (of, value)) in batch.iter().zip(values).enumerate() {
            let (reward, discount) = returns[usize::from(of.steps)][usize::from(of.done)];
            if of.done {
                *value = reward;
                continue;
            }
            let target = &target[i * actions..][..actions];
            let choice = if self.double { &trained[i * actions..][..actions] } else { target };
            let next = target[best(choice, None)];
            let next = if self.bounded { next.max(least).min(most) } else { next };
            *value = reward + discount * next;
        }
    }
}

/// Loss of one sample as a function of its error. Training minimizes the mean over a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Half the squared error.
    Squares,
    /// Half the squared error for errors up to the contained δ; linear for larger errors (Huber 1964).
    Huber(f32),
}

/// Compiles a plan with the inputs `active`, `action`, `target` and, if `weighed` is true, `weight`. The output `loss` is the loss. The
/// output `taken` contains the network's values of the actions in `action`. The plan computes a shard of `rows` samples from a batch of
/// `all` samples. The losses and gradients of all shards sum to those of the batch.
pub fn plan_learning<P: Puzzle>(
    net: &NetConfig,
    actions: usize,
    loss: Loss,
    weighed: bool,
    [rows, all]: [usize; 2],
    isa: Isa,
) -> Result<Plan, PlanError> {
    let mut g = Graph::new();
    let (loss, taken) = learning::<P>(&mut g, net, actions, loss, weighed, [rows, all]);
    let gradients = g.gradients(loss);
    Plan::training(&g, &[("loss", loss), ("taken", taken)], &gradients, isa)
}

/// Builds the graph of [`plan_learning`]; returns the loss and the values of the given actions.
pub fn learning<P: Puzzle>(
    g: &mut Graph,
    net: &NetConfig,
    actions: usize,
    loss: Loss,
    weighed: bool,
    [rows, all]: [usize; 2],
) -> (NodeId, NodeId) {
    let active = g.input("active", [rows, net.inputs.active::<P>()]);
    let action = g.input("action", [rows, 1]);
    let target = g.input("target", [rows, 1]);
    let q = net.network::<P>(g, active, actions);
    let taken = g.take(q, action);
    let error = g.sub(taken, target);
    let mut each = match loss {
        Loss::Squares => g.square(error),
        Loss::Huber(delta) => {
            // Twice the Huber loss of the error e: e² if |e| is at most δ, otherwise 2δ|e| - δ².
            let near = g.clamp(error, -delta, delta);
            let twice = g.affine(error, 2.0, 0.0);
            let rest = g.sub(twice, near);
            g.mul(near, rest)
        }
    };
    if weighed {
        let weight = g.input("weight", [rows, 1]);
        each = g.mul(each, weight);
    }
    let sum = g.sum_all(each);
    (g.affine(sum, 0.5 / all as f32, 0.0), taken)
}

/// Compiles a plan with the input `active` and the output `q`, the values of all actions in each state.
pub fn plan_values<P: Puzzle>(net: &NetConfig, actions: usize, rows: usize, isa: Isa) -> Result<Plan, PlanError> {
    let mut g = Graph::new();
    let active = g.input("active", [rows, net.inputs.active::<P>()]);
    let q = net.network::<P>(&mut g, active, actions);
    Plan::new(&g, &[("q", q)], Layout::Rows, isa)
}
