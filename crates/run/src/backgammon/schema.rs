//! The numbers of backgammon's runs, and the words for them.

use crate::protocol::Part;
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "backgammon",
    title: "Backgammon",
    variant_word: "learner",
    iteration_word: "round",
    counters: columns! {
        games: "Games", "Games of self-play.", unit("games"), brief("games");
        moves: "Moves", "Decisions played.", unit("moves");
        evaluations: "Evaluations", "Boards that a network valued to play and to learn.", unit("evaluations");
        updates: "Updates", "Steps of the optimiser.", unit("updates");
    },
    metrics: columns! {
        loss: "Loss", "What the updates descend, as a mean over the round.", chart("loss"), brief("loss");
        grad_norm: "Gradient norm", "Length of the gradient before it is clipped.", chart("grad_norm");
        lr: "Learning rate", "In force at the end of the round.", chart("lr"), log;
        games_per_min: "Games a minute",
            "Games of self-play a minute of training, tests left out.",
            unit("games/min"), chart("games"), brief("games/min"), rate("games", 60.0);
        evals_per_s: "Evaluations a second",
            "Boards valued a second of training, tests left out.",
            unit("evaluations/s"), chart("speed"), brief("evals/s"), rate("evaluations", 1.0);
        mean_length: "Moves a game",
            "Mean length of the round's games, in moves of either player.", unit("moves"), chart("length"), brief("length");
        gammons: "Gammons", "Share of the round's games that ended in a gammon.", chart("gammons"), share;
        backgammons: "Backgammons", "Share of the round's games that ended in a backgammon.", chart("gammons"), share;
    },
    tests: columns! {
        random_points: "Against random moves",
            "Points a game against one who plays any legal move.",
            unit("points"), chart("strength"), brief("random"), spread(&["random_error"]);
        linear_points: "Against Tesauro's pubeval",
            "Points a game against the linear evaluation that Gerald Tesauro published in 1993.",
            unit("points"), chart("strength"), brief("pubeval"), spread(&["linear_error"]);
        random_error: "Its standard error", "Of the points against random moves.", unit("points");
        linear_error: "Its standard error", "Of the points against pubeval.", unit("points");
        random_wins: "Wins against random moves", "Share of games won.", share;
        linear_wins: "Wins against pubeval", "Share of games won.", share;
        random_gammons_won: "Gammons won against random moves", "Share of games.", share;
        linear_gammons_won: "Gammons won against pubeval", "Share of games.", share;
        random_gammons_lost: "Gammons lost to random moves", "Share of games.", share;
        linear_gammons_lost: "Gammons lost to pubeval", "Share of games.", share;
        random_games: "Games against random moves", "Games of a test.", unit("games");
        linear_games: "Games against pubeval", "Games of a test.", unit("games");
    },
    parts: &[
        Part { name: "rules", label: "Rules", help: "Finding and choosing results of rolls." },
        Part { name: "inputs", label: "Inputs", help: "What a network reads of a board." },
        Part { name: "network", label: "Network", help: "Valuing boards." },
        Part { name: "tree", label: "Tree", help: "The search's own work." },
        Part { name: "targets", label: "Targets", help: "What is learned towards." },
        Part { name: "learning", label: "Learning", help: "Gradients and steps of the optimiser." },
        Part { name: "device", label: "GPU", help: "Waiting for another machine." },
    ],
};
