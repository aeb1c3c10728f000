//! Values of policy and critic in some states, for drawings and histograms.

use super::Ppo;
use super::nets::{Head, networks};
use crate::network::{InputValue, NetworkValues, layers};
use graph::{Graph, PlanError};
use worlds::control::Text;

impl Ppo {
    /// Returns the values of policy and critic in these states, which are given by their observations. There is at least one state.
    pub fn networks<'a>(&self, observations: impl Iterator<Item = &'a [f64]>) -> Result<Vec<NetworkValues>, PlanError> {
        let (task, spec) = (self.task, &self.kind.spec);
        let seen: Vec<f32> = observations.flat_map(|observation| self.normalized(observation)).collect();
        let mut g = Graph::new();
        let observation = g.input("observation", [seen.len() / task.observation, task.observation]);
        let (policy, critic) = networks(&mut g, task, &self.config, observation);
        let input = |(index, name): (usize, &Text)| InputValue::at(index, name.to_string(), seen[index]);
        let inputs: Vec<_> = spec.observation.iter().enumerate().map(input).collect();
        let actions = match task.head {
            Head::Choices(_) => spec.choices.iter().map(Text::to_string).collect(),
            Head::Gaussian { count: 1, .. } => vec!["mean action".into()],
            Head::Gaussian { count, .. } => (1..=count).map(|number| format!("mean of action {number}")).collect(),
        };
        let values = |(title, output, outputs): (&str, _, _)| {
            let layers = layers(&g, output, &self.params, &[("observation", &seen)], self.isa)?;
            Ok(NetworkValues { title: title.into(), inputs: inputs.clone(), layers, outputs })
        };
        [("Policy", policy, actions), ("Critic", critic, vec!["value".into()])].into_iter().map(values).collect()
    }
}
