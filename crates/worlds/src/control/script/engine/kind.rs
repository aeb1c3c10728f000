//! Conversion of a compiled environment to a [`Kind`], the type that also describes the built-in environments.

use super::super::meta::{Choice, Meta};
use super::super::wgsl::{Translation, translate};
use super::faults::message;
use super::fleet::STREAM;
use super::single::One;
use super::world::World;
use crate::control::kind::{Explain, Kernels, Kind, Make, MakeOne};
use crate::control::vector::Vector;
use crate::control::world::{Actions, Spec, Text, World64};
use math::Rng;
use std::sync::Arc;

/// Default number of steps of each run in a sweep; see `Kind::steps`. Each of the project's template files is solved within half of this
/// number.
const STEPS: f64 = 4e6;

impl World {
    /// Creates a kind with the id `id`. The summary is the first sentence of the docstring. Without the class attribute `solved`,
    /// [`Spec::solved_at`] is infinite. A file that is too large or too slow for a GPU, or that has no attributes, has no kernels (rules in
    /// WGSL). Environments without kernels train on the CPU.
    pub fn kind(&self, id: impl Into<Text>) -> Kind {
        let world = World { id: id.into(), ..self.clone() };
        let spec = Arc::new(world.spec());
        let (own, single) = (world.clone(), (world, spec.clone()));
        let many: Make = Arc::new(move |isa, seed, first, count| Box::new(own.fleet(isa, seed, first, count)) as Box<dyn Vector>);
        let twin: MakeOne = Arc::new(move || Box::new(One::new(&single.0, &single.1)) as Box<dyn World64>);
        Kind {
            masked: self.mask_len() > 0,
            steps: STEPS,
            keys: self.meta.keys.clone(),
            size: (!self.code.shapes.is_empty()).then_some(self.meta.size),
            kernels: self.kernels(),
            ..Kind::new((*spec).clone(), twin, many)
        }
    }

    fn kernels(&self) -> Option<Kernels> {
        let Translation { text, places } = translate(&self.meta, &self.attributes, &self.code)?;
        let explain: Explain = Arc::new(move |[place, value]| {
            let found = (place as usize).checked_sub(1).and_then(|at| places.get(at));
            found.map_or((None, "an unknown error".into()), |(line, instruction)| (Some(*line), message(instruction, value)))
        });
        let key = |seed| Rng::new(seed, STREAM).key;
        Some(Kernels { text: text.into(), repeated: &[], constants: Vec::new, key, episode_mask: u32::MAX, explain: Some(explain) })
    }

    fn spec(&self) -> Spec {
        let Meta { doc, actions, limit, solved, names, observation, .. } = &self.meta;
        let (actions, choices) = match *actions {
            Choice::Choices(count) => (Actions::Choices(count), count as usize),
            Choice::Box { count, low, high } => (Actions::Box { count: count as u32, low: low.into(), high: high.into() }, 0),
        };
        let name = |k: usize| names.get(k).map_or_else(|| format!("choice {k}").into(), |name| name.clone().into());
        Spec {
            id: self.id.clone(),
            summary: summary(doc).into(),
            actions,
            choices: (0..choices).map(name).collect(),
            state: self.attributes.iter().flat_map(|attribute| (0..attribute.len).map(|k| attribute.element(k).into())).collect(),
            observation: (0..self.observation_len()).map(|k| fitted(observation.get(k), k).into()).collect(),
            step_limit: *limit,
            solved_at: solved.map_or(f64::INFINITY, f64::from),
            returns: returns(solved.unwrap_or_default().into()),
        }
    }
}

/// Returns the name of number `k` of an observation: its code, if the code is short.
fn fitted(code: Option<&String>, k: usize) -> String {
    const LONGEST: usize = 30;
    code.filter(|code| code.chars().count() <= LONGEST).cloned().unwrap_or_else(|| format!("number {k}"))
}

/// Returns the first sentence of a docstring, without the full stop.
fn summary(doc: &str) -> String {
    let doc = doc.trim();
    let paragraph = doc.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = paragraph.split(". ").next().unwrap_or_default();
    sentence.strip_suffix('.').unwrap_or(sentence).to_owned()
}

/// Returns the range of returns for the axis of a chart: from 0 to the return `solved`, or from 0 to 1 if `solved` is 0. A file does not
/// declare a range. The chart extends the axis to the returns that occur.
fn returns(solved: f64) -> [f64; 2] {
    if solved == 0.0 { [0.0, 1.0] } else { [solved.min(0.0), solved.max(0.0)] }
}
