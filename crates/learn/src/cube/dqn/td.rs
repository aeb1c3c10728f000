//! What a transition is worth: its rewards, and what the network thinks of the state that it leads to. That is the greatest
//! value of its actions by the target network, whose weights follow the trained ones slowly (Mnih et al. 2015), or, double, that
//! network's value of the action that the trained one prefers (van Hasselt et al. 2016).

use super::super::net::NetConfig;
use super::play::best;
use super::replay::{MOST_STEPS, Transition};
use crate::settings;
use crate::settings::linear;
use graph::{Graph, Isa, Layout, NodeId, Plan, PlanError};
use worlds::cube::Puzzle;

settings! {
    /// What moves and the goal are worth.
    #[derive(Copy)]
    pub struct Rewards {
        live gamma: f32, [linear(0.5, 1.0), "Discount γ: patience", "", "How much a reward one move later is still worth now."];
        live step: f32, [as "step_reward", linear(-10.0, 0.0), "Reward of a move", "",
            "What each move costs, so that few are better than many."];
        live goal: f32, [as "goal_reward", linear(0.0, 100.0), "Reward of the solved cube", "",
            "What solving the cube is worth, beside the move's own reward."];
    }
}

impl Rewards {
    /// Whether fewer moves are better.
    pub fn prefers_few(&self) -> bool {
        self.gamma > 0.0 && (self.step < 0.0 || self.goal > 0.0 && self.gamma < 1.0)
    }

    /// The best that so many moves to the solved state can return.
    pub fn of_moves(&self, moves: usize) -> f32 {
        self.of_steps(moves, true).0
    }

    /// What so many steps return together, and the discount of what comes after them.
    pub fn of_steps(&self, steps: usize, done: bool) -> (f32, f32) {
        let (mut sum, mut discount) = (0.0, 1.0);
        for step in 0..steps {
            let goal = if done && step + 1 == steps { self.goal } else { 0.0 };
            sum += discount * (self.step + goal);
            discount *= self.gamma;
        }
        (sum, if done { 0.0 } else { discount })
    }

    /// Between these lies what any action can return where the cube is not solved.
    pub fn bounds(&self) -> (f32, f32) {
        let never = if self.gamma < 1.0 { self.step / (1.0 - self.gamma) } else { f32::NEG_INFINITY };
        (never, self.of_moves(1))
    }

    /// Reads values as numbers of moves.
    pub fn moves_of(&self, g: &mut Graph, q: NodeId) -> NodeId {
        if self.gamma == 1.0 {
            return g.affine(q, 1.0 / self.step, -self.goal / self.step);
        }
        // n moves return `never + slope * gamma^n`.
        let never = self.step / (1.0 - self.gamma);
        let slope = self.goal / self.gamma - never;
        let power = g.affine(q, 1.0 / slope, -never / slope);
        let least = g.scalar(1e-6);
        let power = g.max(power, least);
        let ln = g.ln(power);
        g.affine(ln, 1.0 / self.gamma.ln(), 0.0)
    }
}

/// How targets are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Targets {
    pub rewards: Rewards,
    /// The trained network chooses the action that the target network values.
    pub double: bool,
    /// Values of next states are held to what can be.
    pub bounded: bool,
}

impl Targets {
    /// Of a transition each. `trained` is what that network says of the next states, and read where the target is double.
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

/// How an error counts; the mean over a batch is what is learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Half its square.
    Squares,
    /// That up to this error, and its length beyond (Huber 1964).
    Huber(f32),
}

/// Reads `active`, `action`, `target` and, where errors are weighed, `weight`; gives `loss` and `taken`, what the network says of
/// the actions. Losses of so many `rows` out of a batch of `all` add up to that of the batch, and so do gradients.
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

/// The graph of [`plan_learning`]: its loss, and what it says of the actions.
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
            // e² within, and 2δ|e| - δ² beyond.
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

/// Reads `active`; gives `q` of every action.
pub fn plan_values<P: Puzzle>(net: &NetConfig, actions: usize, rows: usize, isa: Isa) -> Result<Plan, PlanError> {
    let mut g = Graph::new();
    let active = g.input("active", [rows, net.inputs.active::<P>()]);
    let q = net.network::<P>(&mut g, active, actions);
    Plan::new(&g, &[("q", q)], Layout::Rows, isa)
}
