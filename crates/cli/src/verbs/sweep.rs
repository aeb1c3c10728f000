//! `hothouse sweep`: trains one config with many settings (combinations of knob values), and each setting with several seeds. Every run
//! uses one thread and shares no data with other runs, so the number of parallel runs does not affect results. Each finished run is a line
//! of the results file. A resumed sweep reads the results file and trains only the missing runs. The sweep trains all points of a given
//! grid; it does not search for settings.

use crate::args::SweepArgs;
use crate::error::Usage;
use crate::error::usage_error;
use crate::format::{self, clock, grouped, plural, quoted, short};
use crate::host::Machine;
use crate::session::begin;
use crate::session::record::{By, Names, Record};
use crate::session::training::GRACE;
use crate::signals::Signals;
use anyhow::{Context, Result, anyhow, bail};
use files::FileKind;
use run::outcomes::{Ended, Outcome, named, table};
use run::protocol::{Backend, Column, Command, Config, Event, Knobs, Value};
use run::sweep::{VARIANT, with};
use run::{AnyRoom, Host};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Maximum number of runs. A larger number is assumed to be a typing error.
const MOST_RUNS: usize = 100_000;
/// Time without a finished run after which a progress line is printed.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// First bytes of every line in a results file.
const LINE_BEGINS: &[u8] = br#"{"kind":"sweep_run""#;
const RESULTS: FileKind = FileKind {
    name: "file with results of a sweep",
    is_kind: |file| files::begins(file, LINE_BEGINS),
    next: "Name another file with --out",
    example: "sweep.jsonl",
    is_stream: false,
};

pub const HELP: &str = "\
Every run has one thread, and one run per CPU trains at a time; the number of parallel runs does not affect
results. Each finished run is written to the results file at once. Ctrl-C stops the sweep; the same command resumes
it, and `--seeds` may then be larger. A file with the results of another sweep is an error.

The sweep ends with a table: for each setting, the median and quartiles of the last test's result (the number that the
goal is about), and of the steps or games until a test first reached the goal.";

type Setting = Knobs;
/// A run: the index of its setting in `Sweep::settings`, and its seed.
type Job = (usize, u32);
type Done = BTreeMap<Job, Box<Finished>>;
/// Callback that is called with each finished run, and with `None` if no run has finished for `HEARTBEAT`.
type Report<'a> = &'a mut dyn FnMut(Option<(Job, Box<Finished>)>) -> Result<()>;

/// Limits of a run. The run ends at the first limit that it reaches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Limit {
    steps: Option<u64>,
    seconds: Option<f64>,
    until_solved: bool,
}

impl Limit {
    /// Formats the limits, such as `solved or 1,000,000 steps`.
    fn words(&self, unit: &str) -> String {
        let ends = [
            self.until_solved.then(|| "solved".to_string()),
            self.steps.map(|n| format!("{} {unit}", grouped(n))),
            self.seconds.map(|s| format!("{s} s")),
        ];
        ends.into_iter().flatten().collect::<Vec<_>>().join(" or ")
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    SweepRun(Box<Finished>),
    SweepSummary(Totals),
}

impl Line {
    pub fn text(&self) -> String {
        // Serialization cannot fail: the line is plain data with string keys.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A finished run: its setting and seed, and its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    room: String,
    variant: String,
    knobs: Setting,
    seed: u32,
    limit: Limit,
    arithmetic: String,
    version: String,
    /// Progress at the end of the run. The counters have the room's names.
    progress: serde_json::Value,
    /// Wall-clock time of the run in seconds. Other runs may have used the machine at the same time.
    seconds: f64,
    /// Latest metrics by column name.
    metrics: serde_json::Value,
    /// Test at the end of the run, by column name.
    test: serde_json::Value,
    /// Value of the column [`Sweep::result`], by which runs are compared.
    result: Option<f64>,
    /// Value of the room's first counter when the run was solved; `None` if the run is not solved.
    solved_at: Option<f64>,
    /// True if the run failed: its weights contain NaN or infinity, or an environment raised an error.
    diverged: bool,
    digest: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    complete: bool,
    runs: usize,
    finished: usize,
    /// Number of finished runs that the results file already contained.
    from_file: usize,
    seconds: f64,
    file: String,
    /// Command that resumes the sweep; `None` if the sweep is complete.
    resume: Option<String>,
    settings: Vec<Outcome>,
}

pub struct Sweep {
    room: &'static dyn AnyRoom,
    base: Config,
    settings: Vec<Setting>,
    seeds: u32,
    limit: Limit,
    /// Host with the share of the memory that one run may use.
    host: Host,
    arithmetic: String,
    version: String,
    /// Sum of the first counter over all runs of this process.
    done: AtomicU64,
}

pub fn run(room: Option<&str>, args: &SweepArgs, signals: &Signals) -> Result<()> {
    let began = Instant::now();
    let machine = Machine::new(&args.machine)?;
    let threads = machine.threads();
    let (sweep, opened) = Sweep::new(begin::room(room)?, args, &machine)?;
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
            // The line is written in one call, so that a crash leaves at most one incomplete line.
            file.write_all(format!("{line}\n").as_bytes())
                .with_context(|| format!("cannot write to {}. Free disk space and run the same command again", path.display()))?;
            done.insert(job, run);
            out.finished(&sweep, done_count(&done, sweep.seeds), &done[&job], &line)
        }
        None => out.alive(&sweep, from_file, done_count(&done, sweep.seeds), began),
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

/// Returns the number of finished runs with seeds 1 to `seeds`. The results file may contain runs with other seeds.
fn done_count(done: &Done, seeds: u32) -> usize {
    done.keys().filter(|(_, seed)| *seed <= seeds).count()
}

impl Sweep {
    pub fn new(room: &'static dyn AnyRoom, args: &SweepArgs, machine: &Machine) -> Result<(Sweep, Backend)> {
        let (host, threads) = (machine.host, machine.threads());
        let variant = begin::variant(room, args.variant.as_ref(), &args.data);
        let mut base = begin::config(room, variant, &args.set, host)?;
        begin::give_data(&mut base, &args.data, host)?;
        let knobs = room.knobs(&base.variant);
        let mut settings = vec![base.knobs.clone()];
        for axis in &args.knobs {
            if settings[0].contains_key(&axis.name) {
                bail!(Usage(format!("{0} is given twice. Name it once, with all its values", axis.name)));
            }
            let values = axis.values(args.points, &knobs).map_err(usage_error)?;
            // The number of runs is checked before the list of settings is created, because a long list takes much memory.
            let runs = settings.len().saturating_mul(values.len()).saturating_mul(args.seeds as usize);
            if runs > MOST_RUNS {
                bail!(Usage(format!("this sweep has more than {} runs. Use fewer --points, values or --seeds", grouped(MOST_RUNS as u64))));
            }
            settings = settings
                .iter()
                .flat_map(|setting| {
                    values.iter().map(|value| {
                        let mut setting = setting.clone();
                        setting.insert(axis.name.clone(), value.clone());
                        setting
                    })
                })
                .collect();
        }
        // The memory is divided among the parallel runs.
        let at_once = threads.min(settings.len() * args.seeds as usize).max(1) as u64;
        let host = Host { memory_bytes: host.memory_bytes / at_once, ..host };
        let declared = room.variant(&base, host).map_err(usage_error)?.sweep_budget as u64;
        let steps = args.steps.or_else(|| Some(declared).filter(|_| args.seconds.is_none()));
        let limit = Limit { steps, seconds: args.seconds, until_solved: args.until_solved };
        let mut sweep = Sweep {
            room,
            base,
            settings,
            seeds: args.seeds,
            limit,
            host,
            arithmetic: String::new(),
            version: String::new(),
            done: AtomicU64::new(0),
        };
        // Invalid settings are reported before the first run starts. Validation checks the ranges of values. In addition, one run is
        // created for each combination of the variant and the fixed knobs (`size`), which cannot change during a run. This creation finds
        // values that are incompatible with each other.
        let mut sizes = BTreeSet::new();
        let mut opened = Backend::default();
        for setting in &sweep.settings {
            let config = sweep.config(setting, 1);
            run::validate(&config, host).map_err(usage_error)?;
            let is_size = |name: &str| name == VARIANT || knobs.iter().any(|k| k.name == name && !k.live);
            let size: Vec<_> = setting.iter().filter(|(k, _)| is_size(k)).map(|(k, v)| format!("{k}={v}")).collect();
            if sizes.insert(size) {
                let run = run::begin(config, host).map_err(|e| Usage(format!("{}: {e}", named(setting))))?;
                opened = run.backend();
            }
        }
        opened.threads = threads as u32;
        (sweep.arithmetic, sweep.version) = (opened.arithmetic.clone(), opened.version.clone());
        Ok((sweep, opened))
    }

    fn config(&self, setting: &Setting, seed: u32) -> Config {
        let base = Config { seed, knobs: Setting::new(), ..self.base.clone() };
        setting.iter().fold(base, |config, (name, value)| with(&config, name, value))
    }

    /// Returns the default path of the results file. The hash in the name covers everything that determines the runs, except the number of
    /// seeds.
    fn default_file(&self) -> PathBuf {
        let (base, arithmetic) = (&self.base, &self.arithmetic);
        let identity = format!("{base:?} {:?} {:?} {arithmetic} {}", self.settings, self.limit, self.version);
        // The hash function is FNV-1a.
        let hash = identity.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        PathBuf::from(format!("sweep-{}-{}-{:08x}.jsonl", base.room, base.variant, hash >> 32))
    }

    /// Opens the results file for appending. Creates the file if it does not exist, and removes an incomplete last line. Returns the file
    /// and the runs that it contains.
    fn open(&self, path: &Path) -> Result<(File, Done)> {
        let shown = path.display();
        files::check(path, RESULTS)?;
        let mut file = files::open_lines(path, RESULTS)?;
        let bytes = files::read_at_most(&file, files::MAX_FILE_BYTES, &shown.to_string())?;
        let (done, whole) = self
            .read(&bytes)
            .map_err(|reason| anyhow!("{shown} {reason}. Name another file with --out, or repeat the command that wrote this file"))?;
        if whole < bytes.len() {
            let truncated = file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0)));
            truncated.with_context(|| format!("cannot remove the incomplete last line of {shown}"))?;
        }
        Ok((file, done))
    }

    /// Parses a results file. Returns the runs, and the length of the complete lines in bytes.
    pub fn read(&self, bytes: &[u8]) -> Result<(Done, usize), String> {
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |last| last + 1);
        let rest = &bytes[whole..];
        if !(rest.starts_with(LINE_BEGINS) || LINE_BEGINS.starts_with(rest)) {
            return Err("contains no sweep results".into());
        }
        let mut done = Done::new();
        for (i, line) in bytes[..whole].split_inclusive(|&b| b == b'\n').enumerate() {
            let Some(Line::SweepRun(run)) = str::from_utf8(line).ok().and_then(|line| run::json::read(line).ok()) else {
                return Err(format!("contains no sweep result in line {}", i + 1));
            };
            let Some(setting) = self.setting_of(&run) else {
                return Err(format!(
                    "contains the results of another sweep (line {}: {} {}, {}, until {}, {} arithmetic, Hothouse {})",
                    i + 1,
                    run.room,
                    run.variant,
                    named(&run.knobs),
                    run.limit.words(self.counter().unit),
                    run.arithmetic,
                    run.version
                ));
            };
            done.entry((setting, run.seed)).or_insert(run);
        }
        Ok((done, whole))
    }

    /// Returns the index of a run's setting in `settings`; `None` if the run belongs to another sweep.
    fn setting_of(&self, run: &Finished) -> Option<usize> {
        let same = run.room == self.base.room
            && run.variant == self.base.variant
            && run.limit == self.limit
            && run.arithmetic == self.arithmetic
            && run.version == self.version;
        self.settings.iter().position(|setting| same && *setting == run.knobs)
    }

    /// Runs the jobs on `threads` threads, one job at a time on each thread. Calls `report` on the calling thread.
    fn work(&self, jobs: &[Job], threads: usize, signals: &Signals, report: Report) -> Result<()> {
        // Every worker has a pool with one thread, so that parallel code inside a run is executed sequentially.
        let pools = (0..threads.min(jobs.len()))
            .map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build())
            .collect::<Result<Vec<_>, _>>()
            .context("cannot start the threads. Use fewer with --threads")?;
        let next = AtomicUsize::new(0);
        let (sender, results) = channel();
        std::thread::scope(|scope| {
            let workers: Vec<_> = pools
                .iter()
                .map(|pool| {
                    let (sender, next) = (sender.clone(), &next);
                    scope.spawn(move || pool.install(|| self.worker(jobs, next, signals, &sender)))
                })
                .collect();
            drop(sender);
            let reported = gather(&results, report);
            if reported.is_err() {
                signals.output_closed.store(true, Relaxed);
            }
            let panicked = workers.into_iter().map(|w| w.join()).filter(Result::is_err).count();
            reported?;
            if panicked > 0 {
                bail!("a run stopped at an internal error, shown above. Please report it");
            }
            Ok(())
        })
    }

    fn worker(&self, jobs: &[Job], next: &AtomicUsize, signals: &Signals, results: &Sender<Result<(Job, Box<Finished>)>>) {
        while let Some(&(setting, seed)) = jobs.get(next.fetch_add(1, Relaxed)) {
            let Some(run) = self.one(&self.settings[setting], seed, signals).transpose() else { return };
            let failed = run.is_err();
            // If the send fails, the sweep has already ended with an error.
            if results.send(run.map(|run| ((setting, seed), run))).is_err() || failed {
                return;
            }
        }
    }

    /// Returns the counter to which the step limit applies.
    fn counter(&self) -> &'static Column {
        &self.room.schema().counters[0]
    }

    /// Returns the column by which runs are compared: the column of the variant's goal. Without a goal, returns the first column of tests,
    /// or the first column of metrics if the room has no tests.
    fn result(&self) -> &'static Column {
        let schema = self.room.schema();
        let goal = self.room.variant(&self.base, self.host).ok().and_then(|variant| variant.goal);
        let column = goal.and_then(|goal| Some(&schema.tests[schema.test(goal.column)?]));
        column.or(schema.tests.first()).unwrap_or(&schema.metrics[0])
    }

    /// Trains one run to its end. Returns `None` if a stop signal ends the run earlier.
    fn one(&self, setting: &Setting, seed: u32, signals: &Signals) -> Result<Option<Box<Finished>>> {
        let began = Instant::now();
        let mut run = run::begin(self.config(setting, seed), self.host)?;
        let schema = run.schema();
        run.command(Command::Start)?;
        let (mut done, mut metrics) = (0.0, None);
        loop {
            for event in run.events() {
                if let Event::Metrics(row) = event {
                    self.done.fetch_add((row.progress.counts[0] - done) as u64, Relaxed);
                    done = row.progress.counts[0];
                    metrics = Some(row);
                }
            }
            let late_s = self.limit.seconds.map_or(f64::NEG_INFINITY, |limit| began.elapsed().as_secs_f64() - limit);
            let spent = self.limit.steps.is_some_and(|limit| done >= limit as f64)
                || late_s >= 0.0
                || (self.limit.until_solved && run.solved().is_some());
            let may_end = run.at_boundary() || late_s > GRACE.as_secs_f64() && run.saves().is_some();
            if run.failure().is_some() || (spent && may_end) {
                break;
            }
            if signals.stopping() {
                return Ok(None);
            }
            run.advance(began.elapsed().as_secs_f64());
        }
        let seconds = began.elapsed().as_secs_f64();
        // A test may take as long as the run.
        let has_time = || self.limit.seconds.is_none_or(|limit| began.elapsed().as_secs_f64() < 2.0 * limit.max(seconds));
        let test = if run.failure().is_some() { None } else { run.test_while(&mut || has_time() && !signals.stopping())? };
        if test.is_none() && run.failure().is_none() && signals.stopping() {
            return Ok(None);
        }
        let names = Names::of(schema);
        let test_row = serde_json::to_value(By(&test, names.tests()))?;
        let metrics = serde_json::to_value(By(&metrics, names))?;
        let row = if schema.tests.is_empty() { &metrics } else { &test_row };
        let result = row.get(self.result().name).and_then(serde_json::Value::as_f64);
        Ok(Some(Box::new(Finished {
            room: self.base.room.clone(),
            variant: self.base.variant.clone(),
            knobs: setting.clone(),
            seed,
            limit: self.limit.clone(),
            arithmetic: self.arithmetic.clone(),
            version: self.version.clone(),
            progress: serde_json::to_value(By(&run.progress(), names))?,
            seconds,
            metrics,
            test: test_row,
            result,
            solved_at: run.solved().map(|progress| progress.counts[0]),
            diverged: run.failure().is_some(),
            digest: run.digest().weights,
        })))
    }

    pub fn outcomes(&self, done: &Done) -> Vec<Outcome> {
        let ended = |run: &Finished| Ended { result: run.result, solved_at: run.solved_at, diverged: run.diverged };
        let outcome = |(setting, knobs): (usize, &Setting)| {
            let runs = (1..=self.seeds).filter_map(|seed| done.get(&(setting, seed)));
            Outcome::of(knobs, &runs.map(|run| ended(run)).collect::<Vec<_>>())
        };
        self.settings.iter().enumerate().map(outcome).collect()
    }

    /// Returns the best setting: the setting with the largest share of solved seeds. Between equal shares, the larger median result
    /// decides, then the smaller median of `solved_at`. With `--until-solved`, the median of `solved_at` decides before the median result.
    /// Returns `None` if no run has finished.
    fn best<'a>(&self, outcomes: &'a [Outcome]) -> Option<&'a Outcome> {
        let key = |o: &Outcome| {
            let share = o.solved as f64 / o.runs as f64;
            let (gain, cost) = (o.result.median.unwrap_or(f64::MIN), o.solved_at.median.unwrap_or(f64::MAX));
            if self.limit.until_solved { [share, -cost, gain] } else { [share, gain, -cost] }
        };
        let better = |a: &[f64; 3], b: &[f64; 3]| a.partial_cmp(b).is_some_and(|order| order.is_gt());
        outcomes.iter().filter(|o| o.runs > 0).reduce(|a, b| if better(&key(b), &key(a)) { b } else { a })
    }
}

fn gather(results: &Receiver<Result<(Job, Box<Finished>)>>, report: Report) -> Result<()> {
    loop {
        match results.recv_timeout(HEARTBEAT) {
            Ok(finished) => report(Some(finished?))?,
            Err(RecvTimeoutError::Timeout) => report(None)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Prints the output of the sweep: JSON lines if `json` is true, otherwise text.
struct Lines {
    json: bool,
    total: usize,
    /// Number of digits of `total`.
    width: usize,
}

impl Lines {
    fn print(&self, text: &str) -> Result<()> {
        let mut out = crate::plain::stdout();
        writeln!(out, "{text}")?;
        Ok(out.flush()?)
    }

    fn head(&self, sweep: &Sweep, opened: Backend, path: &Path, from_file: usize) -> Result<()> {
        if self.json {
            return self.print(&Record::Opened(opened).line(sweep.room.schema()));
        }
        let (o, base) = (opened, &sweep.base);
        self.print(&format!("Hothouse {}: {}, {} arithmetic", o.version, o.isa, o.arithmetic))?;
        self.print(&format!(
            "{} / {}: {}, {}, {} at a time, each until {}",
            base.room,
            base.variant,
            plural(sweep.settings.len(), "setting"),
            plural(sweep.seeds as usize, "seed"),
            plural((o.threads as usize).min(self.total), "run"),
            sweep.limit.words(sweep.counter().unit)
        ))?;
        match from_file {
            0 => self.print(&format!("results go to {}", path.display())),
            n => self.print(&format!("{} already contains {n} of {} runs", path.display(), self.total)),
        }
    }

    fn finished(&self, sweep: &Sweep, done: usize, run: &Finished, line: &str) -> Result<()> {
        if self.json {
            return self.print(line);
        }
        let end = match run.solved_at {
            _ if run.diverged => "diverged".into(),
            Some(at) => format!("solved after {}", format::counted(sweep.counter(), at)),
            None => "not solved".into(),
        };
        let column = sweep.result();
        self.print(&format!(
            "[{done:>width$}/{}] {} seed {}: {} {}, {end}, {}",
            self.total,
            named(&run.knobs),
            run.seed,
            column.label.to_lowercase(),
            format::value(column, run.result),
            clock(run.seconds),
            width = self.width
        ))
    }

    fn alive(&self, sweep: &Sweep, from_file: usize, done: usize, began: Instant) -> Result<()> {
        if self.json {
            return Ok(());
        }
        let passed_s = began.elapsed().as_secs_f64();
        let left = match done - from_file {
            0 => String::new(),
            now => format!(", about {} left", clock(passed_s / now as f64 * (self.total - done) as f64)),
        };
        let (count, unit) = (sweep.done.load(Relaxed), sweep.counter().unit);
        self.print(&format!(
            "[{done:>width$}/{}] {} elapsed, {} {unit}, {} {unit}/s{left}",
            self.total,
            clock(passed_s),
            grouped(count),
            short(count as f64 / passed_s),
            width = self.width
        ))
    }

    fn tail(&self, sweep: &Sweep, totals: Totals) -> Result<()> {
        if self.json {
            return self.print(&Line::SweepSummary(totals).text());
        }
        self.print(&format!("\n{}", table(&totals.settings, sweep.result(), sweep.counter())))?;
        let goal = sweep.room.variant(&sweep.base, sweep.host).ok().and_then(|variant| variant.goal);
        if let (Some(goal), true) = (goal, totals.settings.iter().any(|o| o.solved < o.runs)) {
            self.print(&format!(
                "Solved means a {}. Unsolved runs count as infinitely slow, shown as -.",
                format::goal(sweep.room.schema(), &goal)
            ))?;
        }
        let program = quoted(&std::env::args().next().unwrap_or("hothouse".into()));
        if let (true, true, Some(best)) = (totals.complete, sweep.settings.len() > 1, sweep.best(&totals.settings)) {
            let set = |(name, value): (&String, &Value)| format!(" --set {}", quoted(&format!("{name}={value}")));
            let knobs = best.knobs.iter().filter(|(name, _)| *name != VARIANT);
            let set: String = knobs.map(set).collect();
            let data = sweep.base.data.as_ref().map(|data| format!(" --data {}", quoted(&data.name))).unwrap_or_default();
            self.print(&format!(
                "best        {}\n  train it  {program} train {} --variant {}{data}{set}",
                named(&best.knobs),
                sweep.base.room,
                sweep.config(&best.knobs, 1).variant
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
            Some(resume) => self.print(&format!("resume      {resume}")),
            None => Ok(()),
        }
    }
}
