//! Columns of the backgammon room's runs, with their labels.

use crate::protocol::TimePart;
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "backgammon",
    title: "Backgammon",
    variant_word: "learner",
    iteration_word: "round",
    counters: columns! {
        games: "Games", "Self-play games.", unit("games"), brief("games");
        moves: "Moves", "Moves of self-play.", unit("moves");
        evaluations: "Evaluations", "Boards that a network evaluated for play and training.", unit("evaluations");
        updates: "Updates", "Optimiser steps.", unit("updates");
    },
    metrics: columns! {
        loss: "Loss", "Training loss, mean over the round.", chart("loss"), brief("loss");
        grad_norm: "Gradient norm", "Norm of the gradient before clipping.", chart("grad_norm");
        lr: "Learning rate", "Value at the end of the round.", chart("lr"), log;
        games_per_min: "Games per minute",
            "Self-play games per minute of training, without tests.",
            unit("games/min"), chart("games"), brief("games/min"), rate("games", 60.0);
        evals_per_s: "Evaluations per second",
            "Boards evaluated per second of training, without tests.",
            unit("evaluations/s"), chart("speed"), brief("evals/s"), rate("evaluations", 1.0);
        mean_length: "Moves per game",
            "Mean length of the round's games, counting moves of both players.", unit("moves"), chart("length"), brief("length");
        gammons: "Gammons", "Share of the round's games that ended in a gammon.", chart("gammons"), share;
        backgammons: "Backgammons", "Share of the round's games that ended in a backgammon.", chart("gammons"), share;
    },
    tests: columns! {
        random_points: "Against random moves",
            "Points per game against random legal moves.",
            unit("points"), chart("strength"), brief("random"), lead("points per game against random moves"), spread(&["random_error"]);
        linear_points: "Against Tesauro's pubeval",
            "Points per game against the linear evaluation published by Gerald Tesauro in 1993.",
            unit("points"), chart("strength"), brief("pubeval"), lead("points per game against pubeval"), spread(&["linear_error"]);
        random_error: "Standard error", "Standard error of the points against random moves.", unit("points");
        linear_error: "Standard error", "Standard error of the points against pubeval.", unit("points");
        random_wins: "Wins against random moves", "Share of games won.", share;
        linear_wins: "Wins against pubeval", "Share of games won.", share;
        random_gammons_won: "Gammons won against random moves", "Share of games.", share;
        linear_gammons_won: "Gammons won against pubeval", "Share of games.", share;
        random_gammons_lost: "Gammons lost to random moves", "Share of games.", share;
        linear_gammons_lost: "Gammons lost to pubeval", "Share of games.", share;
        random_games: "Games against random moves", "Number of games per test.", unit("games");
        linear_games: "Games against pubeval", "Number of games per test.", unit("games");
    },
    parts: &[
        TimePart { name: "rules", label: "Rules", help: "Generating and choosing results of rolls." },
        TimePart { name: "inputs", label: "Inputs", help: "Encoding boards for the network." },
        TimePart { name: "network", label: "Network", help: "Evaluating boards." },
        TimePart { name: "tree", label: "Tree", help: "Maintaining the search tree." },
        TimePart { name: "targets", label: "Targets", help: "Computing training targets." },
        TimePart { name: "learning", label: "Learning", help: "Gradients and optimiser steps." },
        TimePart { name: "device", label: "GPU", help: "Waiting for another machine." },
    ],
};
