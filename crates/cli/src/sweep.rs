//! `hothouse sweep`: one experiment under many settings and seeds. Every run has one thread and
//! nothing in common with the others, so how many go at once changes no result. Each finished run
//! is a line of a file, and that file is all there is to resume from: unfinished runs begin anew.
//! It refuses to search: it runs the grid it was asked for and tells what came of it.

use crate::args::{self, SweepArgs};
use crate::record::{Opened, Record};
use crate::session::Signals;
use crate::words::{clock, grouped, quoted, short};
use crate::{Usage, files, refusal};
use anyhow::{Context, Result, anyhow, bail};
use math::Isa;
use run::protocol::{Command, Config, Evaluation, Event, Knob, KnobKind, Level};
use run::{EVALUATION_EPISODES, Experiment};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// More is a slip of the hand.
const MOST_RUNS: usize = 100_000;
/// Where no other end is given.
const DEFAULT_STEPS: u64 = 1_000_000;
/// Silence after which a line says that the sweep goes on.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How every line of a results file begins.
const LINE_BEGINS: &[u8] = br#"{"kind":"sweep_run""#;

pub const HELP: &str = "\
Examples:
  hothouse sweep control --knob lr=1e-4..1e-2:log --seeds 5
  hothouse sweep control --knob lr=1e-3,3e-3 --knob gamma=0.95..0.99 --points 3 --until-solved --steps 5e6
  hothouse sweep control --seeds 20 --until-solved     one setting, twenty seeds

Every run has one thread, and as many go at once as there are processors: no result depends on how
many. A finished run is at once a line of the results file. Ctrl-C ends the sweep; the same command
goes on with what is missing, and `--seeds` may then be more. A file with the results of another
sweep is refused.

At the end a table: for every setting the median and the quartiles of the final evaluation's return
and of the environment steps to the first evaluation that reached the task's threshold.";

type Setting = BTreeMap<String, f64>;
/// Which setting, and the seed.
type Job = (usize, u32);
type Done = BTreeMap<Job, Box<Finished>>;
/// Takes each finished run, and nothing where there was none for a while.
type Tell<'a> = &'a mut dyn FnMut(Option<(Job, Box<Finished>)>) -> Result<()>;

/// One `--knob`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    name: String,
    points: Points,
}

#[derive(Clone, Debug, PartialEq)]
enum Points {
    List(Vec<f64>),
    Range { from: f64, to: f64, log: bool },
}

/// `lr=1e-4..1e-2:log`, `gamma=0.9..0.99` or `hidden=32,64,128`.
pub fn axis(text: &str) -> Result<Axis, String> {
    let form = "write it as KNOB=FROM..TO, KNOB=FROM..TO:log or KNOB=A,B,C";
    let (name, points) = text.split_once('=').ok_or(form)?;
    let points = match points.split_once("..") {
        None => Points::List(points.split(',').map(args::value).collect::<Result<_, _>>()?),
        Some((from, to)) => {
            let (to, log) = match to.split_once(':') {
                None => (to, false),
                Some((to, "log")) => (to, true),
                Some(_) => return Err(form.into()),
            };
            let (from, to) = (args::number(from)?, args::number(to)?);
            if from >= to {
                return Err("write the smaller end of the range first".into());
            }
            if log && from <= 0.0 {
                return Err("a logarithmic range begins above 0".into());
            }
            Points::Range { from, to, log }
        }
    };
    Ok(Axis { name: name.into(), points })
}

impl Axis {
    /// The values, each once, in the order of the command line.
    fn values(&self, count: u32, knobs: &[Knob]) -> Vec<f64> {
        let whole = knobs.iter().any(|k| k.name == self.name && !matches!(k.kind, KnobKind::Float { .. }));
        let raw = match &self.points {
            Points::List(list) => list.clone(),
            &Points::Range { from, to, log } => (0..count)
                .map(|i| match f64::from(i) / f64::from(count - 1) {
                    // The ends are what was written.
                    0.0 => from,
                    1.0 => to,
                    t if log => six_figures((from.ln() * (1.0 - t) + to.ln() * t).exp()),
                    t => six_figures(from * (1.0 - t) + to * t),
                })
                .map(|v| if whole { v.round() } else { v })
                .collect(),
        };
        let mut values: Vec<f64> = Vec::new();
        for value in raw {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
}

/// Short enough to type again, close enough to where it should be.
fn six_figures(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// When a run ends; the first that holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Limit {
    steps: Option<u64>,
    seconds: Option<f64>,
    until_solved: bool,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let ends = [
            self.until_solved.then(|| "solved".to_string()),
            self.steps.map(|n| format!("{} steps", grouped(n))),
            self.seconds.map(|s| format!("{s} s")),
        ];
        f.write_str(&ends.into_iter().flatten().collect::<Vec<_>>().join(" or "))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    SweepRun(Box<Finished>),
    SweepSummary(Totals),
}

impl Line {
    fn text(&self) -> String {
        // Plain data with string keys: there is nothing in it that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A finished run: what it was, then what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Finished {
    room: String,
    env: String,
    knobs: Setting,
    seed: u32,
    limit: Limit,
    arithmetic: String,
    version: String,
    steps: u64,
    iterations: u32,
    episodes: u64,
    /// On the wall, while other runs shared the machine.
    seconds: f64,
    /// Mean return of the last 100 training episodes.
    mean_return: Option<f64>,
    /// The policy at the end, on fresh episodes.
    evaluation: Evaluation,
    /// Environment steps until an evaluation first reached the task's threshold.
    solved_steps: Option<u64>,
    /// The weights are no longer numbers.
    diverged: bool,
    digest: String,
}

/// What came of one setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Outcome {
    knobs: Setting,
    /// Finished so far.
    runs: usize,
    solved: usize,
    diverged: usize,
    /// Of the final evaluations' mean returns.
    returns: Quartiles,
    /// A run that was not solved counts as one that takes for ever.
    solved_steps: Quartiles,
}

/// Null where there is no such number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Quartiles {
    q1: Option<f64>,
    median: Option<f64>,
    q3: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Totals {
    complete: bool,
    runs: usize,
    finished: usize,
    /// Of these, taken from the file.
    from_file: usize,
    seconds: f64,
    file: String,
    /// The command that does the rest.
    resume: Option<String>,
    settings: Vec<Outcome>,
}

struct Sweep {
    base: Config,
    settings: Vec<Setting>,
    seeds: u32,
    limit: Limit,
    isa: Isa,
    arithmetic: String,
    version: String,
    /// Environment steps of this process, all runs together.
    stepped: AtomicU64,
}

pub fn run(room: &str, args: &SweepArgs, isa: Isa, threads: usize, signals: &Signals) -> Result<()> {
    let began = Instant::now();
    let (sweep, opened) = Sweep::new(room, args, isa, threads)?;
    let path = args.out.clone().unwrap_or_else(|| sweep.default_file());
    let (mut file, mut done) = sweep.open(&path)?;
    let total = sweep.settings.len() * sweep.seeds as usize;
    let missing: Vec<Job> = (1..=sweep.seeds)
        .flat_map(|seed| (0..sweep.settings.len()).map(move |setting| (setting, seed)))
        .filter(|job| !done.contains_key(job))
        .collect();
    let from_file = total - missing.len();

    let out = Lines { json: args.json, total, width: total.to_string().len() };
    out.head(&sweep, opened, &path, from_file)?;
    let swept = sweep.work(&missing, threads, signals, &mut |finished| match finished {
        Some((job, run)) => {
            let line = Line::SweepRun(run.clone()).text();
            // One write, so that what a crash leaves is whole lines and at most one part of a line.
            file.write_all(format!("{line}\n").as_bytes()).with_context(|| {
                format!("cannot write to {}. Make room and give the same command again", path.display())
            })?;
            done.insert(job, run);
            out.finished(done_count(&done, sweep.seeds), &done[&job], &line)
        }
        None => out.alive(from_file, done_count(&done, sweep.seeds), began, sweep.stepped.load(Relaxed)),
    });
    swept?;

    let finished = done_count(&done, sweep.seeds);
    let again: Vec<String> = std::env::args().map(|word| quoted(&word)).collect();
    let totals = Totals {
        complete: finished == total,
        runs: total,
        finished,
        from_file,
        seconds: began.elapsed().as_secs_f64(),
        file: path.display().to_string(),
        resume: (finished < total).then(|| again.join(" ")),
        settings: sweep.outcomes(&done),
    };
    out.tail(&sweep, totals)
}

/// A file may hold more seeds than were asked for this time.
fn done_count(done: &Done, seeds: u32) -> usize {
    done.keys().filter(|(_, seed)| *seed <= seeds).count()
}

impl Sweep {
    fn new(room: &str, args: &SweepArgs, isa: Isa, threads: usize) -> Result<(Sweep, Opened)> {
        let knobs = run::knob_list(&args.env);
        let mut settings = vec![args.set.iter().cloned().collect::<Setting>()];
        for axis in &args.knobs {
            if settings[0].contains_key(&axis.name) {
                bail!(Usage(format!("{0} is given twice. Name it once, with all its values", axis.name)));
            }
            let values = axis.values(args.points, &knobs);
            // Counted before anything is made of it.
            let runs = settings.len().saturating_mul(values.len()).saturating_mul(args.seeds as usize);
            if runs > MOST_RUNS {
                bail!(Usage(format!(
                    "that is more than {} runs. Ask for fewer --points, values or --seeds",
                    grouped(MOST_RUNS as u64)
                )));
            }
            settings = settings
                .iter()
                .flat_map(|setting| {
                    values.iter().map(|&value| {
                        let mut setting = setting.clone();
                        setting.insert(axis.name.clone(), value);
                        setting
                    })
                })
                .collect();
        }
        let base = Config { room: room.into(), env: args.env.clone(), ..run::default_config() };
        let steps = args.steps.or_else(|| args.seconds.is_none().then_some(DEFAULT_STEPS));
        let limit = Limit { steps, seconds: args.seconds, until_solved: args.until_solved };
        let mut sweep = Sweep {
            base,
            settings,
            seeds: args.seeds,
            limit,
            isa,
            arithmetic: String::new(),
            version: String::new(),
            stepped: AtomicU64::new(0),
        };
        // Whatever no run can start from is known before the first one does: ranges by the table, and
        // sizes that do not go together by making one learner of each.
        let mut sizes = BTreeSet::new();
        let mut opened = Opened::default();
        for setting in &sweep.settings {
            let config = sweep.config(setting, 1);
            run::validate(&config).map_err(refusal)?;
            let is_size = |name: &str| knobs.iter().any(|k| k.name == name && !k.live);
            let size: Vec<_> =
                setting.iter().filter(|(k, _)| is_size(k)).map(|(k, v)| (k.clone(), v.to_bits())).collect();
            if sizes.insert(size) {
                let experiment =
                    Experiment::new(config, isa).map_err(|e| Usage(format!("{}: {e}", named(setting))))?;
                opened = experiment.backend().into();
            }
        }
        opened.threads = threads as u32;
        (sweep.arithmetic, sweep.version) = (opened.arithmetic.clone(), opened.version.clone());
        Ok((sweep, opened))
    }

    fn config(&self, setting: &Setting, seed: u32) -> Config {
        Config { seed, knobs: setting.clone(), ..self.base.clone() }
    }

    /// Told apart by all that decides the runs but the number of seeds, of which more may follow.
    fn default_file(&self) -> PathBuf {
        let (base, arithmetic) = (&self.base, &self.arithmetic);
        let identity = format!("{base:?} {:?} {:?} {arithmetic} {}", self.settings, self.limit, self.version);
        // FNV-1a
        let hash = identity
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        PathBuf::from(format!("sweep-{}-{}-{:08x}.jsonl", base.room, base.env, hash >> 32))
    }

    /// The results file, ready for more lines, and what it holds already.
    fn open(&self, path: &Path) -> Result<(File, Done)> {
        let shown = path.display();
        files::check_writable(path)?;
        let mut file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .with_context(|| format!("cannot open {shown}. Name another file with --out"))?;
        // Where the file system knows no locks, nothing is lost but this warning.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            bail!("another sweep is writing to {shown}. Let it end, or name another file with --out");
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
        let (done, whole) = self.read(&bytes).map_err(|why| {
            anyhow!(
                "{shown} {why}. Name another file with --out, or repeat the command that this one comes from"
            )
        })?;
        if whole < bytes.len() {
            file.set_len(whole as u64).with_context(|| format!("cannot mend the last line of {shown}"))?;
        }
        Ok((file, done))
    }

    /// The runs in a file, and how many of its bytes are whole lines.
    fn read(&self, bytes: &[u8]) -> Result<(Done, usize), String> {
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |last| last + 1);
        let rest = &bytes[whole..];
        if !(rest.starts_with(LINE_BEGINS) || LINE_BEGINS.starts_with(rest)) {
            return Err("holds no results of a sweep".into());
        }
        let mut done = Done::new();
        for (i, line) in bytes[..whole].split_inclusive(|&b| b == b'\n').enumerate() {
            let Ok(Line::SweepRun(run)) = serde_json::from_slice(line) else {
                return Err(format!("holds no results of a sweep in line {}", i + 1));
            };
            let Some(setting) = self.place(&run) else {
                return Err(format!(
                    "holds the results of another sweep (line {}: {} {}, {}, until {}, {} arithmetic, Hothouse {})",
                    i + 1,
                    run.room,
                    run.env,
                    named(&run.knobs),
                    run.limit,
                    run.arithmetic,
                    run.version
                ));
            };
            done.entry((setting, run.seed)).or_insert(run);
        }
        Ok((done, whole))
    }

    /// Which setting of this sweep a run has, if it is one of its runs.
    fn place(&self, run: &Finished) -> Option<usize> {
        let same = run.room == self.base.room
            && run.env == self.base.env
            && run.limit == self.limit
            && run.arithmetic == self.arithmetic
            && run.version == self.version;
        self.settings.iter().position(|setting| same && *setting == run.knobs)
    }

    /// Does the jobs on `threads` threads, one run on each; `tell` is called on this thread.
    fn work(&self, jobs: &[Job], threads: usize, signals: &Signals, tell: Tell) -> Result<()> {
        // A pool of one each: inside it the parallel seam runs everything in order.
        let pools = (0..threads.min(jobs.len()))
            .map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build())
            .collect::<Result<Vec<_>, _>>()
            .context("cannot start the threads. Ask for fewer with --threads")?;
        let next = AtomicUsize::new(0);
        let (give, results) = channel();
        std::thread::scope(|scope| {
            let workers: Vec<_> = pools
                .iter()
                .map(|pool| {
                    let (give, next) = (give.clone(), &next);
                    scope.spawn(move || pool.install(|| self.worker(jobs, next, signals, &give)))
                })
                .collect();
            drop(give);
            let told = gather(&results, tell);
            if told.is_err() {
                signals.output_closed.store(true, Relaxed);
            }
            let panicked = workers.into_iter().map(|w| w.join()).filter(Result::is_err).count();
            told?;
            if panicked > 0 {
                bail!("a run stopped at an internal error, told above. Please report it");
            }
            Ok(())
        })
    }

    fn worker(
        &self,
        jobs: &[Job],
        next: &AtomicUsize,
        signals: &Signals,
        give: &Sender<Result<(Job, Box<Finished>)>>,
    ) {
        while let Some(&(setting, seed)) = jobs.get(next.fetch_add(1, Relaxed)) {
            let Some(run) = self.one(&self.settings[setting], seed, signals).transpose() else { return };
            let failed = run.is_err();
            // Where nobody listens, an earlier error is being told.
            if give.send(run.map(|run| ((setting, seed), run))).is_err() || failed {
                return;
            }
        }
    }

    /// One run from its beginning to its end; nothing where it was stopped before.
    fn one(&self, setting: &Setting, seed: u32, signals: &Signals) -> Result<Option<Box<Finished>>> {
        let began = Instant::now();
        let mut experiment = Experiment::new(self.config(setting, seed), self.isa)?;
        experiment.command(Command::Start)?;
        let (mut steps, mut mean_return, mut solved_steps, mut diverged) = (0, None, None, false);
        loop {
            for event in experiment.events() {
                match event {
                    Event::Metrics(metrics) => {
                        self.stepped.fetch_add(metrics.progress.env_steps - steps, Relaxed);
                        (steps, mean_return) = (metrics.progress.env_steps, metrics.mean_return);
                    }
                    Event::Solved { progress, .. } => solved_steps = Some(progress.env_steps),
                    Event::Notice { level: Level::Error, .. } => diverged = true,
                    _ => {}
                }
            }
            let spent = self.limit.steps.is_some_and(|limit| steps >= limit)
                || self.limit.seconds.is_some_and(|limit| began.elapsed().as_secs_f64() >= limit)
                || (self.limit.until_solved && solved_steps.is_some());
            if diverged || (spent && experiment.at_boundary()) {
                break;
            }
            if signals.stopping() {
                return Ok(None);
            }
            experiment.advance(began.elapsed().as_secs_f64());
        }
        let seconds = began.elapsed().as_secs_f64();
        let progress = experiment.progress();
        Ok(Some(Box::new(Finished {
            room: self.base.room.clone(),
            env: self.base.env.clone(),
            knobs: setting.clone(),
            seed,
            limit: self.limit.clone(),
            arithmetic: self.arithmetic.clone(),
            version: self.version.clone(),
            steps: progress.env_steps,
            iterations: progress.iteration,
            episodes: progress.episodes,
            seconds,
            mean_return,
            evaluation: experiment.evaluate(EVALUATION_EPISODES, progress.iteration),
            solved_steps,
            diverged,
            digest: experiment.digest().weights,
        })))
    }

    fn outcomes(&self, done: &Done) -> Vec<Outcome> {
        let outcome = |(place, knobs): (usize, &Setting)| {
            let runs: Vec<&Finished> =
                (1..=self.seeds).filter_map(|seed| done.get(&(place, seed)).map(Box::as_ref)).collect();
            let returns = runs.iter().map(|r| r.evaluation.mean_return).collect();
            let steps = runs.iter().map(|r| r.solved_steps.map_or(f64::INFINITY, |n| n as f64)).collect();
            Outcome {
                knobs: knobs.clone(),
                runs: runs.len(),
                solved: runs.iter().filter(|r| r.solved_steps.is_some()).count(),
                diverged: runs.iter().filter(|r| r.diverged).count(),
                returns: quartiles(returns),
                solved_steps: quartiles(steps),
            }
        };
        self.settings.iter().enumerate().map(outcome).collect()
    }

    /// The setting to go on with: most seeds solved, then by what the sweep was to find out.
    fn best<'a>(&self, outcomes: &'a [Outcome]) -> Option<&'a Outcome> {
        let key = |o: &Outcome| {
            let share = o.solved as f64 / o.runs as f64;
            let (gain, cost) =
                (o.returns.median.unwrap_or(f64::MIN), o.solved_steps.median.unwrap_or(f64::MAX));
            if self.limit.until_solved { [share, -cost, gain] } else { [share, gain, -cost] }
        };
        let better = |a: &[f64; 3], b: &[f64; 3]| a.partial_cmp(b).is_some_and(|order| order.is_gt());
        outcomes.iter().filter(|o| o.runs > 0).reduce(|a, b| if better(&key(b), &key(a)) { b } else { a })
    }
}

fn gather(results: &Receiver<Result<(Job, Box<Finished>)>>, tell: Tell) -> Result<()> {
    loop {
        match results.recv_timeout(HEARTBEAT) {
            Ok(finished) => tell(Some(finished?))?,
            Err(RecvTimeoutError::Timeout) => tell(None)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// `lr=0.001 hidden=64`
fn named(setting: &Setting) -> String {
    if setting.is_empty() {
        return "all defaults".into();
    }
    setting.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// By linear interpolation between the sorted values, as NumPy has it. Infinite is none.
fn quartiles(mut values: Vec<f64>) -> Quartiles {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * values.len().checked_sub(1)? as f64;
        let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
        // Equal ends first: the way from infinity to infinity is no number.
        let value = if low == high { low } else { low + (high - low) * place.fract() };
        Some(value).filter(|v| v.is_finite())
    };
    Quartiles { q1: at(0.25), median: at(0.5), q3: at(0.75) }
}

/// What the sweep prints.
struct Lines {
    json: bool,
    total: usize,
    /// Of the number of runs, in digits.
    width: usize,
}

impl Lines {
    fn print(&self, text: &str) -> Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}")?;
        Ok(out.flush()?)
    }

    fn head(&self, sweep: &Sweep, opened: Opened, path: &Path, from_file: usize) -> Result<()> {
        if self.json {
            return self.print(&Record::Opened(opened).line());
        }
        let (o, base) = (opened, &sweep.base);
        self.print(&format!("Hothouse {}: {}, {} arithmetic", o.version, o.isa, o.arithmetic))?;
        self.print(&format!(
            "{} / {}: {}, {}, {} at a time, each until {}",
            base.room,
            base.env,
            counted(sweep.settings.len(), "setting"),
            counted(sweep.seeds as usize, "seed"),
            counted((o.threads as usize).min(self.total), "run"),
            sweep.limit
        ))?;
        match from_file {
            0 => self.print(&format!("results go to {}", path.display())),
            n => self.print(&format!("{n} of {} runs are in {} already", self.total, path.display())),
        }
    }

    fn finished(&self, done: usize, run: &Finished, line: &str) -> Result<()> {
        if self.json {
            return self.print(line);
        }
        let end = match run.solved_steps {
            _ if run.diverged => "diverged".into(),
            Some(steps) => format!("solved after {} steps", grouped(steps)),
            None => "not solved".into(),
        };
        self.print(&format!(
            "[{done:>width$}/{}] {} seed {}: return {:.1}, {end}, {}",
            self.total,
            named(&run.knobs),
            run.seed,
            run.evaluation.mean_return,
            clock(run.seconds),
            width = self.width
        ))
    }

    fn alive(&self, from_file: usize, done: usize, began: Instant, steps: u64) -> Result<()> {
        if self.json {
            return Ok(());
        }
        let passed_s = began.elapsed().as_secs_f64();
        let left = match done - from_file {
            0 => String::new(),
            now => format!(", about {} left", clock(passed_s / now as f64 * (self.total - done) as f64)),
        };
        self.print(&format!(
            "[{done:>width$}/{}] {} passed, {} steps, {} steps/s{left}",
            self.total,
            clock(passed_s),
            grouped(steps),
            short(steps as f64 / passed_s),
            width = self.width
        ))
    }

    fn tail(&self, sweep: &Sweep, totals: Totals) -> Result<()> {
        if self.json {
            return self.print(&Line::SweepSummary(totals).text());
        }
        self.print(&format!("\n{}", table(&totals.settings)))?;
        if totals.settings.iter().any(|o| o.solved < o.runs) {
            self.print(&format!(
                "Solved is an evaluation of {} or more. An unsolved run counts as one that takes for ever, shown as -.",
                run::environment_by_id(&sweep.base.env)?.solved_at
            ))?;
        }
        let program = quoted(&std::env::args().next().unwrap_or("hothouse".into()));
        if let (true, true, Some(best)) =
            (totals.complete, sweep.settings.len() > 1, sweep.best(&totals.settings))
        {
            let set: String =
                best.knobs.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
            self.print(&format!(
                "best        {}\n  train it  {program} train {} --env {}{set}",
                named(&best.knobs),
                sweep.base.room,
                sweep.base.env
            ))?;
        }
        let state = if totals.complete { "done" } else { "stopped" };
        self.print(&format!(
            "{state:<12}{} of {} runs, {}\nresults     {}",
            totals.finished,
            totals.runs,
            clock(totals.seconds),
            totals.file
        ))?;
        match totals.resume {
            Some(resume) => self.print(&format!("continue    {resume}")),
            None => Ok(()),
        }
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(n as u64), if n == 1 { "" } else { "s" })
}

fn table(outcomes: &[Outcome]) -> String {
    let returns = |x: Option<f64>| x.map_or("-".into(), |x| format!("{x:.1}"));
    let steps = |x: Option<f64>| x.map_or("-".into(), |x| grouped(x.round() as u64));
    let names: Vec<&String> = outcomes.first().map_or(Vec::new(), |o| o.knobs.keys().collect());
    let head = ["solved", "return", "25 %", "75 %", "steps to solved", "25 %", "75 %"];
    let mut rows: Vec<Vec<String>> =
        vec![names.iter().map(|n| n.to_string()).chain(head.map(String::from)).collect()];
    for o in outcomes {
        let diverged = if o.diverged > 0 { format!(", {} diverged", o.diverged) } else { String::new() };
        let (r, s) = (o.returns, o.solved_steps);
        let knobs = o.knobs.values().map(f64::to_string);
        let solved = format!("{} of {}{diverged}", o.solved, o.runs);
        let figures = [r.median, r.q1, r.q3].map(returns).into_iter();
        rows.push(knobs.chain([solved]).chain(figures).chain([s.median, s.q1, s.q3].map(steps)).collect());
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str, count: u32) -> Vec<f64> {
        axis(text).unwrap().values(count, &run::knob_list("CartPole-v1"))
    }

    #[test]
    fn knobs_are_ranges_or_lists() {
        assert_eq!(points("lr=1e-4..1e-2:log", 5), [1e-4, 3.16228e-4, 1e-3, 3.16228e-3, 1e-2]);
        assert_eq!(points("gamma=0.9..0.98", 3), [0.9, 0.94, 0.98]);
        assert_eq!(points("hidden=16..64:log", 4), [16.0, 25.0, 40.0, 64.0]);
        assert_eq!(points("epochs=1..3", 5), [1.0, 2.0, 3.0], "whole knobs have whole points, each once");
        assert_eq!(points("clip_value=off,on", 9), [0.0, 1.0]);
        assert_eq!(points("lr=3e-3,1e-3,3e-3", 9), [0.003, 0.001]);
        for bad in ["lr", "lr=", "lr=1..", "lr=2..1", "lr=1..1", "lr=0..1:log", "lr=1..2:cubic", "lr=a,b"] {
            assert!(axis(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn quartiles_are_numpys() {
        // numpy.percentile([7, 1, 4, 2], [25, 50, 75])
        let q = quartiles(vec![7.0, 1.0, 4.0, 2.0]);
        assert_eq!((q.q1, q.median, q.q3), (Some(1.75), Some(3.0), Some(4.75)));
        let never = f64::INFINITY;
        let q = quartiles(vec![never, 10.0, 30.0, never, 20.0]);
        assert_eq!((q.q1, q.median, q.q3), (Some(20.0), Some(30.0), None));
        let q = quartiles(vec![never, 10.0]);
        assert_eq!((q.q1, q.median, q.q3), (None, None, None));
        assert_eq!(quartiles(Vec::new()), Quartiles::default());
        assert_eq!(quartiles(vec![5.0]).q3, Some(5.0));
    }
}
