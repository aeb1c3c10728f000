//! The device that trains: a GPU, where there is one and the learner has a use for it, or the processor.

use crate::common::*;
use serde_json::Value;

/// Control with knobs that are quick.
fn control() -> String {
    format!("train {SMALL}")
}

/// The learner of backgammon that can use a GPU, with rounds that are quick.
fn published() -> String {
    format!("train backgammon --learner published --seed 3 {SMALL_PUBLISHED}")
}

/// Trains so much on the GPU, and on the processor up to the second budget; gives what the first told, and the second's summary.
#[track_caller]
fn on_both(train: &str, [first, second]: [u64; 2], counter: &str) -> (Vec<Value>, Value) {
    let scratch = Scratch::new();
    let told = scratch.records(format!("{train} --device gpu --steps {first} --save run.safetensors"));
    let device = of_kind(&told, "device")[0];
    assert_eq!((&device["wish"], &device["on_gpu"]), (&"gpu".into(), &true.into()), "{device}");
    let on_gpu = summary(&told);
    assert_eq!((&on_gpu["device"], &on_gpu["arithmetic"]), (&device["gpu"], &"gpu".into()));
    let back = scratch.summary(format!("resume run.safetensors --device cpu --steps {second}"));
    assert_eq!((&back["arithmetic"], &back["device"]), (&"mixed".into(), &Value::Null));
    for (done, least, device) in [(on_gpu, first, "gpu"), (&back, second, "cpu")] {
        assert!(done["progress"][counter].as_u64() >= Some(least), "{done}");
        assert!(done["resume"].as_str().unwrap().ends_with(&format!("--device {device}")), "{done}");
    }
    (told, back)
}

#[test]
fn a_run_trains_on_the_gpu_and_goes_on_on_the_processor() {
    let (told, back) = on_both(&control(), [3, 5].map(|iterations| iterations * ITERATION_STEPS), "env_steps");
    for (done, iterations) in [(summary(&told), 3), (&back, 5)] {
        let progress = &done["progress"];
        assert_eq!(progress["iteration"], iterations);
        assert_eq!(progress["env_steps"], iterations * ITERATION_STEPS);
    }
    for metrics in of_kind(&told, "metrics") {
        assert!(metrics["shares"]["device"].as_f64().unwrap() > 0.0, "the GPU took its time: {metrics}");
        assert!(metrics["mean_return"].as_f64().unwrap() > 8.0);
    }
    assert!(back["test"]["mean_return"].as_f64().unwrap() > 8.0);
}

#[test]
fn the_published_learner_trains_on_the_gpu_and_goes_on_on_the_processor() {
    let (told, _) = on_both(&published(), [12, 24], "games");
    let metrics = of_kind(&told, "metrics");
    assert!(metrics.iter().any(|metrics| metrics["loss"].as_f64().unwrap() > 0.0), "it learned: {metrics:?}");
    // In the first round it gets ready.
    for metrics in &metrics[1..] {
        assert!(metrics["shares"]["device"].as_f64().unwrap() > 0.1, "the GPU took its time: {metrics}");
    }
}

#[test]
fn without_a_gpu_the_processor_trains_and_says_so() {
    for train in [format!("{} --steps {}", control(), 3 * ITERATION_STEPS), format!("{} --steps 12", published())] {
        let scratch = Scratch::new();
        // The system's loader finds no driver.
        let nowhere = scratch.path("no-driver.json");
        let mut asked = scratch.hothouse(format!("{train} --device gpu --json"));
        let output = asked.env("VK_DRIVER_FILES", &nowhere).env("VK_ICD_FILENAMES", &nowhere).output();
        let told = records(&good(&train, &output.unwrap()));
        let device = of_kind(&told, "device")[0];
        assert_eq!((&device["on_gpu"], &device["gpu"]), (&false.into(), &Value::Null), "{device}");
        let notice = of_kind(&told, "notice")[0];
        assert_eq!(notice["level"], "warning");
        assert!(notice["text"].as_str().unwrap().contains("no GPU"), "{notice}");
        assert!(notice["next_step"].as_str().unwrap().contains("driver"), "{notice}");
        let at_home = scratch.summary(format!("{train} --device cpu"));
        assert_eq!(summary(&told)["digest"], at_home["digest"], "the same run as ever");
    }
}

#[test]
fn a_run_too_large_for_the_gpu_stays_on_the_processor() {
    let scratch = Scratch::new();
    // As much as an iteration can hold, with layers so wide that their numbers pass 4 GB.
    let wide = "--set envs=65536 --set rollout_steps=64 --set hidden=512 --set minibatches=1";
    let told = scratch.spawn(format!("train --device gpu --steps 1e15 --json {wide}")).read_until("notice");
    let notice = told.last().unwrap();
    assert!(notice["text"].as_str().unwrap().contains("bytes"), "{notice}");
    assert!(notice["next_step"].as_str().unwrap().contains("fewer environments"), "{notice}");
}
