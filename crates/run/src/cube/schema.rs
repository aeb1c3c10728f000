//! The numbers of the cube's runs, and the words for them.

use crate::protocol::{Column, Part};
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "cube",
    title: "Cube",
    variant_word: "learner",
    iteration_word: "iteration",
    counters: columns! {
        states: "States", "States learned from: rows of all minibatches.", unit("states"), brief("states");
        updates: "Updates", "Steps of the optimiser.", unit("updates");
        moves: "Moves", "Moves made in episodes, of a learner that plays.", unit("moves");
        episodes: "Episodes", "Episodes that ended, of a learner that plays.", unit("episodes");
    },
    metrics: columns! {
        loss: "Loss", "What the updates descend, as a mean over the iteration.", chart("loss"), log, brief("loss");
        grad_norm: "Gradient norm", "Length of the gradient before it is clipped.", chart("grad_norm");
        lr: "Learning rate", "As a mean over the iteration.", chart("lr"), log;
        states_per_s: "States a second",
            "States learned from a second, tests left out.", unit("states/s"), chart("speed"), brief("states/s"), rate("states", 1.0);
        epsilon: "Exploration ε: random moves",
            "Share of moves that are drawn at random, of a learner that plays.", chart("epsilon"), share;
        mean_q: "Mean Q-value", "What the network says of the actions that were learned from, of a learner that plays.", chart("q");
        depth: "Curriculum depth: moves of a scramble",
            "How many moves from solved the episodes of a learner that plays begin at most.",
            unit("moves"), chart("depth"), brief("depth");
        success: "Episode success",
            "Share of the iteration's episodes that solved the cube, of a learner that plays.", chart("success"), share;
    },
    tests: &TESTS,
    parts: &[
        Part { name: "samples", label: "Samples", help: "Drawing labelled states." },
        Part { name: "playing", label: "Playing", help: "Episodes, and choosing actions in them." },
        Part { name: "replay", label: "Replay", help: "Sampling transitions to learn from." },
        Part { name: "learning", label: "Learning", help: "Gradients and steps of the optimiser." },
    ],
};

/// Columns before those by distance.
const WHOLE: usize = 5;

/// Distances that have a column: those of the quarter-turn metric but 0.
const AT: usize = 14;

static TESTS: [Column; WHOLE + AT] = {
    let whole: &[Column; WHOLE] = columns! {
        solved: "Solved greedily",
            "2x2x2: exact share of all 3,674,160 states that are solved by always taking the best action that does not take the last \
             move back. 3x3x3: share of ten scrambles, always the same, that a small beam search solves.",
            chart("solved"), share, brief("solved");
        solved_plain: "Solved without memory",
            "2x2x2: the same share where the best action is taken even if it takes the last move back, so that play may go to and fro.",
            chart("solved"), share;
        optimal: "Solved optimally",
            "2x2x2: share of all states that are solved greedily with no move too many.", chart("solved"), share, brief("optimal");
        excess: "Moves too many",
            "2x2x2: how many more moves than the shortest solution, as a mean over all states that are solved greedily.",
            unit("moves"), chart("length");
        length: "Solution length",
            "3x3x3: mean length of the solutions that were found.", unit("moves"), chart("length"), brief("length");
    };
    let mut all = [whole[0]; WHOLE + AT];
    let mut i = 1;
    while i < WHOLE {
        all[i] = whole[i];
        i += 1;
    }
    while i < WHOLE + AT {
        let (name, label) = NAMES[i - WHOLE];
        all[i] = Column::new(name, label, "2x2x2: exact share of the states so many moves from solved that are solved greedily.").share();
        i += 1;
    }
    all
};

macro_rules! by_distance {
    ($($distance:literal)*) => {
        [$((concat!("at_", $distance), concat!("Solved at distance ", $distance))),*]
    };
}

/// Of those by distance, from 1 on: column and label.
pub(super) const NAMES: [(&str, &str); AT] = by_distance!(1 2 3 4 5 6 7 8 9 10 11 12 13 14);
