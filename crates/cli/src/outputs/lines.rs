//! Prints records as plain lines or as JSON lines. The output depends only on the records, so `hothouse watch` prints a finished run like a
//! live run. A monitor file keeps only some rows of a long run, so some lines can be missing.

use crate::format::{self, briefs, clock, counted, counts, short};
use crate::session::budget::Remaining;
use crate::session::record::{EndedBy, Record, Summary};
use run::protocol::{Event, Level, Row, RunState, Standing};
use run::room::Schema;
use std::io::{BufWriter, Result, Write};

/// Minimum training time in seconds between two plain lines of metrics, and between two plain lines of tests.
const PLAIN_EVERY_S: f64 = 1.0;

pub struct Printer<W: Write> {
    out: BufWriter<W>,
    json: bool,
    /// Schema of the room of the current run.
    schema: &'static Schema,
    /// Training time in seconds at the last printed line of metrics, and at the last printed line of a test.
    last_s: [f64; 2],
    /// State of the run in words, as printed last.
    state: String,
    /// Latest progress towards the limits.
    remaining: Option<Remaining>,
}

impl<W: Write> Printer<W> {
    pub fn new(out: W, json: bool) -> Self {
        // The first room's schema is a placeholder. `Began` replaces it before the first record that depends on the schema.
        let schema = run::rooms()[0].schema();
        Printer { out: BufWriter::new(out), json, schema, last_s: [f64::NEG_INFINITY; 2], state: String::new(), remaining: None }
    }

    pub fn record(&mut self, record: &Record) -> Result<()> {
        if let Some(room) = record.room().and_then(|id| run::room(id).ok()) {
            self.schema = room.schema();
        }
        if self.json {
            return writeln!(self.out, "{}", record.line(self.schema));
        }
        match record {
            Record::Opened(o) => {
                let threads = if o.threads == 1 { "thread" } else { "threads" };
                let (isa, arithmetic) = (&o.isa, &o.arithmetic);
                writeln!(self.out, "Hothouse {}: {isa}, {arithmetic} arithmetic, {} {threads}", o.version, o.threads)
            }
            Record::FileSaved { file, .. } => writeln!(self.out, "saved {file}"),
            // The remaining time is printed with the next line of metrics.
            Record::Remaining(remaining) => {
                self.remaining = Some(*remaining);
                Ok(())
            }
            Record::Summary(summary) => self.summary(summary),
            Record::Event(event) => self.event(event),
        }
    }

    fn event(&mut self, event: &Event) -> Result<()> {
        let schema = self.schema;
        match event {
            Event::Began(began) => {
                self.last_s = [f64::NEG_INFINITY; 2];
                self.state.clear();
                self.remaining = None;
                let config = &began.config;
                write!(self.out, "{} / {}, seed {}", config.room, config.variant, config.seed)?;
                for (name, value) in &config.knobs {
                    write!(self.out, ", {name}={}", format::knob(value))?;
                }
                if began.progress.iteration > 0 {
                    write!(self.out, ", from {}", counted(&schema.counters[0], began.progress.counts[0]))?;
                }
                writeln!(self.out)
            }
            Event::Metrics(row) if self.is_due(0, row) => {
                let count = counted(&schema.counters[0], row.progress.counts[0]);
                let remaining = self.remaining.as_ref().map(format::remaining).unwrap_or_default();
                self.timed(row, &format!("{count:>20}"), briefs(schema.metrics, &row.values), &remaining)
            }
            Event::Test(row) if self.is_due(1, row) => self.timed(row, &format!("{:>20}", "test"), briefs(schema.tests, &row.values), ""),
            Event::Mark(m) => {
                let (from, to) = (format::knob(&m.from), format::knob(&m.to));
                writeln!(self.out, "{:>8}  {} {from} -> {to}", clock(m.progress.train_s), m.knob)
            }
            Event::Device(device) => writeln!(self.out, "{}", format::device(device)),
            Event::Room { text, .. } => writeln!(self.out, "{text}"),
            Event::Standing(Standing { progress, state, words, .. }) if *state != RunState::Learning && *words != self.state => {
                self.state.clone_from(words);
                writeln!(self.out, "{:>8}  {words}", clock(progress.train_s))
            }
            Event::Confirmation(confirmation) if !confirmation.confirmed => {
                let at = clock(confirmation.progress.train_s);
                writeln!(self.out, "{at:>8}  {}", format::attempt(confirmation))
            }
            Event::Notice { level, text, next_step } => {
                let prefix = match level {
                    Level::Info => "",
                    Level::Warning => "warning: ",
                    Level::Error => "error: ",
                };
                writeln!(self.out, "{}", format!("{prefix}{text} {next_step}").trim_end())
            }
            Event::Metrics(_)
            | Event::Test(_)
            | Event::Confirmation(_)
            | Event::Standing(_)
            | Event::Solved { .. }
            | Event::Running { .. }
            | Event::Digest(_)
            | Event::Saved { .. }
            | Event::NotSaved { .. } => Ok(()),
        }
    }

    fn is_due(&mut self, kind: usize, row: &Row) -> bool {
        let due = row.progress.train_s >= self.last_s[kind] + PLAIN_EVERY_S;
        if due {
            self.last_s[kind] = row.progress.train_s;
        }
        due
    }

    fn timed(&mut self, row: &Row, label: &str, pairs: Vec<(String, String)>, remaining: &str) -> Result<()> {
        let mut line = format!("{:>8}  {label}", clock(row.progress.train_s));
        for (name, value) in pairs {
            line += &format!("  {name} {value:<7}");
        }
        line += &format!("  {remaining}");
        writeln!(self.out, "{}", line.trim_end())
    }

    fn summary(&mut self, s: &Summary) -> Result<()> {
        let schema = self.schema;
        let first = &schema.counters[0];
        let reason = match s.ended_by {
            EndedBy::Steps => format!("{} limit reached", first.unit),
            EndedBy::Seconds => "time limit reached".into(),
            EndedBy::CpuSeconds => "CPU time limit reached".into(),
            EndedBy::Solved => "task solved".into(),
            EndedBy::Interrupt => "stopped".into(),
            EndedBy::ClosedOutput => "output closed".into(),
            EndedBy::Diverged => "training diverged".into(),
            EndedBy::WorldFailed => "an environment failed".into(),
        };
        writeln!(self.out, "\n{} / {}, seed {}: {reason}.", s.room, s.variant, s.seed)?;
        let mut line = |name: &str, text: &str| writeln!(self.out, "  {name:<11} {text}");
        let failed = matches!(s.ended_by, EndedBy::Diverged | EndedBy::WorldFailed);
        match &s.test {
            Some(test) => line("test", &format::test(schema, test))?,
            None if failed || s.machine.file.is_none() => {}
            None => line("test", "not done: it takes longer than the time that was left; `hothouse eval` tests the saved run")?,
        }
        if let Some(metrics) = &s.metrics {
            let pairs = briefs(schema.metrics, &metrics.values);
            let words: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name} {value}")).collect();
            line("metrics", &words.join(", "))?;
        }
        if let Some(Standing { name, number, words, .. }) = &s.standing {
            line("state", &format!("{words}; {name} {number}"))?;
        }
        if let Some(solved) = &s.solved {
            let after = clock(solved.train_s);
            line("solved", &format!("after {}, {after} of training", counted(first, solved.counts[0])))?;
        }
        if s.attempts > 0 {
            line("attempts", &format!("{} reached the goal without confirmation", s.attempts))?;
        }
        let iterations = format::grouped(s.progress.iteration.into());
        let unit = schema.iteration_word;
        line("progress", &format!("{}, {iterations} {unit}s", counts(schema, &s.progress)))?;
        let (took, cpu, rate) = (clock(s.seconds), clock(s.cpu_seconds), short(s.per_second));
        line("time", &format!("{took}, {cpu} of CPU time, {rate} {}/s", first.unit))?;
        if let Some(breakdown) = format::breakdown(schema, &s.parts_s.0) {
            line("breakdown", &breakdown)?;
        }
        let machine = &s.machine;
        if let Some(device) = &machine.device {
            line("device", device)?;
        }
        line("digest", &format!("{} ({})", machine.digest, machine.arithmetic))?;
        if let Some(file) = &machine.file {
            line("saved", file)?;
        }
        if let Some(resume) = &machine.resume {
            line("resume", resume)?;
        }
        Ok(())
    }

    pub fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}
