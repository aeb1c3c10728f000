//! Training on another machine, which is a stand-in on this processor: what it does must be, bit for bit, what the run would
//! have been on the processor. That each learner offloads its steps exactly is the conformance suite's (`learn`); here is what a run
//! adds: when it goes there and back, what it tells, saves and restores meanwhile, and which way it takes.

mod twin;

use crate::common::*;
use learn::Fault;
use run::protocol::{Command, Config, Device, DeviceWish, Event, Level};
use run::{AnyRun, DIGEST_EVERY};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use twin::{HOME_S, Twin};

/// What each room whose work can be offloaded runs here, and knobs that change what it does.
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

/// What a room counts (as games, moves, boards valued, steps of the optimiser), and the weights.
type Standing = (Vec<f64>, String);

/// Where a room's run stands after so many iterations on the processor.
fn at_home(room: &str, iterations: u32) -> Standing {
    type Known = BTreeMap<String, (Driven, Vec<Standing>)>;
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    let (home, standings) = known.entry(room.into()).or_insert_with(|| (Driven::new(&config(room), DeviceWish::Cpu), Vec::new()));
    while standings.len() < iterations as usize {
        home.to(standings.len() as u32 + 1);
        standings.push(home.standing());
    }
    standings[iterations as usize - 1].clone()
}

/// A run, the clock that it goes by, and what was told.
struct Driven {
    run: Box<dyn AnyRun>,
    now_s: f64,
    /// Seconds of a slice.
    slice_s: Box<dyn Fn() -> f64 + Send>,
    told: Vec<Event>,
}

impl Driven {
    fn of(run: Box<dyn AnyRun>, wish: DeviceWish) -> Self {
        let mut run = Self { run, now_s: 0.0, slice_s: Box::new(|| HOME_S), told: Vec::new() };
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

    /// One that is offered a machine before it begins.
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
        self.told.extend(self.run.events());
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
        panic!("it does not get there: {:?}", self.devices());
    }

    #[track_caller]
    fn to(&mut self, iteration: u32) -> &mut Self {
        self.until(|run| run.iteration() >= iteration && run.run.at_boundary());
        assert_eq!(self.iteration(), iteration);
        self
    }

    /// Until something was told about devices.
    #[track_caller]
    fn decided(&mut self) -> Device {
        self.until(|run| !run.devices().is_empty());
        self.devices()[0].clone()
    }

    fn save(&mut self) -> Vec<u8> {
        let bytes = self.run.save().unwrap();
        self.told.extend(self.run.events());
        bytes
    }

    fn iteration(&self) -> u32 {
        self.run.progress().iteration
    }

    fn devices(&self) -> Vec<&Device> {
        self.told.iter().filter_map(|event| if let Event::Device(device) = event { Some(device) } else { None }).collect()
    }

    fn is_away(&self) -> bool {
        self.devices().last().unwrap().on_gpu
    }

    fn warnings(&self) -> Vec<(&str, &str)> {
        fn warning(event: &Event) -> Option<(&str, &str)> {
            match event {
                Event::Notice { level: Level::Warning, text, next_step } => Some((text, next_step)),
                _ => None,
            }
        }
        self.told.iter().filter_map(warning).collect()
    }

    /// The one warning where the GPU was asked for; where the run chooses by itself there must be none.
    #[track_caller]
    fn warned(&self, wish: DeviceWish) -> Option<(&str, &str)> {
        match (wish, &self.warnings()[..]) {
            (DeviceWish::Gpu, &[warning]) => Some(warning),
            (DeviceWish::Auto, []) => None,
            (_, warnings) => panic!("{wish:?}: {warnings:?}"),
        }
    }

    fn standing(&self) -> Standing {
        (self.run.progress().counts, self.run.digest().weights)
    }

    fn arithmetic(&self) -> String {
        self.run.digest().arithmetic
    }

    /// It is, from its next boundary on, the run that was on the processor all the time.
    #[track_caller]
    fn is_the_one_at_home(&mut self) {
        let (room, iteration) = (self.run.config().room.clone(), self.iteration());
        // Weights, and then games, samples and moments, too.
        for iteration in iteration + 1..=iteration + 3 {
            self.to(iteration);
            assert_eq!(self.standing(), at_home(&room, iteration), "{room} after {iteration}");
        }
    }
}

#[test]
fn a_run_goes_to_another_machine_and_back_and_is_the_same() {
    let (cpu, gpu) = (DeviceWish::Cpu, DeviceWish::Gpu);
    for (room, knobs) in ROOMS {
        let (mut home, mut away) = (Driven::new(&config(room), cpu), Driven::new(&config(room), cpu));
        assert!(!away.run.wants_machine());
        away.to(1).wish(gpu);
        away.to(2);
        assert!(away.run.wants_machine(), "until it comes, the processor trains");
        let twin = Twin::new();
        away.offer(&twin);
        assert_eq!(away.to(3).standing(), home.to(3).standing(), "{room}");
        // Knobs turned meanwhile count from the next iteration, there too.
        for run in [&mut home, &mut away] {
            run.slice();
            knobs.iter().for_each(|&(name, value)| run.run.command(set(name, value)).unwrap());
            run.to(7);
        }
        assert_eq!(away.standing(), home.standing(), "{room}");
        assert_ne!(away.standing(), at_home(room, 7), "{room}");
        away.wish(cpu);
        let bytes = away.to(8).save();
        let mut resumed = Driven::restored(&bytes, cpu);
        home.to(10);
        for run in [&mut away, &mut resumed] {
            assert_eq!(run.to(10).standing(), home.standing(), "{room}");
        }
        assert!(!twin.is_at_work(0) && !twin.is_at_work(1));
        assert_eq!(away.arithmetic(), "mixed");
        let on_gpu: Vec<_> = away.devices().iter().map(|d| (d.wish, d.on_gpu, d.rates)).collect();
        assert_eq!(on_gpu, [(cpu, false, None), (gpu, true, None), (cpu, false, None)]);
        assert!(away.warnings().is_empty());
        if room == "backgammon" {
            assert_eq!(twin.taken_on(), [0, 1], "all is lent where it was chosen");
        }
    }
}

#[test]
fn what_was_seen_there_is_shown() {
    let seen = |wish| {
        let mut run = Driven::new(&config("control"), wish);
        if wish == DeviceWish::Gpu {
            run.offer(&Twin::new());
        }
        value(&mut *run.run, json!({ "ask": "frame" }));
        run.to(5);
        let frame = value(&mut *run.run, json!({ "ask": "frame" }));
        assert_eq!(frame["steps"], 5 * 16);
        let at = run.run.schema().metric("explained_variance").unwrap();
        let explained = |event: &Event| if let Event::Metrics(row) = event { row.values[at] } else { None };
        let explained: Vec<f64> = run.told.iter().filter_map(explained).collect();
        (frame, explained, run.run.test().unwrap().values)
    };
    assert!(seen(DeviceWish::Gpu) == seen(DeviceWish::Cpu));
}

/// Also one that another machine judges.
#[test]
fn tests_are_of_the_weights_they_name() {
    // Enough for a test within a few iterations.
    for (config, is_judged) in [(config("control"), false), (with(config("cube"), "batch=8192 updates=64"), true)] {
        let twin = Twin::new();
        let tested = |wish| {
            let mut run = Driven::new(&config, wish);
            if wish == DeviceWish::Gpu {
                run.offer(&twin);
            }
            let test = |event: &Event| if let Event::Test(row) = event { Some((row.progress.iteration, row.values.clone())) } else { None };
            run.until(|run| run.told.iter().any(|event| test(event).is_some()));
            run.told.iter().find_map(test)
        };
        assert_eq!(tested(DeviceWish::Gpu), tested(DeviceWish::Cpu), "{}", config.room);
        assert_eq!(twin.judges.load(Relaxed) > 0, is_judged);
    }
}

#[test]
fn a_save_made_away_is_resumed_at_home() {
    for (room, slices) in [("control", 1), ("backgammon", 9)] {
        let mut run = Driven::with(room, &Twin::new(), DeviceWish::Gpu);
        run.to(3);
        assert_eq!(run.arithmetic(), "gpu");
        run.slices(slices);
        assert!(!run.run.at_boundary(), "the next iteration is under way");
        let bytes = run.save();
        assert_eq!(run.iteration(), 4);
        let mut resumed = Driven::restored(&bytes, DeviceWish::Cpu);
        assert_eq!(resumed.arithmetic(), "gpu");
        assert_eq!(resumed.to(5).arithmetic(), "mixed");
        resumed.is_the_one_at_home();

        // As a shell asks for it, and one step.
        run.run.command(Command::Save).unwrap();
        run.slices(slices);
        run.run.command(Command::Save).unwrap();
        run.run.command(Command::Step).unwrap();
        run.until(|run| run.told.iter().filter(|event| matches!(event, Event::Saved { .. })).count() == 2);
        assert!(!run.run.running() && !run.run.advance(run.now_s));
        assert_eq!(run.iteration(), 5);
        run.run.command(Command::Start).unwrap();
        run.is_the_one_at_home();
    }
}

#[test]
fn a_machine_that_is_lost_takes_nothing_with_it() {
    for (room, lives) in
        [("control", 2), ("backgammon", 4), ("backgammon", 30), ("backgammon", 101), ("backgammon", 250), ("backgammon", 444)]
    {
        let mut run = Driven::with(room, &Twin::with_lives(lives), DeviceWish::Gpu);
        run.until(|run| !run.warnings().is_empty());
        let [(text, next_step)] = run.warnings()[..] else { panic!("{:?}", run.warnings()) };
        assert!(text.contains("lost") && text.contains("pulled its plug"), "{text}");
        assert!(next_step.contains("choose the GPU again"), "{next_step}");
        assert!(!run.is_away() && !run.run.wants_machine());
        let iteration = run.iteration() + 1;
        assert_eq!(run.to(iteration).arithmetic(), "mixed", "some of it was done there");
        // It is back.
        run.wish(DeviceWish::Gpu);
        run.offer(&Twin::new());
        assert!(run.to(iteration + 1).is_away());
        run.is_the_one_at_home();
    }
}

#[test]
fn what_cannot_take_the_run_on_is_named() {
    let faults = [Fault::OutOfMemory, Fault::TooSmall { needs: 9, has: 8 }, Fault::NoAdapter { why: "none".into() }];
    for (room, fault) in ["control", "backgammon"].into_iter().flat_map(|room| faults.iter().map(move |fault| (room, fault))) {
        for wish in [DeviceWish::Gpu, DeviceWish::Auto] {
            let mut run = Driven::new(&config(room), wish);
            run.run.offer(match fault {
                Fault::NoAdapter { .. } => Err(fault.clone()),
                _ => Twin { refuses: Some(fault.clone()), ..Twin::new() }.boxed(),
            });
            let device = run.decided();
            assert!(!device.on_gpu && device.wish == wish, "{device:?}");
            assert!(fault.to_string().to_lowercase().starts_with(&device.why.to_lowercase()), "{device:?}");
            if let Some((text, next_step)) = run.warned(wish) {
                assert_eq!(format!("{text} {next_step}").to_lowercase(), format!("{fault}.").to_lowercase());
            }
            run.is_the_one_at_home();
        }
    }
}

#[test]
fn a_learner_with_nothing_to_offload_stays_and_says_why() {
    for (room, variant, why) in [("backgammon", "strong", "integer first layer"), ("cube", "2x2x2-dqn", "small updates")] {
        let config = small(room, variant, 5);
        let mut home = Driven::new(&config, DeviceWish::Cpu);
        home.to(3);
        for wish in [DeviceWish::Auto, DeviceWish::Gpu] {
            let mut run = Driven::new(&config, wish);
            assert!(!run.run.wants_machine(), "no GPU is opened for it");
            run.to(3);
            let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
            assert!(!device.on_gpu && device.wish == wish && device.why.contains(why), "{device:?}");
            let next_step = "Choose another learner in this room, or train on the CPU.";
            assert!(run.warned(wish).is_none_or(|warning| warning == (&device.why, next_step)));
            assert_eq!(run.run.digest(), home.run.digest());
        }
    }
}

/// Three whole iterations are timed on the processor before the GPU is tried.
#[test]
fn a_restored_run_times_its_first_iteration_like_any_other() {
    let tried_after = |mut run: Driven| {
        let (twin, from) = (Twin::new(), run.iteration());
        run.offer(&twin);
        run.until(|_| twin.taken_on()[1] > 0);
        run.iteration() - from
    };
    assert_eq!(tried_after(Driven::new(&config("control"), DeviceWish::Auto)), 3);
    let mut run = Driven::new(&config("control"), DeviceWish::Cpu);
    let bytes = run.to(2).save();
    assert_eq!(tried_after(Driven::restored(&bytes, DeviceWish::Auto)), 3);
}

#[test]
fn left_alone_it_takes_the_fastest_way_and_says_both_rates() {
    // Seconds of a slice where learning is offloaded, and where all is: of the latter a pass takes many more slices.
    let boards = |learning_s, all_s| Twin { slice_s: [learning_s, all_s], ..Twin::new() };
    let (learning, all) = ("training on the GPU, games on the CPU", "training and evaluating boards on the GPU");
    let slower = "The processor is faster";
    for (room, twin, way, words, tried) in [
        // An iteration takes two looks there, one on the processor several slices; and then it is ready after twenty iterations.
        ("control", Twin::new(), Some(1), "GPU", [0, 1]),
        ("control", Twin { looks: 20, ..Twin::new() }, None, slower, [0, 1]),
        ("backgammon", boards(HOME_S / 10.0, HOME_S), Some(0), learning, [1, 1]),
        ("backgammon", boards(HOME_S * 2.0, HOME_S / 100.0), Some(1), all, [1, 1]),
        ("backgammon", boards(HOME_S / 10.0, HOME_S / 1000.0), Some(1), all, [1, 1]),
        ("backgammon", boards(HOME_S * 3.0, HOME_S), None, slower, [1, 1]),
    ] {
        let mut run = Driven::with(room, &twin, DeviceWish::Auto);
        let device = run.decided();
        let [home, away] = device.rates.expect("both were measured");
        assert!(device.why.contains(words), "{device:?}");
        assert_eq!((device.on_gpu, away > home), (way.is_some(), way.is_some()), "{device:?}");
        assert!(home > 0.0 && away > 0.0);
        let mut taken_on = tried;
        if let Some(way) = way {
            taken_on[way] += 1;
        }
        let iteration = run.iteration() + 2;
        run.to(iteration);
        assert_eq!(twin.taken_on(), taken_on, "each was tried once, and thrown away");
        assert_eq!(run.devices().len(), 1);
        let arithmetic = run.arithmetic();
        assert_eq!(arithmetic == "mixed", way.is_some(), "{arithmetic}: it began at home");
        assert!(run.warnings().is_empty());
        run.is_the_one_at_home();
    }
    let mut logic = Driven::with("logic", &Twin::new(), DeviceWish::Auto);
    assert!(logic.decided().rates.is_some_and(|rates| rates.iter().all(|&rate| rate > 0.0)), "{:?}", logic.devices());
}

/// Neither one that pretends, nor one that never answers, nor one that is lost in the middle of a probe.
#[test]
fn what_cannot_be_measured_is_left_without_a_warning() {
    for (room, twin, why) in [
        ("control", Twin { software: true, ..Twin::new() }, "emulated"),
        ("control", Twin { looks: u32::MAX, ..Twin::new() }, "5 seconds"),
        ("control", Twin::with_lives(0), "plug"),
        ("backgammon", Twin { software: true, ..Twin::new() }, "emulated"),
        ("backgammon", Twin::with_lives(12), "plug"),
    ] {
        let mut run = Driven::with(room, &twin, DeviceWish::Auto);
        let device = run.decided();
        assert!(!device.on_gpu && device.rates.is_none() && device.why.contains(why), "{room}: {device:?}");
        let iteration = run.iteration() + 3;
        run.to(iteration);
        assert!(run.devices().len() == 1 && run.warnings().is_empty(), "nobody asked for it");
        assert!(!twin.software || twin.taken_on() == [0, 0]);
        run.is_the_one_at_home();
    }
    // One that was chosen is taken, though it pretends.
    let mut run = Driven::with("backgammon", &Twin { software: true, ..Twin::new() }, DeviceWish::Gpu);
    let device = run.decided();
    assert!(device.on_gpu && device.why.contains("emulated"), "{device:?}");
    assert_eq!(run.to(2).arithmetic(), "gpu");
    run.is_the_one_at_home();
}

#[test]
fn what_is_slower_is_not_tried_for_long() {
    // A pass takes a second where learning is offloaded, and a seventh of one where all is.
    let twin = Twin { slice_s: [HOME_S, HOME_S / 50.0], looks: 100, ..Twin::new() };
    let mut run = Driven::with("backgammon", &twin, DeviceWish::Auto);
    run.until(|_| twin.taken_on()[0] == 1);
    let began_s = run.now_s;
    let device = run.decided();
    assert!(!device.on_gpu && device.rates.is_some(), "{device:?}");
    let took_s = run.now_s - began_s;
    assert!((1.3..1.7).contains(&took_s), "a pass of each, and 0.15 s of the next: {took_s}");
    run.is_the_one_at_home();
}

#[test]
fn nobody_waits_long_for_a_machine_that_is_not_ready() {
    let twin = Twin { looks: u32::MAX, ..Twin::new() };
    let mut run = Driven::with("backgammon", &twin, DeviceWish::Auto);
    run.until(|_| twin.taken_on()[0] == 1);
    let (began_s, iteration) = (run.now_s, run.iteration());
    let trained_s = run.run.progress().train_s;
    let device = run.decided();
    assert_eq!(device.why, "The GPU was not ready within 5 seconds.");
    assert!(!device.on_gpu && device.rates.is_none());
    assert!((4.9..5.2).contains(&(run.now_s - began_s)), "{}", run.now_s - began_s);
    assert!(run.run.progress().train_s - trained_s < 0.1, "a probe is not training");
    assert_eq!((run.iteration(), twin.taken_on()), (iteration, [1, 0]));
    run.is_the_one_at_home();
}

#[test]
fn a_pause_is_not_part_of_a_probe() {
    let twin = Twin { looks: 3, slice_s: [HOME_S * 3.0, HOME_S / 1000.0], ..Twin::new() };
    let mut run = Driven::with("backgammon", &twin, DeviceWish::Auto);
    for way in 0..2 {
        run.until(|_| twin.is_at_work(way)).slice();
        run.run.command(Command::Pause).unwrap();
        assert!(!run.run.advance(run.now_s));
        run.now_s += 3600.0;
        run.run.command(Command::Start).unwrap();
    }
    let device = run.decided();
    assert!(device.on_gpu && device.why.contains("evaluating boards"), "{device:?}");
    run.is_the_one_at_home();
}

/// The rest of a round, as somebody else plays it.
fn bring(run: &mut Driven) {
    let (pieces, due) = run.run.due().expect("a round begins");
    run.run.take(&run::play(&due, pieces, host()).unwrap()).unwrap();
}

#[test]
fn whoever_shares_its_games_stays_on_the_processor() {
    let twin = Twin::new();
    let mut run = Driven::with("backgammon", &twin, DeviceWish::Gpu);
    run.to(1);
    let error = run.run.share(true).unwrap_err();
    assert!(matches!(error, run::RunError::Offloaded) && clear(&error).contains("processor"), "{error}");
    run.wish(DeviceWish::Cpu);
    run.to(2).run.share(true).unwrap();
    run.wish(DeviceWish::Gpu);
    run.until(|run| run.run.waiting());
    bring(&mut run);
    assert!(run.to(3).warnings()[0].0.contains("This run's games are played by remote workers"), "{:?}", run.warnings());
    assert!(!run.run.wants_machine() && !twin.is_at_work(1));
    run.run.share(false).unwrap();
    run.wish(DeviceWish::Cpu);
    run.is_the_one_at_home();
    // One that is just being tried out is given up.
    let mut run = Driven::with("backgammon", &twin, DeviceWish::Auto);
    run.until(|_| twin.is_at_work(0)).run.share(true).unwrap();
    assert!(!twin.is_at_work(0));
    let iteration = run.iteration() + 1;
    bring(&mut run);
    assert_eq!(run.to(iteration).standing(), at_home("backgammon", iteration));
}

#[test]
fn a_save_made_in_a_probe_is_of_the_run_and_the_probe_goes_on() {
    let twin = Twin { slice_s: [HOME_S / 10.0, HOME_S], ..Twin::new() };
    let mut run = Driven::with("backgammon", &twin, DeviceWish::Auto);
    run.until(|_| twin.is_at_work(0)).slices(3);
    assert!(run.devices().is_empty() && run.run.at_boundary());
    let iteration = run.iteration();
    let bytes = run.save();
    run.run.command(set("lr", 0.001)).unwrap();
    assert!(run.decided().on_gpu);
    assert_eq!(run.iteration(), iteration);
    Driven::restored(&bytes, DeviceWish::Cpu).is_the_one_at_home();
    run.is_the_one_at_home();
}

#[test]
fn a_save_does_not_wait_for_ever() {
    let silent = || Driven::with("backgammon", &Twin { looks: u32::MAX, ..Twin::new() }, DeviceWish::Gpu);
    // In a long iteration the newest boundary is saved at once, and the machine works on.
    let mut run = silent();
    run.slices(200);
    assert!(run.run.waiting() && run.iteration() == 0);
    let bytes = run.save();
    assert!(run.warnings().is_empty() && run.is_away());
    Driven::restored(&bytes, DeviceWish::Cpu).is_the_one_at_home();

    // A short one ends first, or its machine is given up.
    let mut run = silent();
    let bytes = run.until(|run| run.run.waiting()).save();
    assert!(run.warnings()[0].0.contains("did not answer"), "{:?}", run.warnings());
    assert!(!run.is_away());
    Driven::restored(&bytes, DeviceWish::Cpu).is_the_one_at_home();
    run.is_the_one_at_home();
}

#[test]
fn a_run_that_should_reach_a_links_digest_stays_where_it_can() {
    let mut home = Driven::new(&config("control"), DeviceWish::Cpu);
    let mut run = Driven::new(&config("control"), DeviceWish::Auto);
    run.run.expect(home.to(DIGEST_EVERY).run.digest());
    let twin = Twin::new();
    run.offer(&twin);
    run.to(DIGEST_EVERY);
    let reproduced = |event: &Event| matches!(event, Event::Notice { text, .. } if text.starts_with("Reproduced"));
    assert!(run.told.iter().any(reproduced));
    assert_eq!((twin.taken_on(), run.devices().len()), ([0, 0], 0));
    assert!(run.decided().on_gpu, "from then on it is free");
}

#[test]
fn a_reset_and_a_restore_keep_the_wish_and_the_machine() {
    for room in ["control", "backgammon"] {
        let twin = Twin::new();
        let mut run = Driven::with(room, &twin, DeviceWish::Gpu);
        let bytes = run.to(2).save();
        for (command, iteration) in [(Command::Reset { config: None }, 0), (restored(bytes), 2)] {
            run.slice();
            run.told.clear();
            run.run.command(command).unwrap();
            assert_eq!(run.iteration(), iteration);
            assert!(!run.run.wants_machine() && run.run.device_wish() == DeviceWish::Gpu);
            run.to(iteration + 2);
            assert_eq!((run.devices().len(), run.is_away()), (1, true));
            assert_eq!(run.arithmetic(), "gpu");
        }
        assert_eq!(twin.taken_on(), [0, 3]);
        run.is_the_one_at_home();
        if room == "backgammon" {
            // To a learner that stays, and back.
            for (config, is_away) in [(small(room, "strong", 5), false), (config(room), true)] {
                run.told.clear();
                run.run.command(Command::Reset { config: Some(config) }).unwrap();
                assert_eq!(run.decided().on_gpu, is_away);
            }
            run.is_the_one_at_home();
        }
    }
}
