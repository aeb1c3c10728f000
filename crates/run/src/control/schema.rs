//! The numbers of control's runs, and the words for them.

use crate::protocol::Part;
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "control",
    title: "Control",
    variant_word: "environment",
    iteration_word: "iteration",
    counters: columns! {
        env_steps: "Environment steps", "Steps of all environments together.", unit("steps"), brief("steps");
        episodes: "Episodes", "Episodes that ended while training.", unit("episodes");
    },
    metrics: columns! {
        mean_return: "Training return", "Mean return of the last 100 finished training episodes.", chart("return"), brief("return");
        mean_length: "Episode length", "Mean length of the last 100 finished training episodes.", unit("steps"), chart("length");
        policy_loss: "Policy loss", "The clipped surrogate that the policy descends.", chart("policy_loss");
        value_loss: "Value loss", "Squared error of the critic's estimates.", chart("value_loss");
        entropy: "Entropy", "How undecided the policy is: it falls as the policy commits.", chart("entropy"), brief("entropy");
        approx_kl: "Approx. KL", "How far an update moves the policy.", chart("approx_kl"), brief("kl");
        clip_fraction: "Clip fraction", "Share of samples at which the clip range stopped the policy.", chart("clip_fraction"), share;
        explained_variance: "Explained variance",
            "How much of the returns' variance the critic predicts: 1 is all.", chart("explained_variance"), brief("explained");
        grad_norm: "Gradient norm", "Length of the gradient before it is clipped.", chart("grad_norm");
        lr: "Learning rate", "In force at the end of the iteration.", chart("lr"), log;
        steps_per_s: "Steps a second",
            "Environment steps a second of training, tests left out.",
            unit("steps/s"), chart("speed"), brief("steps/s"), rate("env_steps", 1.0);
    },
    tests: columns! {
        mean_return: "Test return",
            "Mean return of fresh episodes that do not train it, without exploration.",
            chart("return"), brief("test"), spread(&["min_return", "max_return"]);
        min_return: "Least test return", "The worst of a test's episodes.";
        max_return: "Greatest test return", "The best of a test's episodes.";
        episodes: "Test episodes", "Episodes of a test.", unit("episodes");
    },
    parts: &[
        Part { name: "policy", label: "Policy", help: "Both networks on all environments' observations." },
        Part { name: "world", label: "Environments", help: "Stepping the environments." },
        Part { name: "advantages", label: "Advantages", help: "Estimating advantages from rewards and values." },
        Part { name: "gather", label: "Minibatches", help: "Gathering shuffled samples." },
        Part { name: "gradient", label: "Gradients", help: "Loss and gradients of the minibatches." },
        Part { name: "update", label: "Update", help: "Steps of the optimiser." },
        Part { name: "device", label: "GPU", help: "Whole iterations on a GPU." },
    ],
};
