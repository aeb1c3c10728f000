//! Tests of `--device`: training on the GPU and on the CPU.

use crate::common::*;
use serde_json::Value;

/// Returns a command that trains the control room with the knobs of [`SMALL`].
fn control() -> String {
    format!("train {SMALL}")
}

/// Returns a command that trains the published backgammon learner in short rounds. This learner can use a GPU.
fn published() -> String {
    format!("train backgammon --learner published --seed 3 {SMALL_PUBLISHED}")
}

/// Trains on the GPU up to the total `first` of the room's counter, then on the CPU up to `second`. Returns the records of the GPU process
/// and the summary of the CPU process.
#[track_caller]
fn on_both(train: &str, [first, second]: [u64; 2], counter: &str) -> (Vec<Value>, Value) {
    let scratch = Scratch::new();
    let log = scratch.records(format!("{train} --device gpu --steps {first} --save run.safetensors"));
    let device = of_kind(&log, "device")[0];
    assert_eq!((&device["wish"], &device["on_gpu"]), (&"gpu".into(), &true.into()), "{device}");
    let on_gpu = summary(&log);
    assert_eq!((&on_gpu["device"], &on_gpu["arithmetic"]), (&device["gpu"], &"gpu".into()));
    let back = scratch.summary(format!("resume run.safetensors --device cpu --steps {second}"));
    assert_eq!((&back["arithmetic"], &back["device"]), (&"mixed".into(), &Value::Null));
    for (done, least, device) in [(on_gpu, first, "gpu"), (&back, second, "cpu")] {
        assert!(done["progress"][counter].as_u64() >= Some(least), "{done}");
        assert!(done["resume"].as_str().unwrap().ends_with(&format!("--device {device}")), "{done}");
    }
    (log, back)
}

#[test]
fn control_trains_on_the_gpu_and_continues_on_the_cpu() {
    let (log, back) = on_both(&control(), [3, 5].map(|iterations| iterations * ITERATION_STEPS), "env_steps");
    for (done, iterations) in [(summary(&log), 3), (&back, 5)] {
        let progress = &done["progress"];
        assert_eq!(progress["iteration"], iterations);
        assert_eq!(progress["env_steps"], iterations * ITERATION_STEPS);
    }
    for metrics in of_kind(&log, "metrics") {
        assert!(metrics["shares"]["device"].as_f64().unwrap() > 0.0, "the GPU has a share of the time: {metrics}");
        assert!(metrics["mean_return"].as_f64().unwrap() > 8.0);
    }
    assert!(back["test"]["mean_return"].as_f64().unwrap() > 8.0);
}

#[test]
#[ignore = "all: offloaded_rounds_match_the_processor_and_survive_device_loss"]
fn published_learner_trains_on_the_gpu_and_continues_on_the_cpu() {
    let (log, _) = on_both(&published(), [12, 24], "games");
    let metrics = of_kind(&log, "metrics");
    assert!(metrics.iter().any(|metrics| metrics["loss"].as_f64().unwrap() > 0.0), "it learned: {metrics:?}");
    // In the first round, the GPU is still being prepared.
    for metrics in &metrics[1..] {
        assert!(metrics["shares"]["device"].as_f64().unwrap() > 0.1, "the GPU has a share of the time: {metrics}");
    }
}

#[test]
fn without_a_gpu_the_cpu_trains_with_a_warning() {
    for train in [format!("{} --steps {}", control(), 3 * ITERATION_STEPS), format!("{} --steps 12", published())] {
        let scratch = Scratch::new();
        // The path does not exist, so the loader of the system finds no GPU driver.
        let nowhere = scratch.path("no-driver.json");
        let mut command = scratch.hothouse(format!("{train} --device gpu --json"));
        let output = command.env("VK_DRIVER_FILES", &nowhere).env("VK_ICD_FILENAMES", &nowhere).output();
        let log = records(&expect_success(&train, &output.unwrap()));
        let device = of_kind(&log, "device")[0];
        assert_eq!((&device["on_gpu"], &device["gpu"]), (&false.into(), &Value::Null), "{device}");
        let notice = of_kind(&log, "notice")[0];
        assert_eq!(notice["level"], "warning");
        assert!(notice["text"].as_str().unwrap().contains("No GPU is available"), "{notice}");
        assert!(notice["next_step"].as_str().unwrap().contains("driver"), "{notice}");
        let on_cpu = scratch.summary(format!("{train} --device cpu"));
        assert_eq!(summary(&log)["digest"], on_cpu["digest"], "the same run as with --device cpu");
    }
}

#[test]
fn a_run_too_large_for_the_gpu_stays_on_the_cpu() {
    let scratch = Scratch::new();
    // This iteration has the maximum number of steps. Its layers have more than 4 GB of activations.
    let wide = "--set envs=65536 --set rollout_steps=64 --set hidden=512 --set minibatches=1";
    let log = scratch.spawn(format!("train --device gpu --steps 1e15 --json {wide}")).read_until("notice");
    let notice = log.last().unwrap();
    assert!(notice["text"].as_str().unwrap().contains("bytes"), "{notice}");
    assert!(notice["next_step"].as_str().unwrap().contains("fewer environments"), "{notice}");
}
