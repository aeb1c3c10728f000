//! Iterations that another machine works on, with one that can be told what it should do: a second learner on this
//! processor. What comes from it must be, bit for bit, what the run would have been at home.

use learn::offload::serve;
use learn::{Accelerator, Data, Fault, Harvest, IterationStats, Machine, Ppo, PpoConfig, Slice, Start, Turn};
use math::Isa;
use run::protocol::{Command, Config, Device, DeviceWish, Event, Level};
use run::{Experiment, default_config};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// How the other machine behaves.
#[derive(Clone)]
struct Twin {
    /// Looks at an iteration until it is done.
    looks: u32,
    /// Iterations after which it is lost.
    lives: u32,
    software: bool,
    refuses: Option<Fault>,
    /// Learners taken on, and iterations begun, for all of them together.
    taken_on: Arc<AtomicU32>,
    begun: Arc<AtomicU32>,
}

impl Twin {
    fn new() -> Self {
        let count = || Arc::new(AtomicU32::new(0));
        Self { looks: 2, lives: u32::MAX, software: false, refuses: None, taken_on: count(), begun: count() }
    }

    fn boxed(&self) -> Result<Box<dyn Machine>, Fault> {
        Ok(Box::new(self.clone()))
    }
}

impl Machine for Twin {
    fn name(&self) -> String {
        "Twin (this processor)".into()
    }

    fn is_software(&self) -> bool {
        self.software
    }

    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(request, |start: &Start| self.take_on(start))
    }
}

impl Twin {
    fn take_on(&self, start: &Start) -> Result<Box<dyn Accelerator>, Fault> {
        if let Some(fault) = &self.refuses {
            return Err(fault.clone());
        }
        self.taken_on.fetch_add(1, Relaxed);
        let parts = &start.state;
        let find = |name: &str| parts.iter().find(|p| p.0 == name).map(|p| (p.1.as_slice(), &p.2));
        let blueprint = start.blueprint.clone();
        let twin =
            Ppo::restore(blueprint.kind, blueprint.config, blueprint.seed, Isa::best(), &find).unwrap();
        Ok(Box::new(TwinAtWork { twin, machine: self.clone(), looks: 0, done: 0, watch: false }))
    }
}

struct TwinAtWork {
    twin: Ppo,
    machine: Twin,
    looks: u32,
    done: u32,
    watch: bool,
}

impl Accelerator for TwinAtWork {
    fn begin(&mut self, turn: &Turn) -> Result<(), Fault> {
        self.machine.begun.fetch_add(1, Relaxed);
        let config = PpoConfig { lr: turn.config.lr, ..turn.config.clone() };
        self.twin.set_live(&config);
        (self.looks, self.watch) = (0, turn.watch);
        Ok(())
    }

    fn poll(&mut self, harvest: &mut Harvest) -> Result<bool, Fault> {
        self.looks += 1;
        if self.looks < self.machine.looks {
            return Ok(false);
        }
        if self.done == self.machine.lives {
            return Err(Fault::Lost { why: "a test pulled its plug".into() });
        }
        self.done += 1;
        let before = self.twin.progress().episodes;
        if self.watch {
            self.twin.trail_clear();
        }
        let mut updates = 1;
        let stats = loop {
            match self.twin.advance() {
                Slice::Iteration(stats) => break stats,
                Slice::Update => updates += 1,
                _ => {}
            }
        };
        self.reap(harvest, &stats, updates, before);
        Ok(true)
    }
}

impl TwinAtWork {
    fn reap(&self, harvest: &mut Harvest, stats: &IterationStats, updates: u32, before: u64) {
        let parts = self.twin.state();
        let part = |name: &str| &parts.iter().find(|p| p.0 == name).unwrap().2;
        let floats = |name: &str| match part(name) {
            Data::F32(values) => values.clone(),
            _ => panic!("{name} are floats"),
        };
        let words = |name: &str| match part(name) {
            Data::U32(values) => values.clone(),
            _ => panic!("{name} are whole numbers"),
        };
        let IterationStats { policy_loss, value_loss, entropy, approx_kl, clip_fraction, grad_norm, .. } =
            *stats;
        let ended = self.twin.progress().episodes - before;
        let (returns, lengths) = (floats("recent.returns"), words("recent.lengths"));
        let newest = self.twin.progress().episodes - ended.min(100)..self.twin.progress().episodes;
        *harvest = Harvest {
            params: self.twin.params().values().to_vec(),
            adam_m: floats("adam.m"),
            adam_v: floats("adam.v"),
            updates,
            sums: [policy_loss, value_loss, entropy, approx_kl, clip_fraction, grad_norm]
                .map(|mean| f64::from(mean) * f64::from(updates)),
            explained_variance: stats.explained_variance,
            states: floats("environments.state"),
            steps: words("environments.steps"),
            episodes: words("environments.episodes"),
            totals: floats("environments.returns"),
            ended,
            finished: newest.map(|n| (returns[(n % 100) as usize], lengths[(n % 100) as usize])).collect(),
            trail_observations: if self.watch {
                self.twin.trail().observations().to_vec()
            } else {
                Vec::new()
            },
            trail_ended: if self.watch { self.twin.trail().ended().to_vec() } else { Vec::new() },
            ..Harvest::default()
        };
    }
}

fn small() -> Config {
    let knobs = [("envs", 256.0), ("rollout_steps", 16.0), ("hidden", 32.0), ("minibatches", 4.0)];
    let knobs = knobs.map(|(k, v)| (k.to_string(), v));
    Config { seed: 5, knobs: BTreeMap::from(knobs), ..default_config() }
}

struct Run {
    experiment: Experiment,
    now_s: f64,
    told: Vec<Event>,
}

impl Run {
    fn start(wish: DeviceWish) -> Self {
        let mut experiment = Experiment::new(small(), Isa::best()).unwrap();
        experiment.command(Command::Device { wish }).unwrap();
        experiment.command(Command::Start).unwrap();
        Self { experiment, now_s: 0.0, told: Vec::new() }
    }

    fn to(&mut self, iteration: u32) -> &mut Self {
        for _ in 0..100_000 {
            if self.experiment.progress().iteration >= iteration && self.experiment.at_boundary() {
                break;
            }
            self.now_s += 0.01;
            assert!(self.experiment.advance(self.now_s));
            self.told.extend(self.experiment.events());
        }
        assert_eq!(self.experiment.progress().iteration, iteration, "it gets there");
        self
    }

    fn devices(&self) -> Vec<&Device> {
        self.told
            .iter()
            .filter_map(|e| if let Event::Device(device) = e { Some(device) } else { None })
            .collect()
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

    fn weights(&self) -> String {
        self.experiment.digest().weights
    }
}

/// The same run at home all the time.
fn at_home(iterations: u32) -> (String, f64, Vec<f32>) {
    let mut run = Run::start(DeviceWish::Cpu);
    run.experiment.frame();
    run.to(iterations);
    let frame = run.experiment.frame();
    (run.weights(), run.experiment.evaluate(50, 7).mean_return, frame.observations)
}

#[test]
fn a_run_goes_to_another_machine_and_back_and_is_the_same() {
    let mut run = Run::start(DeviceWish::Cpu);
    run.experiment.frame();
    run.to(2);
    run.experiment.command(Command::Device { wish: DeviceWish::Gpu }).unwrap();
    run.to(3);
    assert!(run.experiment.wants_machine(), "until it comes, the processor trains");
    let twin = Twin::new();
    run.experiment.offer(twin.boxed());
    run.to(5);
    assert_eq!(twin.begun.load(Relaxed), 2);
    run.experiment.command(Command::Device { wish: DeviceWish::Cpu }).unwrap();
    run.to(7);
    assert_eq!(twin.begun.load(Relaxed), 2);

    let (weights, mean_return, observations) = at_home(7);
    assert_eq!(run.weights(), weights);
    assert_eq!(run.experiment.evaluate(50, 7).mean_return, mean_return);
    let frame = run.experiment.frame();
    assert_eq!(
        (frame.steps, frame.observations == observations),
        (7 * 16, true),
        "what was seen there is shown"
    );
    assert_eq!(run.experiment.digest().arithmetic, "mixed");
    let on_gpu: Vec<_> = run.devices().iter().map(|d| d.on_gpu).collect();
    assert_eq!(on_gpu, [false, true, false]);
    assert!(run.warnings().is_empty());
}

#[test]
fn a_save_made_away_is_resumed_at_home() {
    let mut run = Run::start(DeviceWish::Gpu);
    run.experiment.offer(Twin::new().boxed());
    run.to(3);
    assert_eq!(run.experiment.digest().arithmetic, "gpu");
    run.now_s += 0.01;
    run.experiment.advance(run.now_s);
    assert!(!run.experiment.at_boundary(), "the next iteration is under way");
    let bytes = run.experiment.save();
    assert_eq!(run.experiment.progress().iteration, 4);
    let mut resumed = Experiment::restore(&bytes, Isa::best()).unwrap();
    resumed.command(Command::Start).unwrap();
    let mut resumed = Run { experiment: resumed, now_s: 0.0, told: Vec::new() };
    resumed.to(6);
    assert_eq!(resumed.weights(), at_home(6).0);
}

#[test]
fn a_machine_that_is_lost_takes_nothing_with_it() {
    let mut run = Run::start(DeviceWish::Gpu);
    let twin = Twin { lives: 2, ..Twin::new() };
    run.experiment.offer(twin.boxed());
    run.to(6);
    assert_eq!(twin.begun.load(Relaxed), 3);
    assert_eq!(run.weights(), at_home(6).0, "the third iteration was done at home");
    let [(text, next_step)] = run.warnings()[..] else { panic!("{:?}", run.warnings()) };
    assert!(text.contains("lost") && text.contains("pulled its plug"), "{text}");
    assert!(next_step.contains("choose the GPU again"), "{next_step}");
    assert!(!run.devices().last().unwrap().on_gpu);
    assert!(!run.experiment.wants_machine());
    // It is back.
    run.experiment.command(Command::Device { wish: DeviceWish::Gpu }).unwrap();
    assert!(run.experiment.wants_machine());
    run.experiment.offer(Twin::new().boxed());
    run.to(8);
    assert!(run.devices().last().unwrap().on_gpu);
    assert_eq!(run.weights(), at_home(8).0);
}

#[test]
fn what_cannot_take_the_run_on_is_named() {
    for fault in
        [Fault::OutOfMemory, Fault::TooSmall { needs: 9, has: 8 }, Fault::NoAdapter { why: "none".into() }]
    {
        let mut run = Run::start(DeviceWish::Gpu);
        let offered = match &fault {
            Fault::NoAdapter { .. } => Err(fault.clone()),
            _ => Twin { refuses: Some(fault.clone()), ..Twin::new() }.boxed(),
        };
        run.experiment.offer(offered);
        run.to(3);
        assert_eq!(run.weights(), at_home(3).0);
        let [(text, next_step)] = run.warnings()[..] else { panic!("{:?}", run.warnings()) };
        assert_eq!(format!("{text} {next_step}").to_lowercase(), format!("{fault}.").to_lowercase());
        let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
        assert!(!device.on_gpu && device.wish == DeviceWish::Gpu);
    }
}

#[test]
fn left_alone_it_takes_the_faster_one_and_says_why() {
    // Its iteration takes two looks, one at home several slices.
    let mut run = Run::start(DeviceWish::Auto);
    let quick = Twin::new();
    run.experiment.offer(quick.boxed());
    run.to(6);
    let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
    let [home, away] = device.rates.expect("both were measured");
    assert!(device.on_gpu && away > home && home > 0.0, "{device:?}");
    assert_eq!(quick.taken_on.load(Relaxed), 2, "one was thrown away");
    assert_eq!(run.weights(), at_home(6).0, "a trial leaves no trace");

    let mut run = Run::start(DeviceWish::Auto);
    // Ready after twenty iterations at home, and slower than they are when it is timed.
    run.experiment.offer(Twin { looks: 20, ..Twin::new() }.boxed());
    run.to(30);
    let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
    let [home, away] = device.rates.expect("both were measured");
    assert!(!device.on_gpu && away < home && away > 0.0, "{device:?}");
    assert_eq!(run.weights(), at_home(30).0);

    // Neither one that pretends nor one that never answers is waited for.
    for (twin, word, iterations) in [
        (Twin { software: true, ..Twin::new() }, "pretending", 6),
        (Twin { looks: u32::MAX, ..Twin::new() }, "5 seconds", 120),
        (Twin { lives: 0, ..Twin::new() }, "plug", 6),
    ] {
        let mut run = Run::start(DeviceWish::Auto);
        run.experiment.offer(twin.boxed());
        run.to(iterations);
        let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
        assert!(!device.on_gpu && device.why.contains(word), "{device:?}");
        assert!(run.warnings().is_empty(), "nobody asked for it");
        assert_eq!(run.weights(), at_home(iterations).0);
    }
}

#[test]
fn a_run_that_should_reach_a_links_digest_stays_where_it_can() {
    let mut home = Run::start(DeviceWish::Cpu);
    home.to(16);
    let digest = home.experiment.digest();
    let mut run = Run::start(DeviceWish::Auto);
    run.experiment.expect(digest);
    let twin = Twin::new();
    run.experiment.offer(twin.boxed());
    run.to(16);
    let reproduced = |e: &Event| matches!(e, Event::Notice { text, .. } if text.starts_with("Reproduced"));
    assert!(run.told.iter().any(reproduced) && twin.begun.load(Relaxed) == 0);
    run.to(24);
    assert!(run.devices().last().unwrap().on_gpu, "from then on it is free");
}

#[test]
fn a_reset_keeps_the_machine_and_evaluations_are_of_the_weights_they_name() {
    let mut run = Run::start(DeviceWish::Gpu);
    run.experiment.offer(Twin::new().boxed());
    run.to(3);
    run.experiment.command(Command::Reset { config: None }).unwrap();
    run.told.clear();
    run.to(5);
    assert!(run.devices().last().unwrap().on_gpu);
    run.to(8);
    let evaluations = |run: &Run| {
        let of = |e: &Event| {
            if let Event::Evaluation(e) = e { Some((e.progress.iteration, e.mean_return)) } else { None }
        };
        run.told.iter().filter_map(of).collect::<Vec<_>>()
    };
    let mut home = Run::start(DeviceWish::Cpu);
    home.to(8);
    let (away, home) = (evaluations(&run), evaluations(&home));
    assert!(!home.is_empty() && home.starts_with(&away) && away.len() + 1 >= home.len(), "{away:?} {home:?}");
}

#[test]
fn a_knob_that_changes_the_loss_is_taken_along() {
    let turned = |wish| {
        let mut run = Run::start(wish);
        run.experiment.offer(Twin::new().boxed());
        run.to(2);
        for (name, value) in [("clip_value", 1.0), ("lr", 0.001)] {
            run.experiment.command(Command::SetKnob { name: name.into(), value }).unwrap();
        }
        run.to(5);
        run.weights()
    };
    assert_eq!(turned(DeviceWish::Gpu), turned(DeviceWish::Cpu));
    assert_ne!(turned(DeviceWish::Cpu), at_home(5).0);
}
