//! Picture of some training environments in real time. CartPole environments are drawn as carts with poles, other environments as
//! points in a plane whose axes are two quantities of the observation.

use crate::format::{fitted, grouped};
use crate::outputs::screen::braille::Braille;
use crate::outputs::screen::{ACCENT, FAINT, Picture};
use math::PANEL;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use run::control::protocol::{Axis, Environment};
use run::protocol::{Knobs, Value, Variant};
use serde::Deserialize;
use std::time::Instant;

/// Half of the length of CartPole-v1's track, in metres.
const TRACK_M: f64 = 2.4;
/// Length of the drawn pole, as a share of the height of an environment's cell.
const POLE_SHARE: f64 = 0.78;

pub struct Environments {
    environment: Environment,
    /// The two axes of the plane. An open axis contains all observations since the start.
    axes: [Axis; 2],
    clip: Clip,
}

impl Environments {
    pub fn picture(variant: &Variant) -> Option<Box<dyn Picture>> {
        let environment: Environment = serde_json::from_value(variant.about.clone()).ok()?;
        let axes = [0, 1].map(|k: usize| environment.axes[k.min(environment.axes.len() - 1)].clone());
        Some(Box::new(Environments { environment, axes, clip: Clip::default() }))
    }

    fn plane(&self, frame: &mut Frame, area: Rect) {
        let mut canvas = Braille::new(Rect { height: area.height - 1, ..area });
        let (w, h) = (canvas.width() - 1.0, canvas.height() - 1.0);
        let at = |axis: &Axis, observation: &[f32]| ((value(axis, observation) - axis.low) / (axis.high - axis.low)).clamp(0.0, 1.0);
        let [x, y] = &self.axes;
        let middle = |axis: &Axis, size: f64| (axis.low < 0.0 && axis.high > 0.0).then(|| -axis.low / (axis.high - axis.low) * size);
        if let Some(column) = middle(x, w) {
            (0..=h as u32).step_by(4).for_each(|row| canvas.dot(column, row.into(), FAINT));
        }
        if let Some(row) = middle(y, h) {
            (0..=w as u32).step_by(4).for_each(|column| canvas.dot(column.into(), h - row, FAINT));
        }
        let mut shown = 0;
        for observation in self.clip.now() {
            canvas.dot(at(x, observation) * w, (1.0 - at(y, observation)) * h, ACCENT);
            shown += 1;
        }
        canvas.render(frame.buffer_mut());
        caption(frame, area, &format!("{shown} environments; x: {}, y: {}", x.name, y.name));
    }

    fn poles(&self, frame: &mut Frame, area: Rect, knobs: &Knobs) {
        let states: Vec<[f32; 2]> = self.clip.now().map(|observation| [observation[0], observation[2]]).collect();
        let plot = Rect { height: area.height - 1, ..area };
        // A terminal character is about twice as high as wide. These numbers of rows and columns make the cells nearly square.
        let rows = (plot.height / 4).clamp(1, 5);
        let columns = (plot.width / 9).clamp(1, 6);
        let shown = usize::from(rows * columns).min(states.len());
        let mut canvas = Braille::new(plot);
        let (w, h) = ((canvas.width() / f64::from(columns)).floor(), (canvas.height() / f64::from(rows)).floor());
        for (i, &[x_m, angle]) in states.iter().take(shown).enumerate() {
            let (column, row) = (i % usize::from(columns), i / usize::from(columns));
            let (left, ground) = (column as f64 * w, (row + 1) as f64 * h - 3.0);
            let track = w - 4.0;
            let foot = (left + track * (0.5 + 0.5 * (f64::from(x_m) / TRACK_M).clamp(-1.0, 1.0)), ground - 1.0);
            let length = (h * POLE_SHARE).min(track);
            let tip = (foot.0 + length * f64::from(angle).sin(), foot.1 - length * f64::from(angle).cos());
            (0..track as u32).step_by(2).for_each(|x| canvas.dot(left + f64::from(x), ground + 1.0, FAINT));
            canvas.line((foot.0 - 2.0, foot.1), (foot.0 + 2.0, foot.1), Color::Reset);
            canvas.line((foot.0 - 2.0, ground), (foot.0 + 2.0, ground), Color::Reset);
            canvas.line(foot, tip, ACCENT);
        }
        canvas.render(frame.buffer_mut());
        let text = match knobs.get("envs") {
            Some(Value::Number(envs)) => format!("{shown} of {} poles", grouped(*envs as u64)),
            _ => format!("{shown} poles"),
        };
        caption(frame, area, &text);
    }
}

/// Returns the value of an observation on an axis.
fn value(axis: &Axis, observation: &[f32]) -> f64 {
    match axis.of[..] {
        [cos, sin] => f64::from(observation[sin as usize].atan2(observation[cos as usize])),
        [i, ..] => f64::from(observation[i as usize]),
        [] => axis.low,
    }
}

/// Extends an axis by multiples of its length until it contains the value.
fn widen(axis: &mut Axis, value: f64) {
    while value > axis.high {
        axis.high += axis.high - axis.low;
    }
    while value < axis.low {
        axis.low -= axis.high - axis.low;
    }
}

fn caption(frame: &mut Frame, area: Rect, text: &str) {
    let text = fitted(text, area.width.into());
    frame.buffer_mut().set_string(area.x, area.bottom() - 1, text, Style::new().fg(FAINT));
}

impl Picture for Environments {
    fn question(&mut self, now: Instant) -> Option<serde_json::Value> {
        self.clip.seek(now).then(|| serde_json::json!({ "ask": "frame" }))
    }

    fn answer(&mut self, json: &[u8], now: Instant) {
        if let Ok(stretch) = serde_json::from_slice::<Answer>(json) {
            self.clip.load(Stretch::from(stretch), self.environment.step_s, now);
            for axis in self.axes.iter_mut().filter(|axis| axis.open) {
                self.clip.now().for_each(|observation| widen(axis, value(axis, observation)));
            }
        }
    }

    fn draw(&self, frame: &mut Frame, area: Rect, knobs: &Knobs) {
        if area.height < 4 || area.width < 10 || self.clip.is_empty() {
            return;
        }
        if self.environment.id == "CartPole-v1" {
            self.poles(frame, area, knobs);
        } else {
            self.plane(frame, area);
        }
    }
}

/// Answer of the run to the question `frame`. `observations` contains the bytes of little-endian f32 values.
#[derive(Deserialize)]
struct Answer {
    shown: u32,
    steps: u32,
    features: u32,
    observations: Vec<u8>,
}

/// Consecutive steps of the shown environments. Layout of `observations`: `[steps][shown/32, rounded up][features][32]`.
#[derive(Default)]
pub struct Stretch {
    pub shown: usize,
    pub steps: usize,
    pub features: usize,
    pub observations: Vec<f32>,
}

impl From<Answer> for Stretch {
    fn from(answer: Answer) -> Stretch {
        let float = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap_or_default());
        Stretch {
            shown: answer.shown as usize,
            steps: answer.steps as usize,
            features: answer.features as usize,
            observations: answer.observations.chunks_exact(4).map(float).collect(),
        }
    }
}

impl Stretch {
    /// Returns the number of floats per step.
    fn step_len(&self) -> usize {
        self.shown.div_ceil(PANEL) * PANEL * self.features
    }
}

/// Playback of a stretch (consecutive recorded steps) in real time. When the stretch ends, the latest stretch replaces it. The steps
/// between the two stretches are skipped, because training is much faster than real time.
#[derive(Default)]
pub struct Clip {
    stretch: Stretch,
    since: Option<Instant>,
    step_s: f64,
    /// Current observations of the shown environments, environment by environment.
    now: Vec<f32>,
}

impl Clip {
    pub fn load(&mut self, stretch: Stretch, step_s: f64, at: Instant) {
        if stretch.steps > 0 && stretch.observations.len() >= stretch.steps * stretch.step_len() {
            self.stretch = stretch;
            self.step_s = step_s;
            self.since = Some(at);
            self.seek(at);
        }
    }

    /// Advances to the step for time `at`. Returns true if the stretch has ended or no stretch is loaded.
    pub fn seek(&mut self, at: Instant) -> bool {
        let Some(since) = self.since else { return true };
        let played = (at.duration_since(since).as_secs_f64() / self.step_s) as usize;
        let Stretch { steps, shown, features, .. } = self.stretch;
        let step = &self.stretch.observations[played.min(steps - 1) * self.stretch.step_len()..];
        self.now.clear();
        for env in 0..shown {
            let panel = &step[env / PANEL * PANEL * features + env % PANEL..];
            self.now.extend((0..features).map(|i| panel[i * PANEL]));
        }
        played >= steps
    }

    /// Returns the current observation of each shown environment.
    pub fn now(&self) -> impl Iterator<Item = &[f32]> {
        self.now.chunks_exact(self.stretch.features.max(1))
    }

    fn is_empty(&self) -> bool {
        self.now.is_empty()
    }
}
