//! Records as lines: plain ones for people, JSON ones for scripts. The same records always give the
//! same lines, whether the run is live or long over.

use crate::record::{EndedBy, Record, Summary};
use crate::words::{self, clock, figure, grouped, short};
use run::protocol::{Event, Level, Metrics, PARTS};
use std::fs::File;
use std::io::{BufWriter, Result, Stdout, Write};
use std::path::Path;

/// Seconds of training between two plain lines.
const PLAIN_EVERY_S: f64 = 1.0;

pub struct Printer<W: Write = Stdout> {
    out: BufWriter<W>,
    json: bool,
    /// Training time of the last plain line.
    last_s: f64,
    /// Seconds by part, of the metrics so far; and the training time that they reach to.
    parts_s: [f64; PARTS.len()],
    known_s: f64,
}

impl<W: Write> Printer<W> {
    pub fn new(out: W, json: bool) -> Self {
        Printer {
            out: BufWriter::new(out),
            json,
            last_s: f64::NEG_INFINITY,
            parts_s: [0.0; PARTS.len()],
            known_s: 0.0,
        }
    }

    pub fn record(&mut self, record: &Record) -> Result<()> {
        if self.json {
            return writeln!(self.out, "{}", record.line());
        }
        self.count(record);
        match record {
            Record::Opened(o) => {
                let threads = if o.threads == 1 { "thread" } else { "threads" };
                writeln!(
                    self.out,
                    "Hothouse {}: {}, {} arithmetic, {} {threads}",
                    o.version, o.isa, o.arithmetic, o.threads
                )
            }
            Record::FileSaved { file, .. } => writeln!(self.out, "saved {file}"),
            Record::Summary(summary) => self.summary(summary),
            Record::Event(event) => self.event(event),
        }
    }

    fn count(&mut self, record: &Record) {
        match record {
            Record::Event(Event::Began { progress, .. }) => {
                (self.parts_s, self.known_s) = ([0.0; PARTS.len()], progress.train_s);
            }
            Record::Event(Event::Metrics(m)) => {
                let passed_s = m.progress.train_s - self.known_s;
                self.known_s = m.progress.train_s;
                self.parts_s.iter_mut().zip(m.shares).for_each(|(part_s, share)| *part_s += share * passed_s);
            }
            _ => {}
        }
    }

    /// `gradient 61%, policy 17%, …`: what took time, the longest first.
    fn breakdown(&self) -> Option<String> {
        let whole_s: f64 = self.parts_s.iter().sum();
        let share = |part_s: f64| 100.0 * part_s / whole_s;
        let mut parts: Vec<(f64, &str)> = self.parts_s.into_iter().zip(PARTS).collect();
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        parts.retain(|(part_s, _)| share(*part_s) >= 0.5);
        let words: Vec<String> =
            parts.into_iter().map(|(part_s, name)| format!("{name} {:.0}%", share(part_s))).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    fn event(&mut self, event: &Event) -> Result<()> {
        match event {
            Event::Began { config, progress, .. } => {
                self.last_s = f64::NEG_INFINITY;
                write!(self.out, "{} / {}, seed {}", config.room, config.env, config.seed)?;
                for (name, value) in &config.knobs {
                    write!(self.out, ", {name}={value}")?;
                }
                if progress.iteration > 0 {
                    write!(self.out, ", from step {}", grouped(progress.env_steps))?;
                }
                writeln!(self.out)
            }
            Event::Metrics(m) if m.progress.train_s >= self.last_s + PLAIN_EVERY_S => {
                self.last_s = m.progress.train_s;
                self.metrics(m)
            }
            Event::Mark(m) => {
                writeln!(self.out, "{:>8}  {} {} -> {}", clock(m.progress.train_s), m.knob, m.from, m.to)
            }
            Event::Device(device) => writeln!(self.out, "{}", words::device(device)),
            Event::Solved { progress, threshold } => writeln!(
                self.out,
                "{:>8}  solved: the evaluation reached {threshold} after {} steps",
                clock(progress.train_s),
                grouped(progress.env_steps)
            ),
            Event::Notice { level, text, next_step } => {
                let prefix = match level {
                    Level::Info => "",
                    Level::Warning => "warning: ",
                    Level::Error => "error: ",
                };
                writeln!(self.out, "{}", format!("{prefix}{text} {next_step}").trim_end())
            }
            Event::Metrics(_)
            | Event::Running { .. }
            | Event::Evaluation(_)
            | Event::Digest(_)
            | Event::Saved { .. } => Ok(()),
        }
    }

    fn metrics(&mut self, m: &Metrics) -> Result<()> {
        let mean = m.mean_return.map_or("-".into(), |r| format!("{r:.1}"));
        writeln!(
            self.out,
            "{:>8}  return {mean:>6}  steps {:>14}  {:>7}/s  value loss {:<9}  entropy {:<7}  kl {}",
            clock(m.progress.train_s),
            grouped(m.progress.env_steps),
            short(m.steps_per_s),
            figure(m.value_loss),
            figure(m.entropy),
            figure(m.approx_kl)
        )
    }

    fn summary(&mut self, s: &Summary) -> Result<()> {
        let why = match s.ended_by {
            EndedBy::Steps => "the steps asked for are done",
            EndedBy::Seconds => "the time is up",
            EndedBy::CpuSeconds => "the processor time is up",
            EndedBy::Solved => "the task is solved",
            EndedBy::Interrupt => "stopped",
            EndedBy::ClosedOutput => "nobody reads the output",
            EndedBy::Diverged => "training diverged",
        };
        let e = &s.evaluation;
        writeln!(self.out, "\n{} seed {}: {why}.", s.env, s.seed)?;
        writeln!(
            self.out,
            "  evaluation  mean return {:.1} over {} fresh episodes ({:.0} to {:.0})",
            e.mean_return, e.episodes, e.min_return, e.max_return
        )?;
        if let Some(solved) = &s.solved {
            let (steps, after) = (grouped(solved.env_steps), clock(solved.train_s));
            writeln!(self.out, "  solved      after {steps} steps, {after} of training")?;
        }
        writeln!(
            self.out,
            "  did         {} steps, {} iterations, {} episodes",
            grouped(s.steps),
            grouped(s.iterations.into()),
            grouped(s.episodes)
        )?;
        writeln!(
            self.out,
            "  took        {}, {} of processor time, {} steps/s",
            clock(s.seconds),
            clock(s.cpu_seconds),
            short(s.steps_per_s)
        )?;
        if let Some(breakdown) = self.breakdown() {
            writeln!(self.out, "  time        {breakdown}")?;
        }
        writeln!(self.out, "  digest      {} ({})", s.digest, s.arithmetic)?;
        if let Some(file) = &s.file {
            writeln!(self.out, "  saved       {file}")?;
        }
        if let Some(resume) = &s.resume {
            writeln!(self.out, "  continue    {resume}")?;
        }
        Ok(())
    }

    pub fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// The file that `watch` follows.
pub struct EventLog {
    file: BufWriter<File>,
}

impl EventLog {
    pub fn create(path: &Path) -> Result<EventLog> {
        Ok(EventLog { file: BufWriter::new(File::create(path)?) })
    }

    pub fn record(&mut self, record: &Record) -> Result<()> {
        writeln!(self.file, "{}", record.line())
    }

    pub fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::protocol::Progress;

    #[test]
    fn plain_lines_follow_the_time_of_training() {
        let mut printer = Printer::new(Vec::new(), false);
        for i in 0..50u32 {
            let progress = Progress {
                iteration: i,
                env_steps: u64::from(i) * 1000,
                train_s: f64::from(i) / 10.0,
                ..Default::default()
            };
            let metrics = Metrics { progress, mean_return: Some(20.0), ..Default::default() };
            printer.record(&Record::Event(Event::Metrics(metrics))).unwrap();
        }
        let text = String::from_utf8(printer.out.into_inner().unwrap()).unwrap();
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(text.contains("steps         10,000"), "{text}");
    }

    #[test]
    fn the_breakdown_weighs_each_iteration_by_its_time() {
        let mut printer = Printer::new(Vec::new(), false);
        assert_eq!(printer.breakdown(), None);
        let mut tell = |train_s, shares| {
            let progress = Progress { train_s, ..Default::default() };
            printer.record(&Record::Event(Event::Metrics(Metrics { progress, shares, ..Default::default() })))
        };
        tell(3.0, [0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0]).unwrap();
        tell(4.0, [0.1, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        assert_eq!(printer.breakdown().unwrap(), "policy 40%, gradient 38%, world 22%");
    }

    #[test]
    fn json_lines_are_the_records() {
        let mut printer = Printer::new(Vec::new(), true);
        printer.record(&Record::Event(Event::Running { running: true })).unwrap();
        let text = String::from_utf8(printer.out.into_inner().unwrap()).unwrap();
        assert_eq!(text, "{\"kind\":\"running\",\"running\":true}\n");
    }
}
