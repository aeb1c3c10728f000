//! List of the experiments as variants of the room, with their texts.

use super::protocol::{self, Shows};
use crate::plain_data::json;
use crate::protocol::{Goal, Variant};
use learn::logic::experiment::{Config, Experiment, Preset};
use learn::settings::{Choice, Named};

/// Returns the summary of an experiment, the budget of one run in a sweep (in updates), and the descriptions of the tests.
fn words(preset: Preset) -> (&'static str, f64, &'static [&'static str]) {
    match preset {
        Preset::Life => (
            "Learns one step of Conway's Life from examples: a cell and its eight neighbours.",
            2e4,
            &["all 512 states of nine cells", "128x128 cells for 300 steps"],
        ),
        Preset::Checkerboard => (
            "Learns a rule that turns random cells into a checkerboard.",
            4e3,
            &[
                "every cell of 16 new grids, confirmed on 1,000 others",
                "64x64 cells for 80 steps",
                "a block of 20x20 dead cells",
                "healing after the block is released",
            ],
        ),
        Preset::Asynchronous => (
            "A checkerboard with random updates: at each step only some cells change. 10 of 20 members passed the training \
             check within 512 updates.",
            4e3,
            &[
                "every cell of 16 new grids, confirmed on 1,000 others",
                "56x56 cells for 200 steps",
                "healing of a block of 20x20 cells",
                "4,000 steps, each with a random block of 10x10 cells blanked",
            ],
        ),
        Preset::Lizard => (
            "Learns to grow a lizard from one cell, with 128 bits per cell. No run was perfect: at update 3,200 of the \
             published 3,500, two runs had 15 and 35 of 400 cells wrong.",
            8e3,
            &["every cell", "40x40 cells", "healing of a block in the middle"],
        ),
        Preset::ColourG => (
            "Learns to grow a letter in eight colours from the border alone. With the published settings, the default, no run was \
             perfect; with learning rate 0.2 and initial logit 5, 1 of 4 was.",
            8e3,
            &["every cell", "healing of a block in the middle"],
        ),
        Preset::Own => (
            "Learns to grow your drawing from one cell, with the lizard's method and a smaller network. The success rate was not \
             measured.",
            8e3,
            &["every cell", "a grid of twice the size", "healing of a block in the middle"],
        ),
        Preset::Rule => (
            "Learns a rule that you choose, from examples: a cell and its eight neighbours.",
            2e4,
            &["all 512 states of nine cells", "128x128 cells for 300 steps"],
        ),
    }
}

/// Returns the preset with this id; the default preset if the id is unknown.
pub(super) fn preset(id: &str) -> Preset {
    Preset::ALL.iter().copied().find(|preset| preset.id() == id).unwrap_or(Preset::Life)
}

pub(super) fn variants() -> Vec<Variant> {
    Preset::ALL.iter().zip(Preset::OPTIONS).map(|(&preset, named)| variant(preset, named)).collect()
}

fn variant(preset: Preset, named: &Named) -> Variant {
    let (summary, sweep_budget, tests) = words(preset);
    let experiment = Config::preset(preset).experiment().expect("a preset's target is valid");
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
        id: named.name.into(),
        name: named.label.into(),
        summary: summary.into(),
        goal: Some(Goal { column: "perfect", at: 1.0 }),
        sweep_budget,
        about: json(&about),
    }
}

pub(super) fn shows(experiment: &Experiment) -> Shows {
    if experiment.shown() == 3 { Shows::Rgb } else { Shows::Channel }
}
