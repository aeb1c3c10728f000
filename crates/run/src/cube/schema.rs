//! Columns of the cube room's runs, with their labels.

use crate::protocol::{Column, TimePart};
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "cube",
    title: "Cube",
    variant_word: "learner",
    iteration_word: "iteration",
    counters: columns! {
        states: "States", "States used for training: rows of all minibatches.", unit("states"), brief("states");
        updates: "Updates", "Optimiser steps.", unit("updates");
        moves: "Moves", "Moves in training episodes (deep Q only).", unit("moves");
        episodes: "Episodes", "Finished training episodes (deep Q only).", unit("episodes");
    },
    metrics: columns! {
        loss: "Loss", "Training loss, mean over the iteration.", chart("loss"), log, brief("loss");
        grad_norm: "Gradient norm", "Norm of the gradient before clipping.", chart("grad_norm");
        lr: "Learning rate", "Mean over the iteration.", chart("lr"), log;
        states_per_s: "States per second",
            "Training states per second, without tests.", unit("states/s"), chart("speed"), brief("states/s"), rate("states", 1.0);
        epsilon: "Exploration ε: random moves",
            "Share of random moves (deep Q only).", chart("epsilon"), share;
        mean_q: "Mean Q-value", "Mean predicted value of the trained actions (deep Q only).", chart("q");
        depth: "Curriculum depth: moves of a scramble",
            "Maximum scramble length of training episodes (deep Q only).",
            unit("moves"), chart("depth"), brief("depth");
        success: "Episode success",
            "Share of the iteration's episodes that solved the cube (deep Q only).", chart("success"), share;
    },
    tests: &TESTS,
    parts: &[
        TimePart { name: "samples", label: "Samples", help: "Drawing labelled states." },
        TimePart { name: "playing", label: "Playing", help: "Episodes, and choosing actions in them." },
        TimePart { name: "replay", label: "Replay", help: "Sampling transitions." },
        TimePart { name: "learning", label: "Learning", help: "Gradients and optimiser steps." },
    ],
};

/// Number of test columns before the columns for single distances.
const WHOLE: usize = 5;

/// Number of columns for single distances: one for each distance in the quarter-turn metric, except 0.
const AT: usize = 14;

static TESTS: [Column; WHOLE + AT] = {
    let whole: &[Column; WHOLE] = columns! {
        solved: "Solved greedily",
            "2x2x2: exact share of all 3,674,160 states that greedy play solves: always the best action that does not undo the last \
             move. 3x3x3: share of ten fixed scrambles that a small beam search solves.",
            chart("solved"), share, brief("solved"), lead("share of test states solved");
        solved_plain: "Solved without memory",
            "2x2x2: the same share if play may undo the last move, and so may repeat states.",
            chart("solved"), share;
        optimal: "Solved optimally",
            "2x2x2: share of all states that greedy play solves in the fewest moves.", chart("solved"), share, brief("optimal");
        excess: "Extra moves",
            "2x2x2: moves beyond the shortest solution, mean over all states that greedy play solves.",
            unit("moves"), chart("length");
        length: "Solution length",
            "3x3x3: mean length of the solutions found.", unit("moves"), chart("length"), brief("length");
    };
    let mut all = [whole[0]; WHOLE + AT];
    let mut i = 1;
    while i < WHOLE {
        all[i] = whole[i];
        i += 1;
    }
    while i < WHOLE + AT {
        let (name, label) = NAMES[i - WHOLE];
        all[i] = Column::new(name, label, "2x2x2: exact share of the states at this distance that greedy play solves.").share();
        i += 1;
    }
    all
};

macro_rules! by_distance {
    ($($distance:literal)*) => {
        [$((concat!("at_", $distance), concat!("Solved at distance ", $distance))),*]
    };
}

/// Names and labels of the test columns for single distances. The first is for distance 1.
pub(super) const NAMES: [(&str, &str); AT] = by_distance!(1 2 3 4 5 6 7 8 9 10 11 12 13 14);
