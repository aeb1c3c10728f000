//! A run as its records have told it so far: what the terminal draws. It folds records and refuses
//! to know where they come from, so training and watching look the same. Its size is bounded
//! however long the run.

use crate::record::{Opened, Record, Summary};
use crate::words;
use run::protocol::{
    Config, Device, Digest, Environment, Evaluation, Event, Knob, Level, Mark, Metrics, PARTS, Progress,
};
use std::collections::BTreeMap;

/// Points kept of a curve: more than any terminal has columns of dots.
const CURVE_POINTS: usize = 2048;
const MARKS: usize = 256;
/// Of one iteration in the breakdown of time: calm to look at, and soon true again after a change.
const SHARE_WEIGHT: f64 = 0.05;

#[derive(Clone, Debug, Default)]
pub struct View {
    pub opened: Opened,
    pub config: Option<Config>,
    pub environment: Option<Environment>,
    /// What the knobs are; their values are in `values`.
    pub knobs: Vec<Knob>,
    pub values: BTreeMap<String, f64>,
    pub progress: Progress,
    pub metrics: Option<Metrics>,
    /// Shares of the parts of the last iterations' time, each iteration counting a little.
    pub shares: [f64; PARTS.len()],
    /// Mean return of training episodes against environment steps.
    pub returns: Curve,
    /// Mean return of evaluations against environment steps.
    pub evaluations: Curve,
    pub evaluation: Option<Evaluation>,
    pub marks: Vec<Mark>,
    pub solved: Option<Progress>,
    pub digest: Option<Digest>,
    pub running: bool,
    pub device: Option<Device>,
    pub notice: Option<(Level, String)>,
    pub summary: Option<Summary>,
}

impl View {
    pub fn new(opened: Opened, knobs: Vec<Knob>) -> View {
        View { opened, knobs, ..View::default() }
    }

    pub fn apply(&mut self, record: Record) {
        match record {
            Record::Opened(opened) => self.opened = opened,
            Record::FileSaved { file, .. } => self.notice = Some((Level::Info, format!("saved {file}"))),
            Record::Summary(summary) => {
                self.running = false;
                self.summary = Some(summary);
            }
            Record::Event(event) => self.event(event),
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Began { config, environment, knobs, history, marks, evaluations, progress } => {
                *self = View {
                    opened: std::mem::take(&mut self.opened),
                    knobs: run::knob_list(&config.env),
                    config: Some(config),
                    environment: Some(*environment),
                    values: knobs,
                    running: self.running,
                    device: self.device.take(),
                    progress,
                    ..View::default()
                };
                history.into_iter().for_each(|m| self.metrics(m));
                marks.into_iter().for_each(|m| self.mark(m));
                evaluations.into_iter().for_each(|e| self.evaluation(e));
            }
            Event::Running { running } => self.running = running,
            Event::Device(device) => {
                self.notice = Some((Level::Info, words::device(&device)));
                self.device = Some(device);
            }
            Event::Metrics(metrics) => self.metrics(metrics),
            Event::Mark(mark) => {
                self.values.insert(mark.knob.clone(), mark.to);
                self.mark(mark);
            }
            Event::Evaluation(evaluation) => self.evaluation(evaluation),
            Event::Solved { progress, .. } => self.solved = Some(progress),
            Event::Digest(digest) => self.digest = Some(digest),
            // The bytes are the trainer's business; it tells of the file.
            Event::Saved { .. } => {}
            Event::Notice { level, text, next_step } => {
                self.notice = Some((level, [text, next_step].join(" ").trim().to_string()));
            }
        }
    }

    fn metrics(&mut self, metrics: Metrics) {
        self.progress = metrics.progress;
        if let Some(mean) = metrics.mean_return {
            self.returns.push(metrics.progress.env_steps as f64, mean);
        }
        let weight = if self.metrics.is_none() { 1.0 } else { SHARE_WEIGHT };
        for (smooth, share) in self.shares.iter_mut().zip(metrics.shares) {
            *smooth += weight * (share - *smooth);
        }
        self.metrics = Some(metrics);
    }

    fn evaluation(&mut self, evaluation: Evaluation) {
        self.evaluations.push(evaluation.progress.env_steps as f64, evaluation.mean_return);
        let solved_at = self.environment.as_ref().map_or(f64::INFINITY, |e| e.solved_at);
        if evaluation.mean_return >= solved_at && self.solved.is_none() {
            self.solved = Some(evaluation.progress);
        }
        self.evaluation = Some(evaluation);
    }

    fn mark(&mut self, mark: Mark) {
        if self.marks.len() == MARKS {
            self.marks.remove(0);
        }
        self.marks.push(mark);
    }
}

/// A curve that forgets detail, never extent: when full, every other point goes.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    /// Points pushed for one that is kept, as a power of two.
    halvings: u32,
    pushed: u64,
    last: Option<(f64, f64)>,
}

impl Curve {
    pub fn push(&mut self, x: f64, y: f64) {
        if !y.is_finite() {
            return;
        }
        self.last = Some((x, y));
        if self.pushed.is_multiple_of(1 << self.halvings) {
            if self.points.len() == CURVE_POINTS {
                let mut keep = false;
                self.points.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.halvings += 1;
            }
            if self.pushed.is_multiple_of(1 << self.halvings) {
                self.points.push((x, y));
            }
        }
        self.pushed += 1;
    }

    /// The points kept, and the newest always.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let newest = self.last.filter(|last| self.points.last() != Some(last));
        self.points.iter().copied().chain(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_stays_small_and_keeps_its_ends() {
        let mut curve = Curve::default();
        for i in 0..100_001 {
            curve.push(f64::from(i), 1.0);
        }
        let xs: Vec<f64> = curve.iter().map(|p| p.0).collect();
        assert!((CURVE_POINTS / 2..=CURVE_POINTS + 1).contains(&xs.len()), "{}", xs.len());
        assert_eq!((xs[0], xs[xs.len() - 1]), (0.0, 100_000.0));
        let gaps: Vec<f64> = xs.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps[..gaps.len() - 1].iter().all(|g| *g == gaps[0]), "evenly spaced");
        curve.push(0.0, f64::NAN);
        assert!(curve.iter().all(|p| p.1 == 1.0));
    }

    #[test]
    fn a_new_beginning_forgets_the_old_run() {
        let mut view = View::new(Opened { threads: 2, ..Default::default() }, Vec::new());
        let metrics = |steps, mean| Metrics {
            progress: Progress { env_steps: steps, ..Default::default() },
            mean_return: Some(mean),
            ..Default::default()
        };
        view.apply(Record::Event(Event::Metrics(metrics(10, 20.0))));
        view.apply(Record::Event(Event::Began {
            config: run::default_config(),
            environment: Box::new(run::environments().swap_remove(0)),
            knobs: BTreeMap::from([("lr".into(), 0.003)]),
            history: vec![metrics(5, 1.0), metrics(6, 2.0)],
            marks: Vec::new(),
            evaluations: Vec::new(),
            progress: Progress { env_steps: 6, ..Default::default() },
        }));
        assert_eq!(view.returns.iter().collect::<Vec<_>>(), [(5.0, 1.0), (6.0, 2.0)]);
        assert_eq!((view.opened.threads, view.values["lr"], view.progress.env_steps), (2, 0.003, 6));
    }
}
