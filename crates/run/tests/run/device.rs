//! Training on another machine, which is a stand-in on this processor: what it does must be, bit for bit, what the run would
//! have been on the processor.

use crate::common::*;
use run::AnyRun;
use run::protocol::{Command, Config, Device, DeviceWish, Event, Level};
use run::room::Room;

/// A run of one room, the clock that it goes by, and what was told.
struct Driven<R: Room> {
    run: run::Run<R>,
    now_s: f64,
    /// Seconds of a slice.
    slice_s: Box<dyn Fn() -> f64 + Send>,
    told: Vec<Event>,
}

impl<R: Room> Driven<R> {
    fn of(run: run::Run<R>, wish: DeviceWish) -> Self {
        let mut run = Self { run, now_s: 0.0, slice_s: Box::new(|| 0.01), told: Vec::new() };
        run.wish(wish);
        run.run.command(Command::Start).unwrap();
        run
    }

    fn new(config: Config, wish: DeviceWish) -> Self {
        Self::of(run::Run::new(config, host()).unwrap(), wish)
    }

    fn wish(&mut self, wish: DeviceWish) {
        self.run.command(Command::Device { wish }).unwrap();
    }

    #[track_caller]
    fn slice(&mut self) {
        assert!(self.run.advance(self.now_s));
        self.now_s += (self.slice_s)();
        self.told.extend(self.run.events());
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
        self.until(|run| run.run.progress().iteration >= iteration && run.run.at_boundary());
        assert_eq!(self.run.progress().iteration, iteration);
        self
    }

    /// Until something was told about devices.
    #[track_caller]
    fn decided(&mut self) -> Device {
        self.until(|run| !run.devices().is_empty());
        self.devices()[0].clone()
    }

    fn devices(&self) -> Vec<&Device> {
        self.told.iter().filter_map(|event| if let Event::Device(device) = event { Some(device) } else { None }).collect()
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
        self.run.digest().weights
    }

    fn arithmetic(&self) -> String {
        self.run.digest().arithmetic
    }
}

/// Whole iterations of control, which another learner on this processor does.
mod control {
    use super::*;

    use learn::control::{Accelerator, IterationOutput, IterationStats, Ppo, PpoConfig};
    use learn::control::{IterationInput, Snapshot, ppo::LossSums};
    use learn::{Data, Fault, Learner, Machine, Slice};
    use math::Isa;
    use run::control::Control;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    type Run = Driven<Control>;

    impl Run {
        fn start(wish: DeviceWish) -> Run {
            Driven::new(small("control", "CartPole-v1", 5), wish)
        }
    }

    fn control(run: &mut Run) -> &mut Control {
        run.run.room()
    }

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

        fn special(&self, request: &dyn std::any::Any) -> Option<Result<Box<dyn std::any::Any>, Fault>> {
            learn::offload::serve(request, |snapshot: &Snapshot| self.connect(snapshot))
        }
    }

    impl Twin {
        fn connect(&self, snapshot: &Snapshot) -> Result<Box<dyn Accelerator>, Fault> {
            if let Some(fault) = &self.refuses {
                return Err(fault.clone());
            }
            self.taken_on.fetch_add(1, Relaxed);
            let parts = &snapshot.state;
            let find = |name: &str| parts.iter().find(|p| p.0 == name).map(|p| (p.1.as_slice(), &p.2));
            let spec = snapshot.spec.clone();
            let twin = Ppo::restore(spec.kind, spec.config, spec.seed, Isa::best(), &find).unwrap();
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
        fn begin(&mut self, input: &IterationInput) -> Result<(), Fault> {
            self.machine.begun.fetch_add(1, Relaxed);
            let config = PpoConfig { lr: input.config.lr, ..input.config.clone() };
            self.twin.set_config(config).unwrap();
            (self.looks, self.watch) = (0, input.record);
            Ok(())
        }

        fn poll(&mut self, output: &mut IterationOutput) -> Result<bool, Fault> {
            self.looks += 1;
            if self.looks < self.machine.looks {
                return Ok(false);
            }
            if self.done == self.machine.lives {
                return Err(Fault::Lost { why: "a test pulled its plug".into() });
            }
            self.done += 1;
            let before = self.twin.progress().episodes;
            let mut updates = 1;
            let stats = loop {
                let steps = self.twin.progress().env_steps;
                match self.twin.advance() {
                    Slice::Ended(stats) => break stats,
                    _ => updates += u32::from(self.twin.progress().env_steps == steps),
                }
            };
            self.write(output, &stats, updates, before);
            Ok(true)
        }
    }

    impl TwinAtWork {
        fn write(&self, output: &mut IterationOutput, stats: &IterationStats, updates: u32, before: u64) {
            let parts = self.twin.parts();
            let part = |name: &str| &parts.iter().find(|p| p.0 == name).unwrap().2;
            let floats = |name: &str| match part(name) {
                Data::F32(values) => values.clone(),
                _ => panic!("{name} are floats"),
            };
            let words = |name: &str| match part(name) {
                Data::U32(values) => values.clone(),
                _ => panic!("{name} are whole numbers"),
            };
            let IterationStats { policy_loss, value_loss, entropy, approx_kl, clip_fraction, grad_norm, .. } = *stats;
            let ended = self.twin.progress().episodes - before;
            let (returns, lengths) = (floats("recent.returns"), words("recent.lengths"));
            let newest = self.twin.progress().episodes - ended.min(100)..self.twin.progress().episodes;
            let sum = |mean: f32| f64::from(mean) * f64::from(updates);
            let (mut recorded_observations, mut recorded_ended) = (Vec::new(), Vec::new());
            if self.watch {
                let recorded = self.twin.recorded();
                recorded.read(0..recorded.steps, &mut recorded_observations, &mut recorded_ended);
            }
            *output = IterationOutput {
                params: self.twin.params().values().to_vec(),
                adam_m: floats("adam.m"),
                adam_v: floats("adam.v"),
                sums: LossSums {
                    metrics: [policy_loss, value_loss, entropy, approx_kl, clip_fraction].map(sum),
                    grad_norm: sum(grad_norm),
                    updates,
                },
                explained_variance: stats.explained_variance,
                states: floats("environments.state"),
                steps: words("environments.steps"),
                episodes: words("environments.episodes"),
                episode_returns: floats("environments.returns"),
                episodes_ended: ended,
                finished: newest.map(|n| (returns[(n % 100) as usize], lengths[(n % 100) as usize])).collect(),
                recorded_observations,
                recorded_ended,
                ..IterationOutput::default()
            };
        }
    }

    /// The same run on the processor all the time.
    fn at_home(iterations: u32) -> (String, Vec<Option<f64>>, Vec<f32>) {
        let mut run = Run::start(DeviceWish::Cpu);
        control(&mut run).frame();
        run.to(iterations);
        let frame = control(&mut run).frame();
        (run.weights(), control(&mut run).evaluate(50, 7), frame.observations)
    }

    #[test]
    fn a_run_goes_to_another_machine_and_back_and_is_the_same() {
        let mut run = Run::start(DeviceWish::Cpu);
        control(&mut run).frame();
        run.to(2);
        run.run.command(Command::Device { wish: DeviceWish::Gpu }).unwrap();
        run.to(3);
        assert!(run.run.wants_machine(), "until it comes, the processor trains");
        let twin = Twin::new();
        run.run.offer(twin.boxed());
        run.to(5);
        assert_eq!(twin.begun.load(Relaxed), 2);
        run.run.command(Command::Device { wish: DeviceWish::Cpu }).unwrap();
        run.to(7);
        assert_eq!(twin.begun.load(Relaxed), 2);

        let (weights, mean_return, observations) = at_home(7);
        assert_eq!(run.weights(), weights);
        assert_eq!(control(&mut run).evaluate(50, 7), mean_return);
        let frame = control(&mut run).frame();
        assert_eq!((frame.steps, frame.observations == observations), (7 * 16, true), "what was seen there is shown");
        let mut home = Run::start(DeviceWish::Cpu);
        home.to(7);
        assert_eq!(explained(&run), explained(&home));
        assert_eq!(run.run.digest().arithmetic, "mixed");
        let on_gpu: Vec<_> = run.devices().iter().map(|d| d.on_gpu).collect();
        assert_eq!(on_gpu, [false, true, false]);
        assert!(run.warnings().is_empty());
    }

    /// How well each iteration's values explained its returns.
    fn explained(run: &Run) -> Vec<f64> {
        let at = run.run.schema().metric("explained_variance").unwrap();
        let value = |event: &Event| if let Event::Metrics(row) = event { row.values[at] } else { None };
        run.told.iter().filter_map(value).collect()
    }

    #[test]
    fn a_save_made_away_is_resumed_at_home() {
        let mut run = Run::start(DeviceWish::Gpu);
        run.run.offer(Twin::new().boxed());
        run.to(3);
        assert_eq!(run.run.digest().arithmetic, "gpu");
        run.slice();
        assert!(!run.run.at_boundary(), "the next iteration is under way");
        let bytes = run.run.save().unwrap();
        assert_eq!(run.run.progress().iteration, 4);
        let mut resumed = Run::of(run::Run::restore(&bytes, host()).unwrap(), DeviceWish::Auto);
        resumed.to(6);
        assert_eq!(resumed.weights(), at_home(6).0);
    }

    #[test]
    fn a_machine_that_is_lost_takes_nothing_with_it() {
        let mut run = Run::start(DeviceWish::Gpu);
        let twin = Twin { lives: 2, ..Twin::new() };
        run.run.offer(twin.boxed());
        run.to(6);
        assert_eq!(twin.begun.load(Relaxed), 3);
        assert_eq!(run.weights(), at_home(6).0, "the third iteration was done at home");
        let [(text, next_step)] = run.warnings()[..] else { panic!("{:?}", run.warnings()) };
        assert!(text.contains("lost") && text.contains("pulled its plug"), "{text}");
        assert!(next_step.contains("choose the GPU again"), "{next_step}");
        assert!(!run.devices().last().unwrap().on_gpu);
        assert!(!run.run.wants_machine());
        // It is back.
        run.run.command(Command::Device { wish: DeviceWish::Gpu }).unwrap();
        assert!(run.run.wants_machine());
        run.run.offer(Twin::new().boxed());
        run.to(8);
        assert!(run.devices().last().unwrap().on_gpu);
        assert_eq!(run.weights(), at_home(8).0);
    }

    #[test]
    fn what_cannot_take_the_run_on_is_named() {
        for fault in [Fault::OutOfMemory, Fault::TooSmall { needs: 9, has: 8 }, Fault::NoAdapter { why: "none".into() }] {
            let mut run = Run::start(DeviceWish::Gpu);
            let offered = match &fault {
                Fault::NoAdapter { .. } => Err(fault.clone()),
                _ => Twin { refuses: Some(fault.clone()), ..Twin::new() }.boxed(),
            };
            run.run.offer(offered);
            run.to(3);
            assert_eq!(run.weights(), at_home(3).0);
            let [(text, next_step)] = run.warnings()[..] else { panic!("{:?}", run.warnings()) };
            assert_eq!(format!("{text} {next_step}").to_lowercase(), format!("{fault}.").to_lowercase());
            let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
            assert!(!device.on_gpu && device.wish == DeviceWish::Gpu);
        }
    }

    /// Three whole iterations are timed on the processor before the GPU is tried.
    #[test]
    fn a_restored_run_times_its_first_iteration_like_any_other() {
        let tried_after = |mut run: Run| {
            let (twin, from) = (Twin::new(), run.run.progress().iteration);
            run.run.offer(twin.boxed());
            run.until(|_| twin.taken_on.load(Relaxed) > 0);
            run.run.progress().iteration - from
        };
        assert_eq!(tried_after(Run::start(DeviceWish::Auto)), 3);
        let mut run = Run::start(DeviceWish::Cpu);
        run.to(2);
        let bytes = run.run.save().unwrap();
        let resumed = Run::of(run::Run::restore(&bytes, host()).unwrap(), DeviceWish::Auto);
        assert_eq!(tried_after(resumed), 3);
    }

    #[test]
    fn left_alone_it_takes_the_faster_one_and_says_why() {
        // Its iteration takes two looks, one on the processor several slices.
        let mut run = Run::start(DeviceWish::Auto);
        let quick = Twin::new();
        run.run.offer(quick.boxed());
        run.to(6);
        let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
        let [home, away] = device.rates.expect("both were measured");
        assert!(device.on_gpu && away > home && home > 0.0, "{device:?}");
        assert_eq!(quick.taken_on.load(Relaxed), 2, "one was thrown away");
        assert_eq!(run.weights(), at_home(6).0, "a probe leaves no trace");

        let mut run = Run::start(DeviceWish::Auto);
        // Ready after twenty iterations on the processor, and slower than they are when it is timed.
        run.run.offer(Twin { looks: 20, ..Twin::new() }.boxed());
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
            run.run.offer(twin.boxed());
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
        let digest = home.run.digest();
        let mut run = Run::start(DeviceWish::Auto);
        run.run.expect(digest);
        let twin = Twin::new();
        run.run.offer(twin.boxed());
        run.to(16);
        let reproduced = |e: &Event| matches!(e, Event::Notice { text, .. } if text.starts_with("Reproduced"));
        assert!(run.told.iter().any(reproduced) && twin.begun.load(Relaxed) == 0);
        run.to(24);
        assert!(run.devices().last().unwrap().on_gpu, "from then on it is free");
    }

    #[test]
    fn a_reset_keeps_the_machine_and_tests_are_of_the_weights_they_name() {
        let mut run = Run::start(DeviceWish::Gpu);
        run.run.offer(Twin::new().boxed());
        run.to(3);
        run.run.command(Command::Reset { config: None }).unwrap();
        run.told.clear();
        run.to(5);
        assert!(run.devices().last().unwrap().on_gpu);
        run.to(8);
        let tests = |run: &Run| {
            let of = |e: &Event| {
                if let Event::Test(row) = e { Some((row.progress.iteration, row.values.clone())) } else { None }
            };
            run.told.iter().filter_map(of).collect::<Vec<_>>()
        };
        let mut home = Run::start(DeviceWish::Cpu);
        home.to(8);
        let (away, home) = (tests(&run), tests(&home));
        assert!(!home.is_empty() && home.starts_with(&away) && away.len() + 1 >= home.len(), "{away:?} {home:?}");
    }

    #[test]
    fn a_knob_that_changes_the_loss_is_taken_along() {
        let turned = |wish| {
            let mut run = Run::start(wish);
            run.run.offer(Twin::new().boxed());
            run.to(2);
            for (name, value) in [("clip_value", 1.0), ("lr", 0.001)] {
                run.run.command(Command::SetKnob { name: name.into(), value: f64::into(value) }).unwrap();
            }
            run.to(5);
            run.weights()
        };
        assert_eq!(turned(DeviceWish::Gpu), turned(DeviceWish::Cpu));
        assert_ne!(turned(DeviceWish::Cpu), at_home(5).0);
    }
}

/// Learning, and valuing boards, of the published learner of backgammon.
mod backgammon {
    use super::*;
    use learn::backgammon::published::LocalAccelerator;
    use learn::backgammon::published::accelerator::{
        Accelerator, Answer, DECISION_WORDS, OffloadSpec, PackedSample, TrainResult, TrainStateRef, Work,
    };
    use learn::{Fault, Machine};
    use run::DIGEST_EVERY;
    use run::backgammon::Backgammon;
    use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    /// Seconds of a slice on the processor.
    const HOME_S: f64 = 0.01;

    type Run = Driven<Backgammon>;

    /// How the other machine behaves.
    #[derive(Clone)]
    struct Twin {
        /// Looks at an answer until it is there.
        looks: u32,
        /// Calls after which it is lost; for ever where they are negative.
        lives: Arc<AtomicI64>,
        software: bool,
        refuses: Option<Fault>,
        /// Seconds that a slice takes by the test's clock while it learns, and while it does all.
        slice_s: [f64; 2],
        /// Those at work now, and those that there have been: learning alone, and all.
        at_work: [Arc<AtomicU32>; 2],
        taken_on: [Arc<AtomicU32>; 2],
    }

    impl Twin {
        fn new() -> Twin {
            let counts = || [Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0))];
            Twin {
                looks: 2,
                lives: Arc::new(AtomicI64::new(-1)),
                software: false,
                refuses: None,
                slice_s: [HOME_S; 2],
                at_work: counts(),
                taken_on: counts(),
            }
        }

        fn with_lives(lives: i64) -> Twin {
            Twin { lives: Arc::new(AtomicI64::new(lives)), ..Twin::new() }
        }

        fn boxed(&self) -> Result<Box<dyn Machine>, Fault> {
            Ok(Box::new(self.clone()))
        }

        fn taken_on(&self) -> [u32; 2] {
            self.taken_on.each_ref().map(|count| count.load(Relaxed))
        }

        fn slice_s(&self) -> f64 {
            let working = self.at_work.iter().position(|count| count.load(Relaxed) > 0);
            working.map_or(HOME_S, |kind| self.slice_s[kind])
        }
    }

    impl Machine for Twin {
        fn name(&self) -> String {
            "Twin (this processor)".into()
        }

        fn is_software(&self) -> bool {
            self.software
        }

        fn special(&self, request: &dyn std::any::Any) -> Option<Result<Box<dyn std::any::Any>, Fault>> {
            learn::offload::serve(request, |spec: &OffloadSpec| self.accelerator(spec))
        }
    }

    impl Twin {
        fn accelerator(&self, spec: &OffloadSpec) -> Result<Box<dyn Accelerator>, Fault> {
            if let Some(fault) = &self.refuses {
                return Err(fault.clone());
            }
            let kind = usize::from(spec.work == Work::ALL);
            self.taken_on[kind].fetch_add(1, Relaxed);
            self.at_work[kind].fetch_add(1, Relaxed);
            Ok(Box::new(Working { accelerator: LocalAccelerator::new(spec)?, machine: self.clone(), kind, looks: 0 }))
        }
    }

    struct Working {
        accelerator: LocalAccelerator,
        machine: Twin,
        kind: usize,
        looks: u32,
    }

    impl Drop for Working {
        fn drop(&mut self) {
            self.machine.at_work[self.kind].fetch_sub(1, Relaxed);
        }
    }

    impl Working {
        fn live(&self) -> Result<(), Fault> {
            match self.machine.lives.fetch_sub(1, Relaxed) {
                0 => Err(Fault::Lost { why: "a test pulled its plug".into() }),
                _ => Ok(()),
            }
        }

        fn is_here(&mut self) -> bool {
            self.looks = (self.looks + 1) % self.machine.looks;
            self.looks == 0
        }
    }

    impl Accelerator for Working {
        fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
            self.live()?;
            self.accelerator.set_weights(weights)
        }

        fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault> {
            self.live()?;
            self.accelerator.ask(lane, decisions)
        }

        fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
            self.live()?;
            if self.is_here() { self.accelerator.answer(lane, answer) } else { Ok(false) }
        }

        fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
            self.live()?;
            self.accelerator.set_state(state)
        }

        fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault> {
            self.live()?;
            self.accelerator.store_samples(first, packed_samples)
        }

        fn step(&mut self, adam: &graph::Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
            self.live()?;
            self.accelerator.step(adam, value_coef, drawn)
        }

        fn request_result(&mut self) -> Result<(), Fault> {
            self.live()?;
            self.accelerator.request_result()
        }

        fn poll_result(&mut self, result: &mut TrainResult) -> Result<bool, Fault> {
            self.live()?;
            if self.is_here() { self.accelerator.poll_result(result) } else { Ok(false) }
        }
    }

    fn small() -> Config {
        let list = [
            ("tables", 3.0),
            ("games", 4.0),
            ("batch", 32.0),
            ("evals", 4.0),
            ("round_batches", 24.0),
            ("replay", 300.0),
            ("minibatch", 64.0),
            ("generation_rounds", 2.0),
            ("duel_pairs", 2.0),
        ];
        Config { knobs: knobs(&list), ..super::small("backgammon", "published", 5) }
    }

    fn strong() -> Config {
        super::small("backgammon", "strong", 5)
    }

    impl Run {
        fn start(config: Config, wish: DeviceWish) -> Run {
            Driven::new(config, wish)
        }

        /// One that is offered a machine before it begins.
        fn with(twin: &Twin, wish: DeviceWish) -> Run {
            let mut run = Run::start(small(), wish);
            run.offer(twin);
            run
        }

        fn offer(&mut self, twin: &Twin) {
            assert!(self.run.wants_machine());
            let clock = twin.clone();
            self.slice_s = Box::new(move || clock.slice_s());
            self.run.offer(twin.boxed());
            assert!(!self.run.wants_machine());
        }

        /// Games, moves, boards valued, steps of the optimiser, and the weights.
        fn standing(&self) -> (Vec<f64>, String) {
            (self.run.progress().counts, self.weights())
        }

        /// It is, from its next boundary on, the run that was on the processor all the time.
        #[track_caller]
        fn is_the_one_at_home(&mut self) {
            let rounds = self.run.progress().iteration;
            // Weights, and then games, samples and moments, too.
            for rounds in rounds + 1..=rounds + 3 {
                self.to(rounds);
                assert_eq!(self.standing(), at_home(rounds), "after {rounds} rounds");
            }
        }
    }

    /// Where the run stands after so many rounds on the processor.
    fn at_home(rounds: u32) -> (Vec<f64>, String) {
        type Known = (Option<Run>, Vec<(Vec<f64>, String)>);
        static KNOWN: Mutex<Known> = Mutex::new((None, Vec::new()));
        let (home, known) = &mut *KNOWN.lock().unwrap();
        let home = home.get_or_insert_with(|| Run::start(small(), DeviceWish::Cpu));
        while known.len() < rounds as usize {
            home.to(known.len() as u32 + 1);
            known.push(home.standing());
        }
        known[rounds as usize - 1].clone()
    }

    #[test]
    fn a_run_goes_to_another_machine_and_back_and_is_the_same() {
        let mut run = Run::start(small(), DeviceWish::Cpu);
        assert!(!run.run.wants_machine());
        run.to(2);
        run.wish(DeviceWish::Gpu);
        run.to(3);
        assert!(run.run.wants_machine(), "until it comes, the processor trains");
        let twin = Twin::new();
        run.offer(&twin);
        run.until(|run| run.run.progress().iteration == 4 || run.run.waiting());
        assert!(run.run.waiting(), "there is nothing to do while it is asked");
        run.to(6);
        assert_eq!(twin.taken_on(), [0, 1], "all is lent where it was chosen");
        run.wish(DeviceWish::Cpu);
        run.to(8);
        assert_eq!(twin.at_work[1].load(Relaxed), 0);
        assert_eq!(run.arithmetic(), "mixed");
        let on_gpu: Vec<_> = run.devices().iter().map(|d| (d.wish, d.on_gpu, d.rates)).collect();
        let (cpu, gpu) = (DeviceWish::Cpu, DeviceWish::Gpu);
        assert_eq!(on_gpu, [(cpu, false, None), (gpu, true, None), (cpu, false, None)]);
        assert!(run.warnings().is_empty());
        run.is_the_one_at_home();
    }

    #[test]
    fn left_alone_it_takes_the_fastest_way_and_says_both_rates() {
        // Seconds of a slice where learning is offloaded, and where all is: of the latter a pass takes many more slices.
        for (slice_s, way, words) in [
            ([HOME_S / 10.0, HOME_S], Some(0), "Learning on the GPU beside games on the processor"),
            ([HOME_S * 2.0, HOME_S / 100.0], Some(1), "Learning and valuing boards on the GPU"),
            ([HOME_S / 10.0, HOME_S / 1000.0], Some(1), "Learning and valuing boards on the GPU"),
            ([HOME_S * 3.0, HOME_S], None, "The processor turned out to be faster"),
        ] {
            let twin = Twin { slice_s, ..Twin::new() };
            let mut run = Run::with(&twin, DeviceWish::Auto);
            let device = run.decided();
            let [home, away] = device.rates.expect("both were measured");
            assert!(device.why.contains(words), "{device:?}");
            assert_eq!((device.on_gpu, away > home), (way.is_some(), way.is_some()), "{device:?}");
            assert!(home > 0.0 && away > 0.0);
            let mut taken_on = [1, 1];
            if let Some(way) = way {
                taken_on[way] += 1;
            }
            let rounds = run.run.progress().iteration + 2;
            run.to(rounds);
            assert_eq!(twin.taken_on(), taken_on, "each was tried once, and thrown away");
            assert_eq!(run.devices().len(), 1);
            let arithmetic = run.arithmetic();
            assert_eq!(arithmetic == "mixed", way.is_some(), "{arithmetic}: it began at home");
            assert!(run.warnings().is_empty());
            run.is_the_one_at_home();
        }
    }

    #[test]
    fn what_is_slower_is_not_tried_for_long() {
        // A pass takes a second where learning is offloaded, and a seventh of one where all is.
        let twin = Twin { slice_s: [HOME_S, HOME_S / 50.0], looks: 100, ..Twin::new() };
        let mut run = Run::with(&twin, DeviceWish::Auto);
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
        let mut run = Run::with(&twin, DeviceWish::Auto);
        run.until(|_| twin.taken_on()[0] == 1);
        let (began_s, rounds) = (run.now_s, run.run.progress().iteration);
        let trained_s = run.run.progress().train_s;
        let device = run.decided();
        assert_eq!(device.why, "The GPU was not ready within 5 seconds.");
        assert!(!device.on_gpu && device.rates.is_none());
        assert!((4.9..5.2).contains(&(run.now_s - began_s)), "{}", run.now_s - began_s);
        assert!(run.run.progress().train_s - trained_s < 0.1, "a probe is not training");
        assert_eq!((run.run.progress().iteration, twin.taken_on()), (rounds, [1, 0]));
        run.is_the_one_at_home();
    }

    /// The rest of a round, as somebody else plays it.
    fn bring(run: &mut Run) {
        let (pieces, due) = run.run.due().expect("a round begins");
        run.run.take(&run::play(&due, pieces, host()).unwrap()).unwrap();
    }

    #[test]
    fn whoever_shares_its_games_stays_on_the_processor() {
        let twin = Twin::new();
        let mut run = Run::with(&twin, DeviceWish::Gpu);
        run.to(1);
        let error = run.run.share(true).unwrap_err();
        assert!(matches!(error, run::RunError::Offloaded) && clear(&error).contains("processor"), "{error}");
        run.wish(DeviceWish::Cpu);
        run.to(2).run.share(true).unwrap();
        run.wish(DeviceWish::Gpu);
        run.until(|run| run.run.waiting());
        bring(&mut run);
        assert!(run.to(3).warnings()[0].0.contains("Others play this run's games"), "{:?}", run.warnings());
        assert!(!run.run.wants_machine() && twin.at_work[1].load(Relaxed) == 0);
        run.run.share(false).unwrap();
        run.wish(DeviceWish::Cpu);
        run.is_the_one_at_home();
        // One that is just being tried out is given up.
        let mut run = Run::with(&twin, DeviceWish::Auto);
        run.until(|_| twin.at_work[0].load(Relaxed) == 1);
        run.run.share(true).unwrap();
        assert_eq!(twin.at_work[0].load(Relaxed), 0);
        let rounds = run.run.progress().iteration;
        bring(&mut run);
        assert_eq!(run.to(rounds + 1).standing(), at_home(rounds + 1));
    }

    #[test]
    fn a_pause_is_not_part_of_a_probe() {
        let twin = Twin { looks: 3, slice_s: [HOME_S * 3.0, HOME_S / 1000.0], ..Twin::new() };
        let mut run = Run::with(&twin, DeviceWish::Auto);
        for way in 0..2 {
            run.until(|_| twin.at_work[way].load(Relaxed) > 0);
            run.slice();
            run.run.command(Command::Pause).unwrap();
            assert!(!run.run.advance(run.now_s));
            run.now_s += 3600.0;
            run.run.command(Command::Start).unwrap();
        }
        let device = run.decided();
        assert!(device.on_gpu && device.why.contains("valuing"), "{device:?}");
        run.is_the_one_at_home();
    }

    #[test]
    fn one_that_pretends_is_never_taken_unless_it_was_chosen() {
        let twin = Twin { software: true, ..Twin::new() };
        let mut run = Run::with(&twin, DeviceWish::Auto);
        let device = run.decided();
        assert!(!device.on_gpu && device.why.contains("pretending"), "{device:?}");
        run.to(8);
        assert_eq!((twin.taken_on(), run.devices().len()), ([0, 0], 1));
        let mut run = Run::with(&twin, DeviceWish::Gpu);
        let device = run.decided();
        assert!(device.on_gpu && device.why.contains("pretending"), "{device:?}");
        run.to(2);
        assert_eq!(run.arithmetic(), "gpu");
        run.is_the_one_at_home();
    }

    #[test]
    fn a_machine_that_is_lost_takes_nothing_with_it() {
        for lives in [4, 30, 101, 250, 444] {
            let mut run = Run::with(&Twin::with_lives(lives), DeviceWish::Gpu);
            run.until(|run| !run.warnings().is_empty());
            let [(text, next_step)] = run.warnings()[..] else { panic!("{:?}", run.warnings()) };
            assert!(text.contains("lost") && text.contains("pulled its plug"), "{text}");
            assert!(next_step.contains("choose the GPU again"), "{next_step}");
            assert!(!run.devices().last().unwrap().on_gpu && !run.run.wants_machine());
            let rounds = run.run.progress().iteration + 1;
            run.to(rounds);
            assert_eq!(run.arithmetic(), "mixed", "some boards were valued there");
            // It is back.
            run.wish(DeviceWish::Gpu);
            run.offer(&Twin::new());
            run.to(rounds + 1);
            assert!(run.devices().last().unwrap().on_gpu);
            run.is_the_one_at_home();
        }
        // In the middle of a probe nobody asked for it.
        let twin = Twin::with_lives(12);
        let mut run = Run::with(&twin, DeviceWish::Auto);
        let device = run.decided();
        assert!(!device.on_gpu && device.rates.is_none() && device.why.contains("plug"), "{device:?}");
        assert!(run.warnings().is_empty());
        run.is_the_one_at_home();
    }

    #[test]
    fn what_cannot_take_the_run_on_is_named() {
        for fault in [Fault::OutOfMemory, Fault::TooSmall { needs: 9, has: 8 }, Fault::NoAdapter { why: "none".into() }] {
            for wish in [DeviceWish::Gpu, DeviceWish::Auto] {
                let mut run = Run::start(small(), wish);
                let offered = match &fault {
                    Fault::NoAdapter { .. } => Err(fault.clone()),
                    _ => Twin { refuses: Some(fault.clone()), ..Twin::new() }.boxed(),
                };
                run.run.offer(offered);
                let device = run.decided();
                assert!(!device.on_gpu && device.wish == wish, "{device:?}");
                assert!(fault.to_string().to_lowercase().starts_with(&device.why.to_lowercase()), "{device:?}");
                match (wish, &run.warnings()[..]) {
                    (DeviceWish::Gpu, [(text, next_step)]) => {
                        let whole = format!("{text} {next_step}").to_lowercase();
                        assert_eq!(whole, format!("{fault}.").to_lowercase());
                    }
                    (DeviceWish::Auto, []) => {}
                    (_, warnings) => panic!("{wish:?}: {warnings:?}"),
                }
                run.is_the_one_at_home();
            }
        }
    }

    #[test]
    fn the_strong_learner_stays_and_says_why() {
        let mut home = Run::start(strong(), DeviceWish::Cpu);
        home.to(3);
        for wish in [DeviceWish::Auto, DeviceWish::Gpu] {
            let mut run = Run::start(strong(), wish);
            assert!(!run.run.wants_machine(), "no GPU is opened for it");
            run.to(3);
            let [device] = run.devices()[..] else { panic!("{:?}", run.devices()) };
            assert!(!device.on_gpu && device.wish == wish && device.why.contains("sums a few rows"), "{device:?}");
            match (wish, &run.warnings()[..]) {
                (DeviceWish::Gpu, [(text, next_step)]) => {
                    assert_eq!(*text, device.why);
                    assert_eq!(*next_step, "Choose another learner of the room, or train on the processor.");
                }
                (DeviceWish::Auto, []) => {}
                (_, warnings) => panic!("{wish:?}: {warnings:?}"),
            }
            assert_eq!(run.run.digest(), home.run.digest());
        }
    }

    #[test]
    fn a_save_made_away_is_resumed_at_home() {
        let mut run = Run::with(&Twin::new(), DeviceWish::Gpu);
        run.to(3);
        assert_eq!(run.arithmetic(), "gpu");
        (0..9).for_each(|_| run.slice());
        assert!(!run.run.at_boundary(), "the next round is under way");
        let bytes = run.run.save().unwrap();
        assert_eq!(run.run.progress().iteration, 4);
        let mut resumed = Run::of(run::Run::restore(&bytes, host()).unwrap(), DeviceWish::Cpu);
        assert_eq!(resumed.arithmetic(), "gpu");
        resumed.to(5);
        assert_eq!(resumed.arithmetic(), "mixed");
        resumed.is_the_one_at_home();

        // As a shell asks for it, and one step.
        run.run.command(Command::Save).unwrap();
        (0..9).for_each(|_| run.slice());
        run.run.command(Command::Save).unwrap();
        run.run.command(Command::Step).unwrap();
        run.until(|run| run.told.iter().filter(|event| matches!(event, Event::Saved { .. })).count() == 2);
        assert!(!run.run.running() && !run.run.advance(run.now_s));
        assert_eq!(run.run.progress().iteration, 5);
        run.run.command(Command::Start).unwrap();
        run.is_the_one_at_home();
    }

    #[test]
    fn a_save_made_in_a_probe_is_of_the_run_and_the_probe_goes_on() {
        let twin = Twin { slice_s: [HOME_S / 10.0, HOME_S], ..Twin::new() };
        let mut run = Run::with(&twin, DeviceWish::Auto);
        run.until(|_| twin.at_work[0].load(Relaxed) > 0);
        (0..3).for_each(|_| run.slice());
        assert!(run.devices().is_empty() && run.run.at_boundary());
        let rounds = run.run.progress().iteration;
        let bytes = run.run.save().unwrap();
        run.run.command(Command::SetKnob { name: "lr".into(), value: 0.001.into() }).unwrap();
        assert!(run.decided().on_gpu);
        assert_eq!(run.run.progress().iteration, rounds);
        Run::of(run::Run::restore(&bytes, host()).unwrap(), DeviceWish::Cpu).is_the_one_at_home();
        run.is_the_one_at_home();
    }

    #[test]
    fn a_save_does_not_wait_for_ever() {
        let silent = || Run::with(&Twin { looks: u32::MAX, ..Twin::new() }, DeviceWish::Gpu);
        // In a long iteration the newest boundary is saved at once, and the machine works on.
        let mut run = silent();
        (0..200).for_each(|_| run.slice());
        assert!(run.run.waiting() && run.run.progress().iteration == 0);
        let bytes = run.run.save().unwrap();
        run.told.extend(run.run.events());
        assert!(run.warnings().is_empty() && run.devices().last().unwrap().on_gpu);
        Run::of(run::Run::restore(&bytes, host()).unwrap(), DeviceWish::Cpu).is_the_one_at_home();

        // A short one ends first, or its machine is given up.
        let mut run = silent();
        run.until(|run| run.run.waiting());
        let bytes = run.run.save().unwrap();
        run.told.extend(run.run.events());
        assert!(run.warnings()[0].0.contains("did not answer"), "{:?}", run.warnings());
        assert!(!run.devices().last().unwrap().on_gpu);
        let mut resumed = Run::of(run::Run::restore(&bytes, host()).unwrap(), DeviceWish::Cpu);
        resumed.is_the_one_at_home();
        run.is_the_one_at_home();
    }

    #[test]
    fn a_run_that_should_reach_a_links_digest_stays_where_it_can() {
        let mut home = Run::start(small(), DeviceWish::Cpu);
        home.to(DIGEST_EVERY);
        let mut run = Run::start(small(), DeviceWish::Auto);
        run.run.expect(home.run.digest());
        let twin = Twin { slice_s: [HOME_S / 10.0, HOME_S], ..Twin::new() };
        run.offer(&twin);
        run.to(DIGEST_EVERY);
        let reproduced = |event: &Event| matches!(event, Event::Notice { text, .. } if text.starts_with("Repro"));
        assert!(run.told.iter().any(reproduced));
        assert_eq!((twin.taken_on(), run.devices().len()), ([0, 0], 0));
        assert!(run.decided().on_gpu, "from then on it is free");
    }

    #[test]
    fn a_reset_and_a_restore_keep_the_wish_and_the_machine() {
        let twin = Twin::new();
        let mut run = Run::with(&twin, DeviceWish::Gpu);
        run.to(2);
        let bytes = run.run.save().unwrap();
        for (command, rounds) in [(Command::Reset { config: None }, 0), (Command::Restore { bytes, data: None, follow: false }, 2)] {
            run.slice();
            run.told.clear();
            run.run.command(command).unwrap();
            assert_eq!(run.run.progress().iteration, rounds);
            assert!(!run.run.wants_machine() && run.run.device_wish() == DeviceWish::Gpu);
            run.to(rounds + 2);
            assert_eq!((run.devices().len(), run.devices()[0].on_gpu), (1, true));
            assert_eq!(run.arithmetic(), "gpu");
        }
        assert_eq!(twin.taken_on(), [0, 3]);
        run.is_the_one_at_home();
        // To a learner that stays, and back.
        run.told.clear();
        run.run.command(Command::Reset { config: Some(strong()) }).unwrap();
        assert!(!run.decided().on_gpu);
        run.told.clear();
        run.run.command(Command::Reset { config: Some(small()) }).unwrap();
        assert!(run.decided().on_gpu);
        run.is_the_one_at_home();
    }

    #[test]
    fn knobs_turned_while_work_is_lent_count_from_the_next_round() {
        let turned = |wish| {
            let mut run = Run::start(small(), wish);
            if wish == DeviceWish::Gpu {
                run.offer(&Twin::new());
            }
            run.to(2);
            run.slice();
            for (name, value) in [("lr", 0.003), ("value_coef", 0.25), ("passes", 2.0)] {
                run.run.command(Command::SetKnob { name: name.into(), value: f64::into(value) }).unwrap();
            }
            run.to(6);
            run.weights()
        };
        assert_eq!(turned(DeviceWish::Gpu), turned(DeviceWish::Cpu));
        let mut plain = Run::start(small(), DeviceWish::Cpu);
        assert_ne!(turned(DeviceWish::Cpu), plain.to(6).weights());
    }
}

/// Steps of the cube's supervised learners, and the judging of many states.
mod cube {
    use super::*;

    use learn::Machine;
    use learn::offload::{Local, PlanEvaluator, PlanTrainer, TrainStateRef};
    use run::cube::Cube;
    use run::{Fault, protocol::Value};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// The stand-in on this processor, as one that is no pretence; it counts judges that were lent.
    #[derive(Clone, Default)]
    struct Twin {
        lent: Arc<AtomicU32>,
    }

    impl Machine for Twin {
        fn name(&self) -> String {
            "a twin".into()
        }

        fn is_software(&self) -> bool {
            false
        }

        fn trainer(&self, plan: &Arc<graph::Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
            Local.trainer(plan, state)
        }

        fn evaluator(&self, plan: &Arc<graph::Plan>, weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
            self.lent.fetch_add(1, Relaxed);
            Local.evaluator(plan, weights)
        }
    }

    fn start(wish: DeviceWish, tests: bool) -> Driven<Cube> {
        let mut config = small("cube", "2x2x2", 5);
        if tests {
            // Enough for a test within a few iterations.
            config.knobs.extend([("batch".into(), Value::from(8192.0)), ("updates".into(), Value::from(64.0))]);
        }
        Driven::new(config, wish)
    }

    #[test]
    fn what_it_does_away_is_what_it_would_have_done_at_home() {
        let (mut home, mut away) = (start(DeviceWish::Cpu, false), start(DeviceWish::Gpu, false));
        let twin = Twin::default();
        away.run.offer(Ok(Box::new(twin.clone())));
        home.to(4);
        away.to(4);
        assert!(away.devices()[0].on_gpu && twin.lent.load(Relaxed) > 0, "{:?}", away.devices());
        assert_eq!((away.weights(), away.arithmetic()), (home.weights(), "gpu".into()));
        // A knob that changes meanwhile changes there too, and home again it goes on.
        for run in [&mut home, &mut away] {
            run.run.command(set("lr", 1e-4)).unwrap();
            run.to(6);
        }
        assert_eq!(away.weights(), home.weights());
        away.wish(DeviceWish::Cpu);
        let bytes = away.to(7).run.save().unwrap();
        home.to(9);
        assert_eq!(away.to(9).weights(), home.weights());
        let mut resumed = Driven::of(run::Run::<Cube>::restore(&bytes, host()).unwrap(), DeviceWish::Cpu);
        assert_eq!(resumed.to(9).weights(), home.weights());
    }

    #[test]
    fn a_test_that_another_machine_judges_has_the_same_result() {
        let tested = |run: &mut Driven<Cube>| {
            let test = |event: &Event| matches!(event, Event::Test(_));
            run.until(|run| run.told.iter().any(test));
            match run.told.iter().find(|event| test(event)) {
                Some(Event::Test(row)) => (row.progress.iteration, row.values.clone()),
                _ => unreachable!("there is one"),
            }
        };
        let (mut home, mut away) = (start(DeviceWish::Cpu, true), start(DeviceWish::Gpu, true));
        away.run.offer(Ok(Box::new(Twin::default())));
        assert_eq!(tested(&mut home), tested(&mut away));
    }

    #[test]
    fn deep_q_stays_and_says_why() {
        let mut run = Driven::<Cube>::new(small("cube", "2x2x2-dqn", 5), DeviceWish::Gpu);
        assert!(!run.run.wants_machine(), "no GPU is opened for it");
        let device = run.decided();
        assert!(!device.on_gpu && device.why.contains("small steps"), "{device:?}");
    }
}

/// Updates of logic's populations.
mod logic {
    use super::*;

    use learn::Machine;
    use learn::logic::offload::Local;
    use run::Fault;
    use run::logic::Logic;
    use std::any::Any;

    /// The stand-in on this processor, as one that is no pretence.
    struct Twin;

    impl Machine for Twin {
        fn name(&self) -> String {
            "a twin".into()
        }

        fn is_software(&self) -> bool {
            false
        }

        fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
            Local(math::Isa::best()).special(request)
        }
    }

    #[test]
    fn a_population_goes_to_another_machine_and_back_and_is_the_same() {
        let start = |wish| Driven::<Logic>::new(small("logic", "life", 5), wish);
        let (mut home, mut away) = (start(DeviceWish::Cpu), start(DeviceWish::Gpu));
        away.run.offer(Ok(Box::new(Twin)));
        home.to(3);
        away.to(3);
        assert!(away.devices()[0].on_gpu, "{:?}", away.devices());
        assert_eq!((away.weights(), away.arithmetic()), (home.weights(), "gpu".into()));
        // A knob that changes meanwhile changes there too, and home again it goes on.
        for run in [&mut home, &mut away] {
            run.run.command(set("lr", 0.01)).unwrap();
            run.to(5);
        }
        assert_eq!(away.weights(), home.weights());
        away.wish(DeviceWish::Cpu);
        let bytes = away.to(6).run.save().unwrap();
        home.to(8);
        assert_eq!(away.to(8).weights(), home.weights());
        let mut resumed = Driven::of(run::Run::<Logic>::restore(&bytes, host()).unwrap(), DeviceWish::Cpu);
        assert_eq!(resumed.to(8).weights(), home.weights());
    }

    #[test]
    fn left_alone_it_measures_both() {
        let mut run = Driven::<Logic>::new(small("logic", "life", 5), DeviceWish::Auto);
        run.run.offer(Ok(Box::new(Twin)));
        let device = run.decided();
        let [home, away] = device.rates.expect("both were measured");
        assert!(home > 0.0 && away > 0.0, "{device:?}");
    }
}
