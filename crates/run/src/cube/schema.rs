//! The numbers of the cube's runs, and the words for them.

use crate::protocol::{Column, Part};
use crate::room::Schema;

pub(super) static SCHEMA: Schema = Schema {
    id: "cube",
    title: "Cube",
    variant_word: "learner",
    iteration_word: "iteration",
    counters: &[
        Column::new("states", "States", "States learned from: rows of all minibatches.").unit("states").brief("states"),
        Column::new("updates", "Updates", "Steps of the optimiser.").unit("updates"),
        Column::new("moves", "Moves", "Moves made in episodes, of a learner that plays.").unit("moves"),
        Column::new("episodes", "Episodes", "Episodes that ended, of a learner that plays.").unit("episodes"),
    ],
    metrics: &[
        Column::new("loss", "Loss", "What the updates descend, as a mean over the iteration.").chart("loss").log().brief("loss"),
        Column::new("grad_norm", "Gradient norm", "Length of the gradient before it is clipped.").chart("grad_norm"),
        Column::new("lr", "Learning rate", "As a mean over the iteration.").chart("lr").log(),
        Column::new("states_per_s", "States a second", "States learned from a second, tests left out.")
            .unit("states/s")
            .chart("speed")
            .brief("states/s")
            .rate("states", 1.0),
        Column::new("epsilon", "Exploration ε: random moves", "Share of moves that are drawn at random, of a learner that plays.")
            .chart("epsilon")
            .share(),
        Column::new("mean_q", "Mean Q-value", "What the network says of the actions that were learned from, of a learner that plays.")
            .chart("q"),
        Column::new(
            "depth",
            "Curriculum depth: moves of a scramble",
            "How many moves from solved the episodes of a learner that plays begin at most.",
        )
        .unit("moves")
        .chart("depth")
        .brief("depth"),
        Column::new("success", "Episode success", "Share of the iteration's episodes that solved the cube, of a learner that plays.")
            .chart("success")
            .share(),
    ],
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
    let solved = Column::new(
        "solved",
        "Solved greedily",
        "2x2x2: exact share of all 3,674,160 states that are solved by always taking the best action that does not take the last \
         move back. 3x3x3: share of ten scrambles, always the same, that a small beam search solves.",
    )
    .chart("solved")
    .share()
    .brief("solved");
    let mut all = [solved; WHOLE + AT];
    all[1] = Column::new(
        "solved_plain",
        "Solved without memory",
        "2x2x2: the same share where the best action is taken even if it takes the last move back, so that play may go to and fro.",
    )
    .chart("solved")
    .share();
    all[2] = Column::new("optimal", "Solved optimally", "2x2x2: share of all states that are solved greedily with no move too many.")
        .chart("solved")
        .share()
        .brief("optimal");
    all[3] = Column::new(
        "excess",
        "Moves too many",
        "2x2x2: how many more moves than the shortest solution, as a mean over all states that are solved greedily.",
    )
    .unit("moves")
    .chart("length");
    all[4] = Column::new("length", "Solution length", "3x3x3: mean length of the solutions that were found.")
        .unit("moves")
        .chart("length")
        .brief("length");
    let mut i = 0;
    while i < AT {
        all[WHOLE + i] =
            Column::new(NAMES[i].0, NAMES[i].1, "2x2x2: exact share of the states so many moves from solved that are solved greedily.")
                .share();
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
