//! List of the environments as variants of the room. Also computes pictures, which show the policy and the critic's values on a plane of
//! observations.

use super::protocol::{Axis, Environment, Picture};
use super::schema::SCHEMA;
use super::shown::Shown;
use crate::RunError;
use crate::protocol::{Goal, Variant};
use learn::control::Ppo;
use worlds::control::{Actions, Kind, Spec, Text};

/// Maximum number of points along one side of a picture.
const MAX_PICTURE: u32 = 512;

pub fn variants() -> Vec<Variant> {
    let variant = |Kind { spec, steps, .. }: &Kind| Variant {
        id: spec.id.clone(),
        name: spec.id.split_once('-').map_or(spec.id.clone(), |(name, _)| name.to_string().into()),
        summary: spec.summary.clone(),
        goal: Some(Goal { column: "mean_return", at: spec.solved_at }),
        sweep_budget: *steps,
        about: serde_json::to_value(environment(spec)).expect("plain data with string keys"),
    };
    worlds::control::kinds().into_iter().map(variant).collect()
}

pub fn kind(id: &str) -> Result<&'static Kind, RunError> {
    let known = || worlds::control::ids().join(", ");
    worlds::control::kind(id).ok_or_else(|| RunError::UnknownVariant { word: SCHEMA.variant_word, id: id.into(), known: known() })
}

fn environment(spec: &Spec) -> Environment {
    let names = |names: &[Text]| names.iter().map(Text::to_string).collect();
    let range = match spec.actions {
        Actions::Choices(count) => [0.0, f64::from(count) - 1.0],
        Actions::Box { low, high, .. } => [low, high],
    };
    let shown = Shown::of(spec);
    Environment {
        id: spec.id.to_string(),
        summary: spec.summary.to_string(),
        choices: names(&spec.choices),
        numbers: spec.actions.numbers() as u32,
        range,
        observation: names(&spec.observation),
        state: names(&spec.state),
        step_limit: spec.step_limit,
        solved_at: spec.solved_at,
        returns: spec.returns,
        step_s: shown.step_s,
        plane: [shown.x, shown.y],
    }
}

/// Computes the policy's output and the critic's values at a grid of points on the environment's plane.
pub fn picture(ppo: &mut Ppo, width: u32, height: u32) -> Picture {
    let (width, height) = (width.clamp(1, MAX_PICTURE), height.clamp(1, MAX_PICTURE));
    let spec = ppo.kind().spec.clone();
    let shown = Shown::of(&spec);
    let at = |axis: &Axis, i: u32, n: u32| axis.low + (axis.high - axis.low) * (f64::from(i) + 0.5) / f64::from(n);
    let mut observations = Vec::with_capacity((width * height) as usize * spec.observation.len());
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let (x, y) = (at(&shown.x, x, width), at(&shown.y, y, height));
        observations.extend(shown.observation(x, y).into_iter().map(|x| x as f32));
    }
    let mut odds = vec![0.0; (width * height) as usize * ppo.policy_len()];
    let mut values = vec![0.0; (width * height) as usize];
    ppo.predict(&observations, &mut odds, &mut values);
    let (channels, policy) = match spec.actions {
        Actions::Choices(count) => (count, odds),
        Actions::Box { count, low, high } => {
            let (middle, half) = (0.5 * (low + high) as f32, 0.5 * (high - low) as f32);
            let means = odds.chunks_exact(2 * count as usize).flat_map(|odds| &odds[..count as usize]);
            (count, means.map(|mean| (mean - middle) / half).collect())
        }
    };
    Picture { width, height, channels, policy, values }
}
