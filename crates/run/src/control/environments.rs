//! List of the environments as variants of the room, and pictures that show the policy and the critic's values on a plane of observations.

use super::file::{OWN, Opens};
use super::protocol::{Axis, Environment, KeyAction, Picture};
use super::schema::SCHEMA;
use super::shown::Shown;
use crate::RunError;
use crate::protocol::{Goal, Variant};
use crate::room::Setup;
use learn::control::Ppo;
use worlds::control::{Actions, Kind, Text};

/// Maximum number of points along one side of a picture.
const MAX_PICTURE: u32 = 512;

pub fn variants() -> Vec<Variant> {
    worlds::control::kinds().into_iter().map(described).collect()
}

fn described(kind: &Kind) -> Variant {
    let Kind { spec, steps, .. } = kind;
    Variant {
        id: spec.id.clone(),
        name: spec.id.split_once('-').map_or(spec.id.clone(), |(name, _)| name.to_string().into()),
        summary: spec.summary.clone(),
        goal: spec.solved_at.is_finite().then_some(Goal { column: "mean_return", at: spec.solved_at }),
        sweep_budget: *steps,
        about: serde_json::to_value(environment(kind)).expect("plain data with string keys"),
    }
}

/// Returns the variant of a config. The variant of a file has the name of the file.
pub fn variant<F: Opens>(setup: Setup) -> Result<Variant, RunError> {
    Ok(match kind::<F>(setup)? {
        Some(kind) if setup.variant == OWN => Variant { id: OWN.into(), name: kind.spec.id.clone(), ..described(&kind) },
        Some(kind) => described(&kind),
        None => unloaded(),
    })
}

/// Returns the variant of a file whose bytes are not loaded.
fn unloaded() -> Variant {
    Variant {
        id: OWN.into(),
        name: "Your environment".into(),
        summary: "An environment from a Python file".into(),
        goal: None,
        sweep_budget: 0.0,
        about: serde_json::Value::Null,
    }
}

/// Returns the kind of environment of a config; `None` for the environment of a file whose bytes are not loaded.
pub fn kind<F: Opens>(setup: Setup) -> Result<Option<Kind>, RunError> {
    let Setup { variant, data, .. } = setup;
    match data {
        None if F::ACCEPTS && variant == OWN => Ok(None),
        None => {
            let known = || worlds::control::ids().join(", ");
            let kind = worlds::control::kind(variant).cloned();
            kind.map(Some).ok_or_else(|| RunError::UnknownVariant { word: SCHEMA.variant_word, id: variant.into(), known: known() })
        }
        Some(file) if variant == OWN => F::open(file),
        Some(file) => Err(RunError::Refused {
            what: format!("{variant} is a built-in environment, so it cannot use the file {}", file.name),
            next: format!("Leave the file out, or choose the environment '{OWN}'"),
        }),
    }
}

/// Returns the kind of environment of a run that begins. An environment file whose bytes are not loaded is an error.
pub fn loaded<F: Opens>(setup: Setup) -> Result<Kind, RunError> {
    kind::<F>(setup)?.ok_or_else(|| RunError::Refused {
        what: format!("the environment '{OWN}' needs its file"),
        next: "Provide the Python file of the environment (--data FILE in the terminal)".into(),
    })
}

fn environment(Kind { spec, keys, size, .. }: &Kind) -> Environment {
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
        solved_at: spec.solved_at.is_finite().then_some(spec.solved_at),
        returns: spec.returns,
        step_s: shown.step_s,
        axes: shown.axes,
        keys: keys.iter().map(key_action).collect(),
        size: size.map(|size| size.map(f64::from)),
    }
}

fn key_action((key, action): &(String, Vec<f32>)) -> KeyAction {
    KeyAction { key: key.clone(), action: action.iter().map(|&x| x.into()).collect() }
}

/// Computes the policy's output and the critic's values at a grid of `width` by `height` points on the plane of two axes.
pub fn picture(ppo: &mut Ppo, width: u32, height: u32, axes: &[Axis; 2]) -> Result<Picture, RunError> {
    let (width, height) = (width.clamp(1, MAX_PICTURE), height.clamp(1, MAX_PICTURE));
    let spec = ppo.kind().spec.clone();
    let shown = Shown::of(&spec);
    shown.check(axes)?;
    let [x_axis, y_axis] = axes;
    let at = |axis: &Axis, i: u32, n: u32| axis.low + (axis.high - axis.low) * (f64::from(i) + 0.5) / f64::from(n);
    let mut observations = Vec::with_capacity((width * height) as usize * spec.observation.len());
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let point = [at(x_axis, x, width), at(y_axis, y, height)];
        observations.extend(shown.observation(axes, point).into_iter().map(|x| x as f32));
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
    Ok(Picture { width, height, channels, policy, values })
}
