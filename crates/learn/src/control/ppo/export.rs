//! The policy as a model for other programs, with the normalisation of observations and without the critic.

use super::nets::{Head, Task, masked, networks};
use super::normalizer::{NORMALIZED_LIMIT, Normalizer};
use super::{Ppo, PpoError};
use crate::Policy as _;
use graph::export::{Examples, Input, Model, Output, Reads};
use graph::{Graph, NodeId};
use math::{PANEL, Rng};
use worlds::control::{Actions, Text};

/// Random stream of the actions that generate the examples.
const EXAMPLES: u32 = 0x4558_414d;
/// Environment number of the first lane. Training and evaluations use other environment numbers.
const FIRST_ENV: u32 = 3 << 30;

impl Ppo {
    pub fn exported(&self) -> Model {
        let (task, spec) = (self.task, &self.kind.spec);
        let names = |names: &[Text]| names.iter().map(Text::to_string).collect::<Vec<_>>();
        let mut g = Graph::new();
        let observation = g.input("observation", [1, task.observation]);
        let seen = self.scaling.observations.as_ref().map_or(observation, |normalizer| normalized(&mut g, observation, normalizer));
        let (policy, _) = networks(&mut g, task, &self.config, seen);
        let mut inputs = vec![Input {
            name: "observation",
            integers: false,
            help: "Observation of the environment. If training normalised observations, the model does so too.".into(),
            numbers: names(&spec.observation),
        }];
        let outputs = match task.head {
            Head::Choices(_) => {
                let logits = if task.mask > 0 { masked(&mut g, policy, task.mask) } else { policy };
                if task.mask > 0 {
                    let help = "1 for each permitted action, otherwise 0. At least one action must be permitted.".into();
                    inputs.push(Input { name: "mask", integers: false, help, numbers: names(&spec.choices) });
                }
                let probabilities = g.softmax(logits);
                let output = |name, node, reads, help: &str, numbers| Output { name, node, reads, help: help.into(), numbers };
                let choices = names(&spec.choices);
                vec![
                    output("probabilities", probabilities, Reads::Numbers, "Probability of each action.", choices),
                    output("action", logits, Reads::Largest, "Index of the most probable action, from 0.", Vec::new()),
                ]
            }
            Head::Gaussian { .. } => {
                let node = in_range(&mut g, policy, task);
                let help = "Mean of each number of the action, in the unit of the environment. Tests use this action.".into();
                vec![Output { name: "action", node, reads: Reads::Numbers, help, numbers: Vec::new() }]
            }
        };
        Model { graph: g, params: self.params.clone(), inputs, outputs }
    }

    /// Returns `count` example inputs from random play, with the outputs that [`Policy`](super::Policy) computes.
    pub fn examples(&self, count: usize, seed: u32) -> Result<Examples, PpoError> {
        let Task { observation, mask, head } = self.task;
        let (observations, masks) = self.observed(count, seed);
        let (mut policies, mut values) = (vec![0.0; count * self.task.policy_len()], vec![0.0; count]);
        self.policy()?.predict(&observations, &mut policies, &mut values);
        let outputs = match head {
            Head::Choices(choices) => {
                let permitted: Vec<bool> = masks.iter().map(|&x| x > 0.0).collect();
                let each = policies.chunks_exact_mut(choices).enumerate();
                each.for_each(|(i, policy)| self.restrict(policy, &permitted[i * mask..][..mask]));
                let actions = policies.chunks_exact(choices).map(|policy| self.greedy(policy)[0] as f32).collect();
                vec![policies, actions]
            }
            Head::Gaussian { count, .. } => vec![policies.chunks_exact(2 * count).flat_map(|policy| &policy[..count]).copied().collect()],
        };
        debug_assert_eq!(observations.len(), count * observation);
        let inputs = if mask > 0 { vec![observations, masks] } else { vec![observations] };
        Ok(Examples { inputs, outputs })
    }

    /// Returns observations and masks of `count` states in random play.
    fn observed(&self, count: usize, seed: u32) -> (Vec<f32>, Vec<f32>) {
        let Task { observation, mask, head } = self.task;
        let mut world = (self.kind.many)(self.isa, seed, FIRST_ENV, PANEL);
        let mut numbers = Rng::new(seed, EXAMPLES).sequence(0);
        let (mut observations, mut masks) = (Vec::new(), Vec::new());
        let mut actions = vec![0.0; PANEL * head.numbers()];
        let [mut reached, mut rewards] = [PANEL * observation, PANEL].map(|len| vec![0.0; len]);
        let mut ended = vec![0; PANEL];
        while observations.len() < count * observation {
            for lane in 0..PANEL {
                let at = |panel: &[f32], i: usize| panel[i * PANEL + lane];
                observations.extend((0..observation).map(|i| at(world.observations(), i)));
                masks.extend((0..mask).map(|i| at(world.masks(), i)));
                let permitted: Vec<usize> = (0..mask).filter(|&i| at(world.masks(), i) > 0.0).collect();
                for i in 0..head.numbers() {
                    actions[i * PANEL + lane] = match self.kind.spec.actions {
                        Actions::Choices(_) if mask > 0 => permitted[numbers.below(permitted.len() as u32) as usize] as f32,
                        Actions::Choices(count) => numbers.below(count) as f32,
                        Actions::Box { low, high, .. } => low as f32 + numbers.uniform() * (high - low) as f32,
                    };
                }
            }
            world.step(&actions, &mut reached, &mut rewards, &mut ended);
        }
        observations.truncate(count * observation);
        masks.truncate(count * mask);
        (observations, masks)
    }
}

/// Adds nodes to the graph that compute [`Normalizer::normalize`].
fn normalized(g: &mut Graph, observation: NodeId, Normalizer { mean, scale, .. }: &Normalizer) -> NodeId {
    let [mean, scale] = [mean, scale].map(|values| g.constant(values, [1, values.len()]));
    let centred = g.sub(observation, mean);
    let scaled = g.mul(centred, scale);
    g.clamp(scaled, -NORMALIZED_LIMIT, NORMALIZED_LIMIT)
}

/// Adds nodes to the graph that compute [`to_range`](super::nets::to_range).
fn in_range(g: &mut Graph, policy: NodeId, task: Task) -> NodeId {
    let Head::Gaussian { middle, half, squash, .. } = task.head else { return policy };
    let within = if squash { g.tanh(policy) } else { g.clamp(policy, -1.0, 1.0) };
    g.affine(within, half, middle)
}
