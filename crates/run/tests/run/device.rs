//! Tests of training on another machine, which this CPU simulates. The results must equal those of the CPU bit for bit. The conformance
//! suite of `learn` tests how each learner offloads its steps. These tests cover the run: when it changes the device, which events it
//! reports, how it saves and restores during offloading, and which offloading option it chooses.

mod twin;

use crate::common::*;
use learn::Fault;
use run::protocol::{Command, Config, Device, DeviceWish, Event, Level};
use run::{AnyRun, DIGEST_EVERY};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use twin::{CPU_SLICE_S, Twin};

/// Rooms whose work can be offloaded, each with live knobs that change the training.
const ROOMS: [(&str, &[(&str, f64)]); 4] = [
    ("control", &[("clip_value", 1.0), ("lr", 0.001)]),
    ("backgammon", &[("lr", 0.003), ("value_coef", 0.25), ("passes", 2.0)]),
    ("cube", &[("lr", 1e-4)]),
    ("logic", &[("lr", 0.01)]),
];

fn config(room: &str) -> Config {
    let variant = match room {
        "control" => "CartPole-v1",
        "backgammon" => "published",
        "cube" => "2x2x2",
        _ => "life",
    };
    let config = small(room, variant, 5);
    match room {
        "backgammon" => with(config, "tables=3 batch=32 evals=4 round_batches=24 replay=300 minibatch=64"),
        _ => config,
    }
}

/// Outcome of a run: the room's counters, for example games, and the digest of the weights.
type Outcome = (Vec<f64>, String);

/// Returns the outcome of a room's run after `iterations` iterations on the CPU.
fn cpu_outcome(room: &str, iterations: u32) -> Outcome {
    type Cache = BTreeMap<String, (TestRun, Vec<Outcome>)>;
    static CACHE: Mutex<Cache> = Mutex::new(BTreeMap::new());
    let mut cache = CACHE.lock().unwrap();
    let (home, outcomes) = cache.entry(room.into()).or_insert_with(|| (TestRun::new(&config(room), DeviceWish::Cpu), Vec::new()));
    while outcomes.len() < iterations as usize {
        home.to(outcomes.len() as u32 + 1);
        outcomes.push(home.outcome());
    }
    outcomes[iterations as usize - 1].clone()
}

/// A run with its simulated clock and its events so far.
struct TestRun {
    run: Box<dyn AnyRun>,
    now_s: f64,
    /// Duration of the next slice in seconds.
    slice_s: Box<dyn Fn() -> f64 + Send>,
    events: Vec<Event>,
}

impl TestRun {
    fn of(run: Box<dyn AnyRun>, wish: DeviceWish) -> Self {
        let mut run = Self { run, now_s: 0.0, slice_s: Box::new(|| CPU_SLICE_S), events: Vec::new() };
        run.wish(wish);
        run.run.command(Command::Start).unwrap();
        run
    }

    fn new(config: &Config, wish: DeviceWish) -> Self {
        Self::of(begin(config), wish)
    }

    fn restored(bytes: &[u8], wish: DeviceWish) -> Self {
        Self::of(run::restore(bytes, host()).unwrap(), wish)
    }

    /// Creates a run to which the machine `twin` is offered before the first slice.
    fn with(room: &str, twin: &Twin, wish: DeviceWish) -> Self {
        let mut run = Self::new(&config(room), wish);
        run.offer(twin);
        run
    }

    fn wish(&mut self, wish: DeviceWish) {
        self.run.command(Command::Device { wish }).unwrap();
    }

    fn offer(&mut self, twin: &Twin) {
        assert!(self.run.wants_machine());
        let clock = twin.clone();
        self.slice_s = Box::new(move || clock.slice_s());
        self.run.offer(twin.boxed());
        assert!(!self.run.wants_machine());
    }

    #[track_caller]
    fn slice(&mut self) {
        assert!(self.run.advance(self.now_s));
        self.now_s += (self.slice_s)();
        self.events.extend(self.run.events());
    }

    fn slices(&mut self, count: u32) {
        (0..count).for_each(|_| self.slice());
    }

    #[track_caller]
    fn until(&mut self, done: impl Fn(&Self) -> bool) -> &mut Self {
        for _ in 0..200_000 {
            if done(self) {
                return self;
            }
            self.slice();
        }
        panic!("the condition was never true: {:?}", self.devices());
    }

    #[track_caller]
    fn to(&mut self, iteration: u32) -> &mut Self {
        self.until(|run| run.iteration() >= iteration && run.run.at_boundary());
        assert_eq!(self.iteration(), iteration);
        self
    }

    /// Advances the run until it reports a device. Returns this report.
    #[track_caller]
    fn until_device(&mut self) -> Device {
        self.until(|run| !run.devices().is_empty());
        self.devices()[0].clone()
    }

    fn save(&mut self) -> Vec<u8> {
        let bytes = self.run.save().unwrap();
        self.events.extend(self.run.events());
        bytes
    }

    fn iteration(&self) -> u32 {
        self.run.progress().iteration
    }

    fn devices(&self) -> Vec<&Device> {
        self.events.iter().filter_map(|event| if let Event::Device(device) = event { Some(device) } else { None }).collect()
    }

    fn is_offloaded(&self) -> bool {
        self.devices().last().unwrap().on_gpu
    }

    fn warnings(&self) -> Vec<(&str, &str)> {
        fn warning(event: &Event) -> Option<(&str, &str)> {
            match event {
                Event::Notice { level: Level::Warning, text, next_step } => Some((text, next_step)),
                _ => None,
            }
        }
        self.events.iter().filter_map(warning).collect()
    }

    /// Returns the only warning of a run that requests the GPU. For an automatic choice, asserts that there is no warning and returns
    /// `None`.
    #[track_caller]
    fn warned(&self, wish: DeviceWish) -> Option<(&str, &str)> {
        match (wish, &self.warnings()[..]) {
            (DeviceWish::Gpu, &[warning]) => Some(warning),
            (DeviceWish::Auto, []) => None,
            (_, warnings) => panic!("{wish:?}: {warnings:?}"),
        }
    }

    fn outcome(&self) -> Outcome {
        (self.run.progress().counts, self.run.digest().weights)
    }

    fn arithmetic(&self) -> String {
        self.run.digest().arithmetic
    }

    /// Asserts that the run equals the run on the CPU at each of the next three boundaries.
    #[track_caller]
    fn assert_equals_cpu_run(&mut self) {
        let (room, iteration) = (self.run.config().room.clone(), self.iteration());
        // The first comparison covers only the weights. The later comparisons also detect differences in games, samples and optimizer
        // moments, because these affect the weights.
        for iteration in iteration + 1..=iteration + 3 {
            self.to(iteration);
            assert_eq!(self.outcome(), cpu_outcome(&room, iteration), "{room} after {iteration}");
        }
    }
}

#[test]
fn offloaded_run_equals_processor_run_after_its_return() {
    let (cpu, gpu) = (DeviceWish::Cpu, DeviceWish::Gpu);
    for (room, knobs) in ROOMS {
        let (mut home, mut away) = (TestRun::new(&config(room), cpu), TestRun::new(&config(room), cpu));
        assert!(!away.run.wants_machine());
        away.to(1).wish(gpu);
        away.to(2);
        assert!(away.run.wants_machine(), "the run wants no machine");
        let twin = Twin::new();
        away.offer(&twin);
        assert_eq!(away.to(3).outcome(), home.to(3).outcome(), "{room}");
        // On both devices, a knob that changes during an iteration takes effect in the next iteration.
        for run in [&mut home, &mut away] {
            run.slice();
            knobs.iter().for_each(|&(name, value)| run.run.command(set(name, value)).unwrap());
            run.to(7);
        }
        assert_eq!(away.outcome(), home.outcome(), "{room}");
        assert_ne!(away.outcome(), cpu_outcome(room, 7), "{room}");
        away.wish(cpu);
        let bytes = away.to(8).save();
        let mut resumed = TestRun::restored(&bytes, cpu);
        home.to(10);
        for run in [&mut away, &mut resumed] {
            assert_eq!(run.to(10).outcome(), home.outcome(), "{room}");
        }
        assert!(!twin.is_active(0) && !twin.is_active(1));
        assert_eq!(away.arithmetic(), "mixed");
        let on_gpu: Vec<_> = away.devices().iter().map(|d| (d.wish, d.on_gpu, d.rates)).collect();
        assert_eq!(on_gpu, [(cpu, false, None), (gpu, true, None), (cpu, false, None)]);
        assert!(away.warnings().is_empty());
        if room == "backgammon" {
            assert_eq!(twin.started(), [0, 1], "an explicit choice offloads everything");
        }
    }
}

#[test]
fn frames_and_metrics_of_offloaded_training_are_shown() {
    let seen = |wish| {
        let mut run = TestRun::new(&config("control"), wish);
        if wish == DeviceWish::Gpu {
            run.offer(&Twin::new());
        }
        value(&mut *run.run, json!({ "ask": "frame" }));
        run.to(5);
        let frame = value(&mut *run.run, json!({ "ask": "frame" }));
        assert_eq!(frame["steps"], 5 * 16);
        let at = run.run.schema().metric("explained_variance").unwrap();
        let explained = |event: &Event| if let Event::Metrics(row) = event { row.values[at] } else { None };
        let explained: Vec<f64> = run.events.iter().filter_map(explained).collect();
        (frame, explained, run.run.test().unwrap().values)
    };
    assert!(seen(DeviceWish::Gpu) == seen(DeviceWish::Cpu));
}

/// In the cube room, the other machine evaluates the states of the test.
#[test]
fn tests_measure_the_weights_of_their_iteration() {
    // In the cube room, these knobs make a test due after the first iteration.
    for (config, is_judged) in [(config("control"), false), (with(config("cube"), "batch=8192 updates=48 inputs=stickers"), true)] {
        let twin = Twin::new();
        let tested = |wish| {
            let mut run = TestRun::new(&config, wish);
            if wish == DeviceWish::Gpu {
                run.offer(&twin);
            }
            let test = |event: &Event| if let Event::Test(row) = event { Some((row.progress.iteration, row.values.clone())) } else { None };
            run.until(|run| run.events.iter().any(|event| test(event).is_some()));
            run.events.iter().find_map(test)
        };
        assert_eq!(tested(DeviceWish::Gpu), tested(DeviceWish::Cpu), "{}", config.room);
        assert_eq!(twin.evaluators.load(Relaxed) > 0, is_judged);
    }
}

#[test]
fn offloaded_save_resumes_on_the_processor() {
    for (room, slices) in [("control", 1), ("backgammon", 9)] {
        let mut run = TestRun::with(room, &Twin::new(), DeviceWish::Gpu);
        run.to(3);
        assert_eq!(run.arithmetic(), "gpu");
        run.slices(slices);
        assert!(!run.run.at_boundary(), "the run is at a boundary");
        let bytes = run.save();
        assert_eq!(run.iteration(), 4);
        let mut resumed = TestRun::restored(&bytes, DeviceWish::Cpu);
        assert_eq!(resumed.arithmetic(), "gpu");
        assert_eq!(resumed.to(5).arithmetic(), "mixed");
        resumed.assert_equals_cpu_run();

        // The run also saves by commands within an iteration, and makes a single step.
        run.run.command(Command::Save).unwrap();
        run.slices(slices);
        run.run.command(Command::Save).unwrap();
        run.run.command(Command::Step).unwrap();
        run.until(|run| run.events.iter().filter(|event| matches!(event, Event::Saved { .. })).count() == 2);
        run.to(5);
        assert!(!run.run.running() && !run.run.advance(run.now_s));
        run.run.command(Command::Start).unwrap();
        run.assert_equals_cpu_run();
    }
}

#[test]
fn lost_machine_loses_no_work() {
    let more: &[_] = if testkit::all() { &[("backgammon", 30), ("backgammon", 250)] } else { &[] };
    for &(room, calls_left) in [("control", 2), ("backgammon", 4), ("backgammon", 101), ("backgammon", 444)].iter().chain(more) {
        let mut run = TestRun::with(room, &Twin::lost_after(calls_left), DeviceWish::Gpu);
        run.until(|run| !run.warnings().is_empty());
        let [(text, next_step)] = run.warnings()[..] else { panic!("{:?}", run.warnings()) };
        assert!(text.contains("lost") && text.contains("disconnected"), "{text}");
        assert!(next_step.contains("choose the GPU again"), "{next_step}");
        assert!(!run.is_offloaded() && !run.run.wants_machine());
        let iteration = run.iteration() + 1;
        assert_eq!(run.to(iteration).arithmetic(), "mixed", "no part was offloaded");
        // The machine is available again.
        run.wish(DeviceWish::Gpu);
        run.offer(&Twin::new());
        assert!(run.to(iteration + 1).is_offloaded());
        run.assert_equals_cpu_run();
    }
}

#[test]
fn device_faults_are_reported_as_reason() {
    let faults = [Fault::OutOfMemory, Fault::TooSmall { needs: 9, has: 8 }, Fault::NoAdapter { why: "none".into() }];
    let cases = ["control", "backgammon"].into_iter().flat_map(|room| faults.iter().map(move |fault| (room, fault)));
    // The choice of the device does not depend on the room, so `npm test` covers all faults in one room.
    for (room, fault) in cases.filter(|(room, fault)| testkit::all() || *room == "control" || **fault == faults[0]) {
        for wish in [DeviceWish::Gpu, DeviceWish::Auto] {
            let mut run = TestRun::new(&config(room), wish);
            run.run.offer(match fault {
                Fault::NoAdapter { .. } => Err(fault.clone()),
                _ => Twin { refuses: Some(fault.clone()), ..Twin::new() }.boxed(),
            });
            let device = run.until_device();
            assert!(!device.on_gpu && device.wish == wish, "{device:?}");
            assert!(fault.to_string().to_lowercase().starts_with(&device.why.to_lowercase()), "{device:?}");
            if let Some((text, next_step)) = run.warned(wish) {
                assert_eq!(format!("{text} {next_step}").to_lowercase(), format!("{fault}.").to_lowercase());
            }
            run.assert_equals_cpu_run();
        }
    }
}

#[test]
fn learner_without_offload_stays_on_the_processor_with_a_reason() {
    for (room, variant, why) in [("backgammon", "strong", "first layer"), ("cube", "2x2x2-dqn", "small updates")] {
        let config = small(room, variant, 5);
        let mut home = TestRun::new(&config, DeviceWish::Cpu);
        home.to(3);
        for wish in [DeviceWish::Auto, DeviceWish::Gpu] {
            let mut run = TestRun::new(&config, wish);
            assert!(!run.run.wants_machine(), "the run wants a machine");
            run.to(3);
            let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
            assert!(!device.on_gpu && device.wish == wish && device.why.contains(why), "{device:?}");
            let next_step = "Choose another learner in this room, or train on the CPU.";
            assert!(run.warned(wish).is_none_or(|warning| warning == (&device.why, next_step)));
            assert_eq!(run.run.digest(), home.run.digest());
        }
    }
}

/// Three complete iterations on the CPU are timed before the GPU is probed.
#[test]
fn restored_run_times_three_iterations_before_a_probe() {
    let tried_after = |mut run: TestRun| {
        let (twin, from) = (Twin::new(), run.iteration());
        run.offer(&twin);
        run.until(|_| twin.started()[1] > 0);
        run.iteration() - from
    };
    assert_eq!(tried_after(TestRun::new(&config("control"), DeviceWish::Auto)), 3);
    let mut run = TestRun::new(&config("control"), DeviceWish::Cpu);
    let bytes = run.to(2).save();
    assert_eq!(tried_after(TestRun::restored(&bytes, DeviceWish::Auto)), 3);
}

#[test]
fn automatic_choice_takes_the_fastest_way_and_reports_both_rates() {
    // The arguments are the seconds of a slice if only learning is offloaded, and if everything is offloaded. In the second case, many more
    // slices are needed for the same work.
    let boards = |learning_s, all_s| Twin { slice_s: [learning_s, all_s], ..Twin::new() };
    let (learning, all) = ("training on the GPU, games on the CPU", "training and evaluating boards on the GPU");
    let slower = "The CPU is faster";
    for (case, (room, twin, way, words, tried)) in [
        // An iteration takes several slices on the CPU. On the machine, an iteration takes two polls in the first case and twenty polls in
        // the second.
        ("control", Twin::new(), Some(1), "GPU", [0, 1]),
        ("control", Twin { polls: 20, ..Twin::new() }, None, slower, [0, 1]),
        ("backgammon", boards(CPU_SLICE_S / 10.0, CPU_SLICE_S), Some(0), learning, [1, 1]),
        ("backgammon", boards(CPU_SLICE_S * 2.0, CPU_SLICE_S / 100.0), Some(1), all, [1, 1]),
        ("backgammon", boards(CPU_SLICE_S / 10.0, CPU_SLICE_S / 1000.0), Some(1), all, [1, 1]),
        ("backgammon", boards(CPU_SLICE_S * 3.0, CPU_SLICE_S), None, slower, [1, 1]),
    ]
    .into_iter()
    .enumerate()
    {
        // The next case has the same fastest way, and the last case has a way that is slower than the CPU.
        if case == 3 && !testkit::all() {
            continue;
        }
        let mut run = TestRun::with(room, &twin, DeviceWish::Auto);
        let device = run.until_device();
        let [home, away] = device.rates.expect("no rates were measured");
        assert!(device.why.contains(words), "{device:?}");
        assert_eq!((device.on_gpu, away > home), (way.is_some(), way.is_some()), "{device:?}");
        assert!(home > 0.0 && away > 0.0);
        let mut started = tried;
        if let Some(way) = way {
            started[way] += 1;
        }
        let iteration = run.iteration() + 2;
        run.to(iteration);
        assert_eq!(twin.started(), started, "a way was not probed exactly once");
        assert_eq!(run.devices().len(), 1);
        let arithmetic = run.arithmetic();
        assert_eq!(arithmetic == "mixed", way.is_some(), "{arithmetic}: the run began on the processor");
        assert!(run.warnings().is_empty());
        run.assert_equals_cpu_run();
    }
    let mut logic = TestRun::with("logic", &Twin::new(), DeviceWish::Auto);
    assert!(logic.until_device().rates.is_some_and(|rates| rates.iter().all(|&rate| rate > 0.0)), "{:?}", logic.devices());
}

/// Covers machines whose speed cannot be measured: emulated GPUs, machines that never answer, and machines that are lost during a probe.
#[test]
fn unmeasurable_machine_is_not_used_and_gives_no_warning() {
    for (room, twin, why) in [
        ("control", Twin { software: true, ..Twin::new() }, "emulated"),
        ("control", Twin { polls: u32::MAX, ..Twin::new() }, "5 seconds"),
        ("control", Twin::lost_after(0), "disconnected"),
        ("backgammon", Twin { software: true, ..Twin::new() }, "emulated"),
        ("backgammon", Twin::lost_after(12), "disconnected"),
    ] {
        let mut run = TestRun::with(room, &twin, DeviceWish::Auto);
        let device = run.until_device();
        assert!(!device.on_gpu && device.rates.is_none() && device.why.contains(why), "{room}: {device:?}");
        let iteration = run.iteration() + 3;
        run.to(iteration);
        assert!(run.devices().len() == 1 && run.warnings().is_empty(), "an automatic choice gave a warning");
        assert!(!twin.software || twin.started() == [0, 0]);
        run.assert_equals_cpu_run();
    }
    // An explicit choice uses the GPU even if it is emulated.
    let mut run = TestRun::with("backgammon", &Twin { software: true, ..Twin::new() }, DeviceWish::Gpu);
    let device = run.until_device();
    assert!(device.on_gpu && device.why.contains("emulated"), "{device:?}");
    assert_eq!(run.to(2).arithmetic(), "gpu");
    run.assert_equals_cpu_run();
}

#[test]
fn slower_way_is_abandoned_early() {
    // The same work takes 1 s if only learning is offloaded, and a seventh of a second if everything is offloaded.
    let twin = Twin { slice_s: [CPU_SLICE_S, CPU_SLICE_S / 50.0], polls: 100, ..Twin::new() };
    let mut run = TestRun::with("backgammon", &twin, DeviceWish::Auto);
    run.until(|_| twin.started()[0] == 1);
    let began_s = run.now_s;
    let device = run.until_device();
    assert!(!device.on_gpu && device.rates.is_some(), "{device:?}");
    let took_s = run.now_s - began_s;
    assert!((1.3..1.7).contains(&took_s), "expected one pass of each way and 0.15 s: {took_s}");
    run.assert_equals_cpu_run();
}

#[test]
fn automatic_choice_waits_five_seconds_for_a_machine() {
    let twin = Twin { polls: u32::MAX, ..Twin::new() };
    let mut run = TestRun::with("backgammon", &twin, DeviceWish::Auto);
    run.until(|_| twin.started()[0] == 1);
    let (began_s, iteration) = (run.now_s, run.iteration());
    let trained_s = run.run.progress().train_s;
    let device = run.until_device();
    assert_eq!(device.why, "The GPU was not ready within 5 seconds.");
    assert!(!device.on_gpu && device.rates.is_none());
    assert!((4.9..5.2).contains(&(run.now_s - began_s)), "{}", run.now_s - began_s);
    assert!(run.run.progress().train_s - trained_s < 0.1, "the probe counted as training time");
    assert_eq!((run.iteration(), twin.started()), (iteration, [1, 0]));
    run.assert_equals_cpu_run();
}

#[test]
fn pause_does_not_count_in_a_probe() {
    let twin = Twin { polls: 3, slice_s: [CPU_SLICE_S * 3.0, CPU_SLICE_S / 1000.0], ..Twin::new() };
    let mut run = TestRun::with("backgammon", &twin, DeviceWish::Auto);
    for way in 0..2 {
        run.until(|_| twin.is_active(way)).slice();
        run.run.command(Command::Pause).unwrap();
        assert!(!run.run.advance(run.now_s));
        run.now_s += 3600.0;
        run.run.command(Command::Start).unwrap();
    }
    let device = run.until_device();
    assert!(device.on_gpu && device.why.contains("evaluating boards"), "{device:?}");
    run.assert_equals_cpu_run();
}

/// Computes the rest of the round as a remote worker does, and passes the result to the run.
fn play_remotely(run: &mut TestRun) {
    let (pieces, due) = run.run.due().expect("no work is due");
    run.run.take(&run::play(&due, pieces, host()).unwrap()).unwrap();
}

#[test]
fn sharing_run_stays_on_the_processor() {
    let twin = Twin::new();
    let mut run = TestRun::with("backgammon", &twin, DeviceWish::Gpu);
    run.to(1);
    let error = run.run.share(true).unwrap_err();
    assert!(matches!(error, run::RunError::Offloaded) && clear(&error).contains("Choose the CPU"), "{error}");
    run.wish(DeviceWish::Cpu);
    run.to(2).run.share(true).unwrap();
    run.wish(DeviceWish::Gpu);
    run.until(|run| run.run.waiting());
    play_remotely(&mut run);
    assert!(run.to(3).warnings()[0].0.contains("This run's games are played by remote workers"), "{:?}", run.warnings());
    assert!(!run.run.wants_machine() && !twin.is_active(1));
    run.run.share(false).unwrap();
    run.wish(DeviceWish::Cpu);
    run.assert_equals_cpu_run();
    // The beginning of sharing ends a probe in progress.
    let mut run = TestRun::with("backgammon", &twin, DeviceWish::Auto);
    run.until(|_| twin.is_active(0)).run.share(true).unwrap();
    assert!(!twin.is_active(0));
    let iteration = run.iteration() + 1;
    play_remotely(&mut run);
    assert_eq!(run.to(iteration).outcome(), cpu_outcome("backgammon", iteration));
}

#[test]
fn save_during_a_probe_is_complete_and_the_probe_continues() {
    let twin = Twin { slice_s: [CPU_SLICE_S / 10.0, CPU_SLICE_S], ..Twin::new() };
    let mut run = TestRun::with("backgammon", &twin, DeviceWish::Auto);
    run.until(|_| twin.is_active(0)).slices(3);
    assert!(run.devices().is_empty() && run.run.at_boundary());
    let iteration = run.iteration();
    let bytes = run.save();
    run.run.command(set("lr", 0.001)).unwrap();
    assert!(run.until_device().on_gpu);
    assert_eq!(run.iteration(), iteration);
    TestRun::restored(&bytes, DeviceWish::Cpu).assert_equals_cpu_run();
    run.assert_equals_cpu_run();
}

#[test]
fn save_does_not_wait_for_a_silent_machine() {
    let silent = || TestRun::with("backgammon", &Twin { polls: u32::MAX, ..Twin::new() }, DeviceWish::Gpu);
    // In a long iteration, a save does not wait: it contains the state at the last boundary. The machine continues.
    let mut run = silent();
    run.slices(200);
    assert!(run.run.waiting() && run.iteration() == 0);
    let bytes = run.save();
    assert!(run.warnings().is_empty() && run.is_offloaded());
    TestRun::restored(&bytes, DeviceWish::Cpu).assert_equals_cpu_run();

    // A short iteration is completed before the save. The run drops a machine that does not answer.
    let mut run = silent();
    let bytes = run.until(|run| run.run.waiting()).save();
    assert!(run.warnings()[0].0.contains("did not answer"), "{:?}", run.warnings());
    assert!(!run.is_offloaded());
    TestRun::restored(&bytes, DeviceWish::Cpu).assert_equals_cpu_run();
    run.assert_equals_cpu_run();
}

#[test]
fn run_with_an_expected_digest_stays_on_the_processor_until_checked() {
    let mut home = TestRun::new(&config("control"), DeviceWish::Cpu);
    let mut run = TestRun::new(&config("control"), DeviceWish::Auto);
    run.run.expect(home.to(DIGEST_EVERY).run.digest());
    let twin = Twin::new();
    run.offer(&twin);
    run.to(DIGEST_EVERY);
    let reproduced = |event: &Event| matches!(event, Event::Notice { text, .. } if text.starts_with("Reproduced"));
    assert!(run.events.iter().any(reproduced));
    assert_eq!((twin.started(), run.devices().len()), ([0, 0], 0));
    assert!(run.until_device().on_gpu, "the run stays on the processor after the check");
}

#[test]
fn reset_and_restore_keep_the_wish_and_the_machine() {
    for room in ["control", "backgammon"] {
        let twin = Twin::new();
        let mut run = TestRun::with(room, &twin, DeviceWish::Gpu);
        let bytes = run.to(2).save();
        for (command, iteration) in [(Command::Reset { config: None }, 0), (restored(bytes), 2)] {
            run.slice();
            run.events.clear();
            run.run.command(command).unwrap();
            assert_eq!(run.iteration(), iteration);
            assert!(!run.run.wants_machine() && run.run.device_wish() == DeviceWish::Gpu);
            run.to(iteration + 2);
            assert_eq!((run.devices().len(), run.is_offloaded()), (1, true));
            assert_eq!(run.arithmetic(), "gpu");
        }
        assert_eq!(twin.started(), [0, 3]);
        run.assert_equals_cpu_run();
        if room == "backgammon" {
            // The first reset changes to a learner that cannot be offloaded. The second reset returns to the first learner.
            for (config, is_offloaded) in [(small(room, "strong", 5), false), (config(room), true)] {
                run.events.clear();
                run.run.command(Command::Reset { config: Some(config) }).unwrap();
                assert_eq!(run.until_device().on_gpu, is_offloaded);
            }
            run.assert_equals_cpu_run();
        }
    }
}
