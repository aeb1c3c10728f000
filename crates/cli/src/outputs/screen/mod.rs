//! State of the full screen: the displayed run, the user's selection, and the meaning of keys. This module accesses neither the
//! terminal nor the training: it receives keys and returns requests.

pub mod aside;
pub mod braille;
pub mod draw;
pub mod terminal;

use crate::args::values::set_one;
use crate::outputs::view::View;
use crate::session::record::Record;
use crate::session::training::Request;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Color;
use run::protocol::{Command, DeviceWish, Event, Knob, KnobKind, Knobs, Level, Value, Variant};
use std::time::{Duration, Instant};

pub const ACCENT: Color = Color::Green;
pub const MARKED: Color = Color::Yellow;
pub const FAINT: Color = Color::DarkGray;

/// Display time of a notice. A notice of an error stays until the next notice.
const NOTICE: Duration = Duration::from_secs(6);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    Training,
    /// The user is typing a value for the chosen knob. The string is the text so far.
    Typing(String),
    AskReset,
    /// The run stops at the end of the current iteration.
    Stopping,
    Watching,
}

/// A picture beside the curve. The picture sends questions to the run and draws the answers.
pub trait Picture {
    /// Returns the next question for the run; `None` if the picture needs no answer. The screen sends a question only after the previous
    /// question was answered.
    fn question(&mut self, now: Instant) -> Option<serde_json::Value>;
    fn answer(&mut self, json: &[u8], now: Instant);
    fn draw(&self, frame: &mut Frame, area: Rect, knobs: &Knobs);
}

/// Function that creates the picture for a room id and a variant, or returns `None` if the room has no picture.
pub type PictureFactory = fn(&str, &Variant) -> Option<Box<dyn Picture>>;

pub struct Screen {
    pub view: View,
    pub mode: Mode,
    /// Index of the chosen live knob.
    pub chosen: usize,
    /// Index of the chosen chart; `None` selects the first chart that has points.
    pub chart: Option<usize>,
    /// The room's picture, drawn beside the curve.
    pub picture: Option<Box<dyn Picture>>,
    pictures: PictureFactory,
    /// True if the list of keys is shown instead of the curves.
    pub keys: bool,
    notice_since: Instant,
}

pub enum Key {
    Request(Request),
    /// The user wants to end the run, or to stop watching.
    Quit,
    Nothing,
}

impl Screen {
    /// Creates a screen for a run of another process. The screen has no picture, because a picture needs answers from the run.
    pub fn watching() -> Screen {
        Screen::new(Mode::Watching, |_, _| None)
    }

    pub fn new(mode: Mode, pictures: PictureFactory) -> Screen {
        Screen { view: View::default(), mode, chosen: 0, chart: None, picture: None, pictures, keys: false, notice_since: Instant::now() }
    }

    pub fn apply(&mut self, record: Record) {
        let before = self.view.notice.take();
        let began = matches!(record, Record::Event(Event::Began(_)));
        self.view.apply(record);
        match self.view.notice {
            Some(_) => self.notice_since = Instant::now(),
            None => self.view.notice = before,
        }
        if began {
            let run = self.view.run.as_ref();
            self.picture = run.and_then(|run| (self.pictures)(&run.config.room, run.variant.as_ref()?));
        }
    }

    /// Shows a line from standard error as a notice. This program or a driver may have written the line.
    pub fn show_stderr_line(&mut self, line: String) {
        self.view.notice = Some((Level::Warning, line));
        self.notice_since = Instant::now();
    }

    pub fn notice_is_fresh(&self) -> bool {
        self.notice_since.elapsed() < NOTICE
    }

    pub fn live_knobs(&self) -> impl Iterator<Item = &Knob> {
        self.view.run.iter().flat_map(|run| &run.knobs).filter(|knob| knob.live)
    }

    pub fn value<'a>(&'a self, knob: &'a Knob) -> &'a Value {
        let run = self.view.run.as_ref();
        run.and_then(|run| run.values.get(knob.name)).unwrap_or(&knob.default)
    }

    pub fn chart_name(&self) -> &'static str {
        let Some(run) = &self.view.run else { return "" };
        let charts = run.charts();
        let has_points = |name: &&&str| run.chart(name).iter().flatten().any(|(_, points)| !points.is_empty());
        match self.chart {
            Some(at) => charts.get(at % charts.len().max(1)).copied().unwrap_or_default(),
            None => charts.iter().find(has_points).or(charts.first()).copied().unwrap_or_default(),
        }
    }

    pub fn key(&mut self, key: KeyEvent) -> Key {
        if key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'C')) {
            return Key::Quit;
        }
        let was_open = std::mem::take(&mut self.keys);
        match (&mut self.mode, key.code) {
            (Mode::Watching | Mode::Training, KeyCode::Char('?')) => {
                self.keys = !was_open;
                Key::Nothing
            }
            // If the list of keys is open, Escape only closes the list.
            (_, KeyCode::Esc) if was_open => Key::Nothing,
            (Mode::Watching | Mode::Training, KeyCode::Char('c')) => self.next_chart(),
            (Mode::Watching, KeyCode::Char('q') | KeyCode::Esc) => Key::Quit,
            (Mode::Watching | Mode::Stopping, _) => Key::Nothing,
            (Mode::AskReset, code) => {
                self.mode = Mode::Training;
                match code {
                    KeyCode::Char('y' | 'Y') => Key::Request(Request::Command(Command::Reset { config: None })),
                    _ => Key::Nothing,
                }
            }
            (Mode::Typing(text), code) => {
                match code {
                    KeyCode::Char(letter) => text.push(letter),
                    KeyCode::Backspace => drop(text.pop()),
                    KeyCode::Esc => self.mode = Mode::Training,
                    KeyCode::Enter => return self.typed(),
                    _ => {}
                }
                Key::Nothing
            }
            (Mode::Training, code) => self.training_key(code),
        }
    }

    fn training_key(&mut self, code: KeyCode) -> Key {
        let command = match code {
            KeyCode::Char('q') => return Key::Quit,
            KeyCode::Char('w') => return Key::Request(Request::Save),
            KeyCode::Char('r') => {
                self.mode = Mode::AskReset;
                return Key::Nothing;
            }
            KeyCode::Char(' ') if self.view.running => Command::Pause,
            KeyCode::Char(' ') => Command::Start,
            KeyCode::Char('s') => Command::Step,
            KeyCode::Char('d') => Command::Device { wish: self.other_device() },
            KeyCode::Up => return self.choose(-1),
            KeyCode::Down => return self.choose(1),
            KeyCode::Left => return self.turn(-1),
            KeyCode::Right => return self.turn(1),
            KeyCode::Enter if self.live_knobs().next().is_some() => {
                self.mode = Mode::Typing(String::new());
                return Key::Nothing;
            }
            _ => return Key::Nothing,
        };
        Key::Request(Request::Command(command))
    }

    /// Returns the CPU if the run uses a GPU, otherwise the GPU.
    fn other_device(&self) -> DeviceWish {
        if self.view.device.as_ref().is_some_and(|device| device.on_gpu) { DeviceWish::Cpu } else { DeviceWish::Gpu }
    }

    fn next_chart(&mut self) -> Key {
        if let Some(run) = &self.view.run {
            let (charts, now) = (run.charts(), self.chart_name());
            let at = charts.iter().position(|&name| name == now).unwrap_or(0);
            self.chart = Some((at + 1) % charts.len().max(1));
        }
        Key::Nothing
    }

    fn choose(&mut self, by: isize) -> Key {
        let last = self.live_knobs().count().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
        Key::Nothing
    }

    fn turn(&mut self, by: i32) -> Key {
        let Some(knob) = self.live_knobs().nth(self.chosen) else { return Key::Nothing };
        match turned(knob, self.value(knob), by) {
            Some(value) if value != *self.value(knob) => self.set(knob.name, value),
            _ => Key::Nothing,
        }
    }

    /// Sets the chosen knob to the typed value. Shows a notice if the value is invalid.
    fn typed(&mut self) -> Key {
        let Mode::Typing(text) = std::mem::replace(&mut self.mode, Mode::Training) else {
            return Key::Nothing;
        };
        let Some(knob) = self.live_knobs().nth(self.chosen) else { return Key::Nothing };
        match set_one(knob.name, &text, std::slice::from_ref(knob)) {
            Ok(value) => self.set(knob.name, value),
            Err(error) => {
                self.view.notice = Some((Level::Warning, format!("{error}.")));
                self.notice_since = Instant::now();
                Key::Nothing
            }
        }
    }

    fn set(&mut self, name: &'static str, value: Value) -> Key {
        // The screen shows the value at once. The run confirms the value at the end of the iteration.
        if let Some(run) = &mut self.view.run {
            run.values.insert(name.into(), value.clone());
        }
        Key::Request(Request::Command(Command::SetKnob { name: name.into(), value }))
    }
}

/// Returns the position of a value in its knob's range, from 0 to 1; 0 for a choice or a text.
pub fn share(knob: &Knob, value: f64) -> f64 {
    let share = match knob.kind {
        KnobKind::Float { min, max, log: true } | KnobKind::Int { min, max, log: true } if min > 0.0 => {
            (value / min).ln() / (max / min).ln()
        }
        KnobKind::Float { min, max, .. } | KnobKind::Int { min, max, .. } => (value - min) / (max - min),
        KnobKind::Bool => value,
        KnobKind::Choice { .. } | KnobKind::Text { .. } => 0.0,
    };
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// Moves a knob's value by one step: up if `by` is 1, down if `by` is -1. A number stays within the knob's range. The first option of a
/// choice follows the last. Returns `None` for a text.
pub fn turned(knob: &Knob, value: &Value, by: i32) -> Option<Value> {
    match (knob.kind, value) {
        (KnobKind::Choice { options }, Value::Text(name)) => {
            let at = options.iter().position(|option| option.name == name).unwrap_or(0) as i32 + by;
            Some(options[at.rem_euclid(options.len() as i32) as usize].name.into())
        }
        (KnobKind::Text { .. }, _) => None,
        (_, Value::Number(number)) => Some(turned_number(knob, *number, by).into()),
        _ => None,
    }
}

pub fn turned_number(knob: &Knob, value: f64, by: i32) -> f64 {
    match knob.kind {
        KnobKind::Bool => f64::from(u8::from(by > 0)),
        KnobKind::Choice { .. } | KnobKind::Text { .. } => value,
        KnobKind::Int { min, max, .. } => {
            let step = if value < 20.0 { 1.0 } else { 10f64.powf(value.log10().floor() - 1.0).round() };
            (value + step * f64::from(by)).round().clamp(min, max)
        }
        KnobKind::Float { min, max, log: true } => log_step(value, by).clamp(min, max),
        // A range longer than 10,000 also has logarithmic steps. The steps begin at 1000, because the range may begin at 0, which has no
        // logarithm.
        KnobKind::Float { min, max, .. } if max - min > 1e4 => match (value <= 1e3, by > 0) {
            (true, true) if value < 1e3 => 1e3_f64.clamp(min, max),
            (true, false) => min,
            _ => log_step(value, by).clamp(min, max),
        },
        KnobKind::Float { min, max, .. } => {
            // The step is a fiftieth of the range, rounded down to 1, 2 or 5 times a power of ten.
            let raw = (max - min) / 50.0;
            let power = 10f64.powf(raw.log10().floor());
            let step = [5.0, 2.0, 1.0].map(|m| m * power).into_iter().find(|s| *s <= raw).unwrap_or(power);
            tidy(((value / step).round() + f64::from(by)) * step).clamp(min, max)
        }
    }
}

/// Moves a value by `by` logarithmic steps. There are ten steps per power of ten: 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8.
fn log_step(value: f64, by: i32) -> f64 {
    const STEPS: [f64; 10] = [1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0];
    let index = (value.log10() * 10.0).round() as i32 + by;
    tidy(STEPS[index.rem_euclid(10) as usize] * 10f64.powi(index.div_euclid(10)))
}

/// Rounds to seven significant digits, which removes the rounding errors of earlier operations.
fn tidy(x: f64) -> f64 {
    format!("{x:.6e}").parse().unwrap_or(x)
}
