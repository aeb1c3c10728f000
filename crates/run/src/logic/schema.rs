//! Columns of the logic room's runs, with their labels.

use crate::protocol::TimePart;
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "logic",
    title: "Logic",
    variant_word: "experiment",
    iteration_word: "iteration",
    counters: columns! {
        updates: "Updates", "Optimiser steps of all members.", unit("updates"), brief("updates");
        gate_cells: "Gate evaluations", "Gates times cells times steps in training rollouts.", unit("gate-cells");
        ended: "Runs ended", "Members that became perfect or were restarted.", unit("runs");
        perfect_runs: "Perfect runs", "Members whose cells are all correct.", unit("runs"), brief("perfect");
    },
    metrics: columns! {
        loss: "Soft loss",
            "Training loss: squared error per cell of the soft automaton, mean over the members in training.",
            chart("loss"), log, brief("soft loss");
        hard_loss: "Hard loss",
            "Share of wrong visible bits of the hardened automaton, mean over the members in training.",
            chart("loss"), log, brief("hard loss");
        best: "Best hard loss", "Hard loss of the best member.", chart("loss"), log, brief("best");
        certainty: "Certainty",
            "Weight of the operation to which a gate hardens, mean over the best member's gates.",
            chart("certainty"), share;
        grad_norm: "Gradient norm", "Norm of the gradient before clipping.", chart("grad_norm"), log;
        updates_per_s: "Updates per second",
            "Updates of all members, without tests.", unit("updates/s"), chart("speed"), brief("updates/s"), rate("updates", 1.0);
        gate_cells_per_s: "Gate evaluations per second",
            "Gate evaluations in training rollouts, without tests.", unit("gate-cells/s"), chart("gate_speed"), rate("gate_cells", 1.0);
    },
    tests: columns! {
        perfect: "Correct cells",
            "Share of correct cells of the best member's hardened automaton on new grids; for a rule, on all 512 states of nine \
             cells.", chart("perfect"), share, brief("correct"), lead("share of correct test cells");
        larger: "Correct on a larger grid",
            "Share of correct cells on a larger grid and after more steps than in training, if the task allows it.",
            chart("generalisation"), share, brief("larger");
        damaged: "Correct around damage",
            "Share of correct cells around a block that stays blank.", chart("generalisation"), share;
        healed: "Correct after damage",
            "Share of correct cells after a block was blanked and released.", chart("generalisation"), share, brief("healed");
        long: "Correct in the long run",
            "Mean share of correct cells over thousands of steps, each with a random block blanked.", chart("generalisation"), share;
        success: "Success rate",
            "Share of ended runs that were perfect.", chart("success"), share, brief("success");
        gates: "Gates of the circuit",
            "Gates of the best member's circuit, without duplicate, absorbed and dead gates.",
            unit("gates"), chart("gates"), brief("gates");
    },
    parts: &[
        TimePart { name: "learning", label: "Learning", help: "Rollouts, gradients and optimiser steps." },
        TimePart { name: "hardening", label: "Hardening", help: "Hardening and checking members." },
    ],
};
