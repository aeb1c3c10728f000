//! The experiments as variants of the room, with words for them.

use super::protocol::{self, Shows};
use crate::plain_data::json;
use crate::protocol::{Goal, Variant};
use learn::logic::experiment::{Config, Experiment, Preset};
use learn::settings::{Choice, Named};

/// What a run of it ends with at the latest in a sweep, in updates.
fn words(preset: Preset) -> (&'static str, f64, &'static [&'static str]) {
    match preset {
        Preset::Life => (
            "Learns Conway's rule from examples: one step of a cell and its eight neighbours.",
            2e4,
            &["all 512 states of nine cells", "128x128 cells for 300 steps"],
        ),
        Preset::Checkerboard => (
            "Learns a rule by which random cells become a checkerboard.",
            4e3,
            &[
                "16 fresh grids, every cell; then 1,000 others confirm it",
                "64x64 cells for 80 steps",
                "a block of 20x20 dead cells",
                "healing once they live again",
            ],
        ),
        Preset::Asynchronous => (
            "The same where a random part of the cells updates at each step. 10 of 20 members passed the check in training \
             within 512 updates.",
            4e3,
            &[
                "16 fresh grids, every cell; then 1,000 others confirm it",
                "56x56 cells for 200 steps",
                "healing of a block of 20x20 cells",
                "4,000 steps, each of which blanks 10x10 cells somewhere",
            ],
        ),
        Preset::Lizard => (
            "Learns to grow a lizard from one cell, with 128 bits a cell. No run was perfect: in two of the published length, 3,500 \
             updates, 15 and 35 of 400 cells were wrong.",
            8e3,
            &["every cell", "40x40 cells", "healing of a block in the middle"],
        ),
        Preset::ColourG => (
            "Learns to grow a letter in eight colours from nothing but the border. At the published settings, which are the default, \
             no run is known to be perfect; at a learning rate of 0.2 and an initial logit of 5 one of 4 was.",
            8e3,
            &["every cell", "healing of a block in the middle"],
        ),
        Preset::Own => (
            "Learns to grow what you draw from one cell, by the lizard's recipe in a smaller network. How often that succeeds was \
             not measured.",
            8e3,
            &["every cell", "a grid of twice the size", "healing of a block in the middle"],
        ),
        Preset::Rule => (
            "Learns a rule of a cell and its eight neighbours that you name, from examples.",
            2e4,
            &["all 512 states of nine cells", "128x128 cells for 300 steps"],
        ),
    }
}

/// Of this name; the default where there is none.
pub(super) fn preset(id: &str) -> Preset {
    Preset::ALL.iter().copied().find(|preset| preset.id() == id).unwrap_or(Preset::Life)
}

pub(super) fn variants() -> Vec<Variant> {
    Preset::ALL.iter().zip(Preset::OPTIONS).map(|(&preset, named)| variant(preset, named)).collect()
}

fn variant(preset: Preset, named: &Named) -> Variant {
    let (summary, sweep_budget, tests) = words(preset);
    let experiment = Config::preset(preset).experiment().expect("its own target can be learned");
    let rollout = &experiment.rollout;
    let about = protocol::Experiment {
        width: rollout.width as u32,
        height: rollout.height as u32,
        channels: experiment.architecture.channels as u32,
        steps: rollout.steps as u32,
        periodic: rollout.periodic,
        asynchronous: rollout.fire_rate.is_some(),
        shows: shows(&experiment),
        rule: preset.is_rule(),
        tests: tests.iter().map(|test| test.to_string()).collect(),
        own: preset.is_own(),
    };
    Variant {
        id: named.name,
        name: named.label,
        summary,
        goal: Some(Goal { column: "perfect", at: 1.0 }),
        sweep_budget,
        about: json(&about),
    }
}

pub(super) fn shows(experiment: &Experiment) -> Shows {
    if experiment.shown() == 3 { Shows::Rgb } else { Shows::Channel }
}
