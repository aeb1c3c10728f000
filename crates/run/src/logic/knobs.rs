//! The knobs of the room; see `crate::knobs`.

use crate::knobs::{Access, Table, choice, float, int};
use crate::protocol::{KnobKind, Named};
use crate::{count, number};
use learn::logic::Wiring;
use learn::logic::experiment::{Config, Form, Preset};

const FORMS: [Named; 3] = [
    Named { name: "softmax", label: "Softmax over 16 operations" },
    Named { name: "four", label: "Four parameters" },
    Named { name: "gumbel", label: "Gumbel noise, straight-through" },
];
const FORM_VALUES: [Form; 3] = [Form::Softmax, Form::Four, Form::Gumbel];
const WIRINGS: [Named; 2] =
    [Named { name: "unique", label: "Unique pairs" }, Named { name: "random", label: "Random pairs" }];
const WIRING_VALUES: [Wiring; 2] = [Wiring::Unique, Wiring::Random];

/// A choice between values that stand beside their names.
macro_rules! one_of {
    ($field:ident, $names:ident, $values:ident) => {
        Access::Text(
            |c| $names[$values.iter().position(|v| *v == c.$field).expect("one of them")].name.into(),
            |c, name| {
                let at = $names.iter().position(|option| option.name == name);
                c.$field = $values[at.expect("one of the choices")];
            },
        )
    };
}

pub(super) fn table(preset: Preset) -> Table<Config> {
    let mut table = Table::new(Config::preset(preset), Config::can_become);
    if preset.is_own() {
        let target = Access::Text(|c: &Config| c.target.clone(), |c, text| c.target = text.into());
        table = match preset {
            Preset::Rule => table.with(
                "rule",
                "Rule: what makes a cell on",
                KnobKind::Text { most: 200 },
                "",
                target,
                "With how many of eight neighbours a cell is born and with how many it stays, as in B3/S23, or a table of all 512 \
                 states of nine cells as 128 hexadecimal digits.",
            ),
            _ => table.with(
                "target",
                "Target: the drawing to grow",
                KnobKind::Text { most: 1200 },
                "",
                target,
                "Rows with / between them, 4x4 to 32x32 cells: . and # for off and on, or 1 red, 2 green, 3 yellow, 4 blue, 5 magenta, 6 \
                 cyan, 7 white.",
            ),
        };
    }
    table = table
        .with(
            "population",
            "Population: members side by side",
            int(1.0, 256.0),
            "members",
            count!(population),
            "How many automata learn side by side, each with wires and starts of its own. Training is a lottery of seeds.",
        )
        .with(
            "patience",
            "Patience: updates before a restart",
            int(10.0, 1e6),
            "updates",
            count!(patience),
            "A member whose hard loss has not fallen for so many updates is dead and begins again from another seed.",
        )
        .with(
            "lr",
            "Learning rate",
            float(1e-4, 1.0, true),
            "",
            number!(lr),
            "How far each update moves the gates. Too small and nothing happens; too large and they never settle.",
        )
        .with(
            "gates",
            "Gate form: how gates are parametrised",
            choice(&FORMS),
            "",
            one_of!(form, FORMS, FORM_VALUES),
            "What is learned of a gate: odds of all 16 operations, its four outputs, or odds with noise, of which training takes the \
             operation that is ahead.",
        )
        .with(
            "temperature",
            "Gumbel temperature",
            float(0.05, 10.0, true),
            "",
            number!(temperature),
            "How soft the gradient of noisy gates is. For the Gumbel form alone.",
        )
        .with(
            "wiring",
            "Wiring: what gates read",
            choice(&WIRINGS),
            "",
            one_of!(wiring, WIRINGS, WIRING_VALUES),
            "How the inputs of gates are paired: all pairs different, neighbours first, or at random.",
        )
        .with(
            "init",
            "Initial logit: how firmly gates pass",
            float(0.5, 20.0, true),
            "",
            number!(init),
            "Every gate begins by passing on its first input. The smaller this is, the sooner gates become something else.",
        )
        .with(
            "batch",
            "Minibatch: grids an update",
            int(1.0, 256.0),
            "grids",
            count!(batch),
            "How many grids each update of a member learns from.",
        );
    if preset.is_rule() {
        table = table.with(
            "hard_share",
            "Hard examples: share of the batch",
            float(0.0, 1.0, false),
            "",
            number!(hard_share),
            "How much of a batch is drawn from what the hardened automaton got wrong when it was tested last; the rest is any.",
        );
    } else {
        table = table
            .with(
                "steps",
                "Rollout: steps of a grid",
                int(1.0, 200.0),
                "steps",
                count!(steps),
                "How many steps a grid has to become the target.",
            )
            .with(
                "fire_rate",
                "Fire rate: share of cells that update",
                float(0.1, 1.0, false),
                "",
                number!(fire_rate),
                "How likely a cell takes its next state in a step. Below 1 cells update asynchronously.",
            );
    }
    if let Some(side) = preset.board() {
        table = table.with(
            "side",
            "Training grid: cells along a side",
            KnobKind::Int { min: 4.0, max: side as f64, log: false },
            "cells",
            count!(side),
            "A smaller checkerboard is learned sooner, in as many fewer steps. It is tested on the whole one all the same.",
        );
    }
    table
        .with(
            "updates",
            "Updates an iteration",
            int(1.0, 10_000.0),
            "updates",
            count!(updates),
            "Updates of each member before all are hardened and tested and take up new knobs.",
        )
        .with(
            "beta2",
            "Adam β₂: memory of the squared gradient",
            float(0.5, 0.9999, false),
            "",
            number!(beta2),
            "How slowly the optimiser forgets how large gradients were.",
        )
        .with(
            "weight_decay",
            "Weight decay",
            float(0.0, 1.0, false),
            "",
            number!(weight_decay),
            "How much each update shrinks the parameters of gates, times the learning rate.",
        )
}
