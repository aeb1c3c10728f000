//! Where everything of a learner lies on the device, and the lists of dispatches that work on it. Nothing runs here.
//!
//! Samples lie `[T][envs][features + 4]` (observation as the world shows it, action, its log-probability, advantage,
//! value): a minibatch reads each from one place. The rest of a rollout lies `[T][envs]`, states `[state][envs]`.

use crate::control::worlds::{World, world};
use crate::optimizer::Optimizer;
use crate::plan::Lowered;
use crate::program::{Program, Region, Space, groups};
use ::worlds::vector::{LENGTH_SHIFT, TERMINATED};
use graph::Table;
use learn::ppo::away::Shuffle;
use learn::ppo::{FARTHEST, Head, METRICS, SPREAD};
use learn::{Blueprint, Fault, PpoConfig, SHOWN};
use math::PANEL;
use std::fmt::{Display, Write as _};
use std::ops::Range;

/// Threads of a workgroup that each have an environment or a sample, and of one that adds up.
const THREADS: usize = 64;
const MANY_THREADS: usize = 256;
/// Places of a rollout whose ended episodes one workgroup counts.
const SPAN: usize = 16 * MANY_THREADS;
/// Newest episodes that are told.
pub const RECENT: usize = 100;
/// Steps of a rollout whose observations are told.
const TRAIL: usize = 128;
/// Rounds of a shuffle, and epochs that there is room for.
pub const ROUNDS: usize = 4;
pub const MOST_EPOCHS: usize = 1000;
/// Beyond these, a list of dispatches would take longer to hand over than to compute.
pub const MOST_STEPS: usize = 1 << 14;
pub const MOST_UPDATES: usize = 1 << 14;

/// Where among the floats that are written before an iteration stands what.
pub mod turn {
    pub const GAMMA: usize = 0;
    /// γλ
    pub const DECAY: usize = 1;
    /// Not 0 where advantages are normalised.
    pub const CENTRED: usize = 2;
    pub const KL_LIMIT: usize = 3;
    /// Of all rewards so far, those before this iteration and those in it; mean and variance of those before.
    pub const EARNED_SHARE: usize = 4;
    pub const NEW_SHARE: usize = 5;
    pub const EARNED_MEAN: usize = 6;
    pub const EARNED_VARIANCE: usize = 7;
    /// Of the metrics and the gradient's length, over the minibatches.
    pub const SUMS: usize = 8;
    pub const SUMMED: usize = 6;
    /// The lens follows.
    pub const LEN: usize = SUMS + SUMMED;

    pub const NAMES: [(&str, usize); 9] = [
        ("GAMMA", GAMMA),
        ("DECAY", DECAY),
        ("CENTRED", CENTRED),
        ("KL_LIMIT", KL_LIMIT),
        ("EARNED_SHARE", EARNED_SHARE),
        ("NEW_SHARE", NEW_SHARE),
        ("EARNED_MEAN", EARNED_MEAN),
        ("EARNED_VARIANCE", EARNED_VARIANCE),
        ("SUMS", SUMS),
    ];
}

/// The same of the whole numbers.
pub mod tally {
    /// Minibatches begun, and learned from.
    pub const UPDATE: usize = 0;
    pub const UPDATES: usize = 1;
    /// Episodes that ended.
    pub const ENDED: usize = 2;
    /// Steps taken before this iteration, in two words.
    pub const CLOCK: usize = 3;
    /// The rounds of each epoch's shuffle follow.
    pub const LEN: usize = 5;

    pub const NAMES: [(&str, usize); 2] = [("UPDATE", UPDATE), ("UPDATES", UPDATES)];
}

/// What is written before an iteration or told after it.
pub struct Places {
    pub params: Region,
    pub optimizer: Optimizer,
    pub states: Region,
    pub steps: Region,
    pub episodes: Region,
    pub totals: Region,
    pub discounted: Region,
    pub turn: Region,
    pub tally: Region,
    /// Count, mean and squares apart from it, of discounted sums of rewards, returns, advantages and observations.
    pub moments: Region,
    pub finished: Region,
    pub lengths: Region,
    trail: Region,
    trail_ended: Region,
}

/// Arrays of a rollout.
struct Rollout {
    lens: Region,
    samples: Region,
    rewards: Region,
    ended: Region,
    returns: Region,
    /// Of each environment, how often its episodes were cut short, and by then what it showed through the lens.
    cuts: Region,
    reached: Region,
    /// The critic's values of the states after the rollout, and of those.
    last: Region,
    bootstraps: Region,
}

/// Ranges of the program.
pub struct Lists {
    pub look: Range<usize>,
    /// A dispatch each: a step, and what is kept of each of the policy's runs after the last.
    pub steps: Range<usize>,
    pub keeps: Range<usize>,
    pub estimate: Range<usize>,
    pub trail: Range<usize>,
    /// Around the gradient of a minibatch.
    pub gather: Range<usize>,
    pub learn: Range<usize>,
}

pub struct Layout {
    pub envs: usize,
    pub features: usize,
    /// Numbers of a state.
    pub state: usize,
    /// Of an iteration.
    pub samples: usize,
    pub places: Places,
    pub lists: Lists,
    pub acting: Lowered,
    pub learning: Lowered,
}

impl Layout {
    pub fn new(
        blueprint: &Blueprint,
        table: &Table,
        space: &mut Space,
        program: &mut Program,
    ) -> Result<Layout, Fault> {
        let (config, spec) = (&blueprint.config, blueprint.kind.spec);
        let world = world(spec.id).ok_or_else(|| Fault::Unknown { what: spec.id.into() })?;
        let &PpoConfig { envs, rollout_steps: steps, .. } = config;
        if steps > MOST_STEPS {
            return Err(Fault::Unknown { what: format!("a rollout of more than {MOST_STEPS} steps") });
        }
        let (state, features) = (world.state, world.observation);
        let samples = envs * steps;
        // An environment is cut short at most so often in a rollout.
        let cuts = steps.div_ceil(world.step_limit as usize);
        // Places are counted in words of 32 bits: what cannot fit is refused before it is laid out.
        let floats = (samples + cuts * envs) * (features + 4);
        let plans = blueprint.acting.arena_bytes() + blueprint.learning.arena_bytes();
        let (needs, has) = (plans as u64 + 4 * floats as u64, program.gpu().largest_buffer());
        if needs > has {
            return Err(Fault::TooSmall { needs, has });
        }

        let len = table.len();
        let (trail, shown) = (steps.min(TRAIL), SHOWN.min(envs));
        let quantities = 2 + if config.normalize_observation { features } else { 0 };
        let (params, grads) = (space.floats(len), space.floats(len));
        let places = Places {
            params,
            optimizer: Optimizer::new(len, space),
            states: space.floats(envs * state),
            steps: space.words(envs),
            episodes: space.words(envs),
            totals: space.floats(envs),
            discounted: space.floats(if config.normalize_reward { envs } else { 0 }),
            turn: space.floats(turn::LEN + 2 * features),
            tally: space.words(tally::LEN + 2 * ROUNDS * MOST_EPOCHS),
            moments: space.floats(3 * (1 + quantities)),
            finished: space.floats(RECENT),
            lengths: space.words(RECENT),
            trail: space.floats(trail * shown.next_multiple_of(PANEL) * features),
            trail_ended: space.words(trail * shown),
        };
        let rollout = Rollout {
            lens: places.turn.part(turn::LEN, 2 * features),
            samples: space.floats(samples * (features + 4)),
            rewards: space.floats(samples),
            ended: space.words(samples),
            returns: space.floats(samples),
            cuts: space.words(envs),
            reached: space.floats(cuts * envs * features),
            last: space.floats(envs),
            bootstraps: space.floats(cuts * envs),
        };
        let acting = Lowered::new(&blueprint.acting, params, grads, space, program)?;
        let learning = Lowered::new(&blueprint.learning, params, grads, space, program)?;
        let maker = Maker { blueprint, world: &world, places: &places, rollout: &rollout, cuts, quantities };
        let lists = Lists {
            look: maker.look(program, &acting),
            steps: maker.steps(program, &acting, table),
            keeps: maker.keeps(program, &acting),
            estimate: maker.estimate(space, program),
            trail: maker.trail(program, trail, shown),
            gather: maker.gather(program, &learning),
            learn: maker.learn(space, program, &learning, grads),
        };
        Ok(Layout { envs, features, state, samples, places, lists, acting, learning })
    }

    /// Regions of floats and of whole numbers that an iteration gives back, in the order in which they are taken in.
    pub fn told(&self, watched: bool) -> [Vec<Region>; 2] {
        let Places { params, optimizer, states, totals, discounted, turn, moments, .. } = self.places;
        let sums = turn.part(turn::SUMS, turn::SUMMED);
        let mut floats = vec![
            params,
            optimizer.m,
            optimizer.v,
            states,
            totals,
            discounted,
            sums,
            moments,
            self.places.finished,
        ];
        let Places { steps, episodes, tally, lengths, .. } = self.places;
        let mut words = vec![steps, episodes, tally.part(0, tally::LEN), lengths];
        if watched {
            floats.push(self.places.trail);
            words.push(self.places.trail_ended);
        }
        [floats, words]
    }
}

/// A kernel's text behind its constants. A line that begins with `#NAME ` is repeated as often as the constant says,
/// each time with its number for #: WGSL's compilers count the rounds of every loop, so drivers do not unroll it, and
/// what it indexes leaves the registers.
struct Text {
    text: String,
    words: Vec<(String, usize)>,
}

impl Text {
    fn new(threads: usize) -> Text {
        Text { text: String::new(), words: Vec::new() }.word("THREADS", threads)
    }

    fn constant(mut self, name: &str, ty: &str, value: impl Display) -> Text {
        let _ = writeln!(self.text, "const {name}: {ty} = {value};");
        self
    }

    fn word(self, name: &str, value: usize) -> Text {
        self.constant(name, "u32", format_args!("{value}u")).count(name, value)
    }

    /// For repetitions only.
    fn count(mut self, name: &str, value: usize) -> Text {
        self.words.push((name.into(), value));
        self
    }

    fn float(self, name: &str, value: f32) -> Text {
        // The f64 that an f32 equals is read back to the bit.
        self.constant(name, "f32", format_args!("{:?}", f64::from(value)))
    }

    fn flag(self, name: &str, value: bool) -> Text {
        self.constant(name, "bool", value)
    }

    fn names(self, names: &[(&str, usize)]) -> Text {
        names.iter().fold(self, |text, (name, value)| text.word(name, *value))
    }

    fn add(mut self, text: &str) -> Text {
        for line in text.lines() {
            let counted = line.trim_start().strip_prefix('#').and_then(|line| line.split_once(' '));
            let (times, line) = match counted {
                Some((name, line)) => {
                    let word = self.words.iter().find(|word| word.0 == name);
                    (word.expect("a constant of this text").1, line)
                }
                None => (1, line),
            };
            for i in 0..times {
                let line = if counted.is_some() { line.replace('#', &i.to_string()) } else { line.into() };
                self.text += &(line + "\n");
            }
        }
        self
    }
}

const LENS: &str = include_str!("lens.wgsl");
const MOMENTS: &str = include_str!("moments.wgsl");

struct Maker<'a> {
    blueprint: &'a Blueprint,
    world: &'a World,
    places: &'a Places,
    rollout: &'a Rollout,
    cuts: usize,
    quantities: usize,
}

impl Maker<'_> {
    fn envs(&self) -> usize {
        self.blueprint.config.envs
    }

    /// What kernels that see observations know.
    fn text(&self, threads: usize) -> Text {
        let config = &self.blueprint.config;
        let features = self.world.observation;
        Text::new(threads)
            .word("FEATURES", features)
            .word("SAMPLE_LEN", features + 4)
            .word("STEPS", config.rollout_steps)
            .flag("NORMALIZED", config.normalize_observation)
            .float("FARTHEST", FARTHEST)
            .count("STATE", self.world.state)
    }

    /// What kernels know that see what became of a rollout.
    fn later_text(&self, threads: usize) -> Text {
        self.text(threads)
            .flag("REWARDS_NORMALIZED", self.blueprint.config.normalize_reward)
            .word("TERMINATED", TERMINATED as usize)
            .word("LENGTH_SHIFT", LENGTH_SHIFT as usize)
            .names(&turn::NAMES)
            .names(&tally::NAMES)
    }

    fn look(&self, program: &mut Program, acting: &Lowered) -> Range<usize> {
        let text = self.text(THREADS).add(&self.world.text).add(LENS).add(include_str!("look.wgsl"));
        let Rollout { samples, lens, cuts, .. } = self.rollout;
        let shown = acting.input("observation");
        let args = [self.envs() as u32, self.places.states.at, samples.at, shown.at, lens.at, cuts.at];
        each(program, "look", &text, &args, self.envs())
    }

    fn steps(&self, program: &mut Program, acting: &Lowered, table: &Table) -> Range<usize> {
        let Blueprint { head, config, draws, seed, .. } = self.blueprint;
        let text = self.text(THREADS).add(&self.world.text).add(LENS).add(include_str!("act.wgsl"));
        let (text, middle, half) = match *head {
            Head::Choices(count) => (text.word("CHOICES", count).add(include_str!("choose.wgsl")), 0.0, 0.0),
            Head::Level { middle, half, squash } => {
                (text.flag("SQUASHED", squash).add(include_str!("sway.wgsl")), middle, half)
            }
        };
        let spread = table.specs().iter().find(|spec| *spec.name == *SPREAD).map_or(0, |spec| spec.offset);
        let Places { params, states, steps, episodes, totals, tally, .. } = self.places;
        let Rollout { lens, samples, rewards, ended, returns, cuts, reached, .. } = self.rollout;
        let from = program.len();
        for step in 0..config.rollout_steps {
            let mut args = vec![
                step as u32,
                config.envs as u32,
                states.at,
                steps.at,
                episodes.at,
                totals.at,
                acting.output("policy").at,
                acting.output("value").at,
                acting.input("observation").at,
                lens.at,
                samples.at,
                rewards.at,
                ended.at,
                returns.at,
                cuts.at,
                reached.at,
                tally.at + tally::CLOCK as u32,
                params.at + spread as u32,
                middle.to_bits(),
                half.to_bits(),
            ];
            args.extend((self.world.key)(*seed));
            args.extend(draws);
            each(program, "act", &text, &args, config.envs);
        }
        from..program.len()
    }

    fn keeps(&self, program: &mut Program, acting: &Lowered) -> Range<usize> {
        let envs = self.envs();
        let width = envs * self.world.observation;
        let text = self.text(THREADS).add(include_str!("keep.wgsl"));
        let Rollout { reached, last, bootstraps, .. } = *self.rollout;
        let (value, shown) = (acting.output("value"), acting.input("observation"));
        let from = program.len();
        for run in 0..=self.cuts {
            let kept = if run == 0 { last } else { bootstraps.part((run - 1) * envs, envs) };
            let (next, items) =
                if run < self.cuts { (reached.part(run * width, width).at, width) } else { (u32::MAX, envs) };
            each(program, "keep", &text, &[envs as u32, value.at, kept.at, next, shown.at], items);
        }
        from..program.len()
    }

    fn estimate(&self, space: &mut Space, program: &mut Program) -> Range<usize> {
        let config = &self.blueprint.config;
        let envs = config.envs;
        let blocks = envs.div_ceil(THREADS);
        let Rollout { lens, samples, rewards, ended, returns, cuts, last, bootstraps, .. } = self.rollout;
        let Places { discounted, turn, moments, tally, finished, lengths, .. } = self.places;
        let earned_parts = space.floats(if config.normalize_reward { 3 * blocks } else { 0 });
        let parts = space.floats(3 * blocks * self.quantities);
        let merge = Text::new(MANY_THREADS).add(MOMENTS).add(include_str!("merge.wgsl"));
        let merge = program.kernel("merge", &merge.text);
        let from = program.len();
        if config.normalize_reward {
            let text = self.later_text(THREADS).add(MOMENTS).add(include_str!("earn.wgsl"));
            let args = [envs as u32, rewards.at, ended.at, discounted.at, turn.at, earned_parts.at];
            each(program, "earn", &text, &args, envs);
            program.dispatch(&merge, &[blocks as u32, earned_parts.at, moments.at], [1, 1, 1]);
        }
        let text = self
            .later_text(THREADS)
            .count("SEEN", self.quantities - 2)
            .add(MOMENTS)
            .add(include_str!("estimate.wgsl"));
        let args = [
            envs as u32,
            blocks as u32,
            samples.at,
            rewards.at,
            ended.at,
            cuts.at,
            last.at,
            bootstraps.at,
            turn.at,
            moments.at,
            lens.at,
            parts.at,
        ];
        each(program, "estimate", &text, &args, envs);
        let others = moments.part(3, 3 * self.quantities);
        let args = [blocks as u32, parts.at, others.at];
        program.dispatch(&merge, &args, [self.quantities as u32, 1, 1]);

        let places = envs * config.rollout_steps;
        let spans = places.div_ceil(SPAN);
        let tallies = space.words(spans);
        let counting =
            |text| self.later_text(MANY_THREADS).word("SPAN", SPAN).word("RECENT", RECENT).add(text).text;
        let kernel = program.kernel("tally", &counting(include_str!("tally.wgsl")));
        let args = [places as u32, spans as u32, ended.at, tallies.at];
        program.dispatch(&kernel, &args, groups(spans, 1));
        let kernel = program.kernel("newest", &counting(include_str!("newest.wgsl")));
        let args = [
            places as u32,
            spans as u32,
            ended.at,
            tallies.at,
            returns.at,
            finished.at,
            lengths.at,
            tally.at + tally::ENDED as u32,
        ];
        program.dispatch(&kernel, &args, groups(spans, 1));
        from..program.len()
    }

    fn trail(&self, program: &mut Program, steps: usize, shown: usize) -> Range<usize> {
        let text = self.text(THREADS).word("SHOWN", shown).add(include_str!("trail.wgsl"));
        let Rollout { samples, ended, .. } = self.rollout;
        let Places { trail, trail_ended, .. } = self.places;
        let args = [self.envs() as u32, steps as u32, samples.at, ended.at, trail.at, trail_ended.at];
        each(program, "trail", &text, &args, steps * shown.next_multiple_of(PANEL))
    }

    fn gather(&self, program: &mut Program, learning: &Lowered) -> Range<usize> {
        let Blueprint { config, minibatch, .. } = self.blueprint;
        let samples = config.envs * config.rollout_steps;
        let text = self
            .later_text(THREADS)
            .word("ROUNDS", ROUNDS)
            .flag("VALUE_CLIPPED", config.clip_value)
            .add(LENS)
            .add(include_str!("gather.wgsl"));
        let Places { turn, moments, tally, .. } = self.places;
        // Of every shuffle of so many, the rounds apart.
        let shuffle = Shuffle::new(self.blueprint.shuffles, samples, 0, 0);
        let mut args = vec![
            *minibatch as u32,
            config.envs as u32,
            config.minibatches as u32,
            (samples / config.minibatches) as u32,
            self.rollout.samples.at,
            self.rollout.lens.at,
            moments.part(6, 3).at,
            turn.at,
            tally.at,
            tally.at + tally::LEN as u32,
            shuffle.mask,
            shuffle.shift,
        ];
        let columns = ["observation", "action", "old_log_prob", "advantage", "return"];
        args.extend(columns.map(|name| learning.input(name).at));
        args.push(if config.clip_value { learning.input("old_value").at } else { 0 });
        each(program, "gather", &text, &args, *minibatch)
    }

    fn learn(
        &self,
        space: &mut Space,
        program: &mut Program,
        learning: &Lowered,
        grads: Region,
    ) -> Range<usize> {
        let Places { params, optimizer, turn, tally, .. } = self.places;
        let from = program.len();
        optimizer.step(*params, grads, space, program);
        let text = self.later_text(1).add(include_str!("books.wgsl"));
        let kernel = program.kernel("books", &text.text);
        let mut args = vec![turn.at, tally.at, optimizer.norm.at, optimizer.hold.at];
        args.extend(METRICS.map(|name| learning.output(name).at));
        program.dispatch(&kernel, &args, [1, 1, 1]);
        from..program.len()
    }
}

/// Appends a kernel with a thread for each of some items.
fn each(program: &mut Program, label: &str, text: &Text, args: &[u32], items: usize) -> Range<usize> {
    let kernel = program.kernel(label, &text.text);
    let from = program.len();
    program.dispatch(&kernel, args, groups(items, THREADS));
    from..program.len()
}
