//! Columns of the control room's runs, with their labels.

use crate::protocol::TimePart;
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "control",
    title: "Control",
    variant_word: "environment",
    iteration_word: "iteration",
    counters: columns! {
        env_steps: "Environment steps", "Total steps of all environments.", unit("steps"), brief("steps");
        episodes: "Episodes", "Finished training episodes.", unit("episodes");
    },
    metrics: columns! {
        mean_return: "Training return", "Mean return of the last 100 finished training episodes.", chart("return"), brief("return");
        mean_length: "Episode length", "Mean length of the last 100 finished training episodes.", unit("steps"), chart("length");
        policy_loss: "Policy loss", "The clipped surrogate objective that updates minimise.", chart("policy_loss");
        value_loss: "Value loss", "Squared error of the critic's estimates.", chart("value_loss");
        entropy: "Entropy", "Randomness of the policy; it falls as the policy commits to actions.", chart("entropy"), brief("entropy");
        approx_kl: "Approx. KL", "Mean KL divergence of the updated policy from the rollout's policy.", chart("approx_kl"), brief("kl");
        clip_fraction: "Clip fraction", "Share of samples at which clipping limited the update.", chart("clip_fraction"), share;
        explained_variance: "Explained variance",
            "Share of the returns' variance that the critic predicts.", chart("explained_variance"), brief("explained");
        grad_norm: "Gradient norm", "Norm of the gradient before clipping.", chart("grad_norm");
        lr: "Learning rate", "Value at the end of the iteration.", chart("lr"), log;
        steps_per_s: "Steps per second",
            "Environment steps per second of training, without tests.",
            unit("steps/s"), chart("speed"), brief("steps/s"), rate("env_steps", 1.0);
    },
    tests: columns! {
        mean_return: "Test return",
            "Mean return of fresh episodes without exploration; not used for training.",
            chart("return"), brief("test"), lead("average of {episodes} test episodes"), spread(&["min_return", "max_return"]);
        min_return: "Minimum test return", "Return of the worst test episode.";
        max_return: "Maximum test return", "Return of the best test episode.";
        episodes: "Test episodes", "Number of episodes per test.", unit("episodes");
    },
    parts: &[
        TimePart { name: "policy", label: "Policy", help: "Evaluating both networks for all environments." },
        TimePart { name: "world", label: "Environments", help: "Stepping the environments." },
        TimePart { name: "advantages", label: "Advantages", help: "Estimating advantages from rewards and values." },
        TimePart { name: "gather", label: "Minibatches", help: "Gathering shuffled samples." },
        TimePart { name: "gradient", label: "Gradients", help: "Loss and gradients of the minibatches." },
        TimePart { name: "update", label: "Update", help: "Steps of the optimiser." },
        TimePart { name: "device", label: "GPU", help: "Whole iterations on a GPU." },
    ],
};
