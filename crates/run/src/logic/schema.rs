//! The numbers of the room's runs, and the words for them.

use crate::protocol::Part;
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "logic",
    title: "Logic",
    variant_word: "experiment",
    iteration_word: "iteration",
    counters: columns! {
        updates: "Updates", "Steps of the optimiser, of all members together.", unit("updates"), brief("updates");
        gate_cells: "Gate evaluations", "Gates times cells times steps, in rollouts of training.", unit("gate-cells");
        ended: "Runs ended", "Members that became perfect, or died and began again.", unit("runs");
        perfect_runs: "Perfect runs", "Members that learned every cell.", unit("runs"), brief("perfect");
    },
    metrics: columns! {
        loss: "Soft loss",
            "Squared error a cell of the soft automaton, which the updates descend, as a mean over the members that learn.",
            chart("loss"), log, brief("soft loss");
        hard_loss: "Hard loss",
            "The same of the hardened automaton, which is the share of what it gets wrong, as a mean over the members that learn.",
            chart("loss"), log, brief("hard loss");
        best: "Best hard loss", "Of the member that gets the least wrong.", chart("loss"), log, brief("best");
        certainty: "Certainty",
            "How much of a gate is the operation that it hardens to, as a mean over the best member's gates.",
            chart("certainty"), share;
        grad_norm: "Gradient norm", "Length of the gradient before it is clipped.", chart("grad_norm"), log;
        updates_per_s: "Updates a second",
            "Of all members together, tests left out.", unit("updates/s"), chart("speed"), brief("updates/s"), rate("updates", 1.0);
        gate_cells_per_s: "Gate evaluations a second",
            "In rollouts of training, tests left out.", unit("gate-cells/s"), chart("gate_speed"), rate("gate_cells", 1.0);
    },
    tests: columns! {
        perfect: "Cells right",
            "Share of the cells of fresh grids that the best member's hardened automaton gets right; of a rule, of all 512 states of \
             nine cells.", chart("perfect"), share, brief("right");
        larger: "Right on a larger grid",
            "On a larger grid than in training, where it can be, and longer.", chart("generalisation"), share, brief("larger");
        damaged: "Right around damage",
            "Share of the cells around a block that is held blank all the time.", chart("generalisation"), share;
        healed: "Right after damage",
            "Share of all cells after a block was blanked and let free.", chart("generalisation"), share, brief("healed");
        long: "Right in the long run",
            "Mean share over thousands of steps, each of which blanks a block somewhere.", chart("generalisation"), share;
        success: "Success rate",
            "Share of the members' runs that ended perfect, of all that ended.", chart("success"), share, brief("success");
        gates: "Gates of the circuit", "Of the best member's, pruned.", unit("gates"), chart("gates"), brief("gates");
    },
    parts: &[
        Part { name: "learning", label: "Learning", help: "Rollouts, gradients and steps of the optimiser." },
        Part { name: "hardening", label: "Hardening", help: "Hardening members, and testing what they have become." },
    ],
};
