//! What a person sees and has chosen, and what their keys ask for. It refuses to touch the
//! terminal or the training: keys come in, wishes go out.

use crate::session::Wish;
use crate::view::View;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use run::protocol::{Command, DeviceWish, Frame, Knob, KnobKind};
use std::time::{Duration, Instant};

/// How long a notice stays.
const NOTICE: Duration = Duration::from_secs(6);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Training,
    AskReset,
    /// The end was asked for; the iteration in progress is on its way to it.
    Stopping,
    Watching,
}

pub struct Screen {
    pub view: View,
    pub mode: Mode,
    /// Which of the live knobs is chosen.
    pub chosen: usize,
    pub clip: Clip,
    notice_since: Instant,
}

pub enum Key {
    Wish(Wish),
    /// End the run, or stop watching.
    Quit,
    Nothing,
}

impl Screen {
    pub fn new(view: View, mode: Mode) -> Screen {
        Screen { view, mode, chosen: 0, clip: Clip::default(), notice_since: Instant::now() }
    }

    pub fn apply(&mut self, record: crate::record::Record) {
        let before = self.view.notice.take();
        self.view.apply(record);
        match self.view.notice {
            Some(_) => self.notice_since = Instant::now(),
            None => self.view.notice = before,
        }
    }

    pub fn notice_is_fresh(&self) -> bool {
        self.notice_since.elapsed() < NOTICE
    }

    pub fn live_knobs(&self) -> impl Iterator<Item = &Knob> {
        self.view.knobs.iter().filter(|k| k.live)
    }

    pub fn value(&self, knob: &Knob) -> f64 {
        self.view.values.get(knob.name).copied().unwrap_or(knob.default)
    }

    pub fn key(&mut self, key: KeyEvent) -> Key {
        if key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'C')) {
            return Key::Quit;
        }
        match (self.mode, key.code) {
            (Mode::Watching, KeyCode::Char('q') | KeyCode::Esc) => Key::Quit,
            (Mode::Watching | Mode::Stopping, _) => Key::Nothing,
            (Mode::AskReset, code) => {
                self.mode = Mode::Training;
                match code {
                    KeyCode::Char('y' | 'Y') => Key::Wish(Wish::Command(Command::Reset { config: None })),
                    _ => Key::Nothing,
                }
            }
            (Mode::Training, code) => self.training_key(code),
        }
    }

    fn training_key(&mut self, code: KeyCode) -> Key {
        let command = match code {
            KeyCode::Char('q') => return Key::Quit,
            KeyCode::Char('w') => return Key::Wish(Wish::Save),
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
            _ => return Key::Nothing,
        };
        Key::Wish(Wish::Command(command))
    }

    /// What does not train now.
    fn other_device(&self) -> DeviceWish {
        if self.view.device.as_ref().is_some_and(|device| device.on_gpu) {
            DeviceWish::Cpu
        } else {
            DeviceWish::Gpu
        }
    }

    fn choose(&mut self, by: isize) -> Key {
        let last = self.live_knobs().count().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
        Key::Nothing
    }

    fn turn(&mut self, by: i32) -> Key {
        let Some(knob) = self.live_knobs().nth(self.chosen) else { return Key::Nothing };
        let (name, before) = (knob.name, self.value(knob));
        let value = turned(knob, before, by);
        if value == before {
            return Key::Nothing;
        }
        // Shown at once; the run confirms it at the end of its iteration.
        self.view.values.insert(name.into(), value);
        Key::Wish(Wish::Command(Command::SetKnob { name: name.into(), value }))
    }
}

/// Where a value lies in its knob's range, from 0 to 1.
pub fn share(knob: &Knob, value: f64) -> f64 {
    let share = match knob.kind {
        KnobKind::Float { min, max, log: true } | KnobKind::Int { min, max, log: true } if min > 0.0 => {
            (value / min).ln() / (max / min).ln()
        }
        KnobKind::Float { min, max, .. } | KnobKind::Int { min, max, .. } => (value - min) / (max - min),
        KnobKind::Bool => value,
    };
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// The next round value up or down, within the knob's range.
fn turned(knob: &Knob, value: f64, by: i32) -> f64 {
    match knob.kind {
        KnobKind::Bool => f64::from(u8::from(by > 0)),
        KnobKind::Int { min, max, .. } => {
            let step = if value < 20.0 { 1.0 } else { 10f64.powf(value.log10().floor() - 1.0).round() };
            (value + step * f64::from(by)).round().clamp(min, max)
        }
        KnobKind::Float { min, max, log: true } => on_ladder(value, by).clamp(min, max),
        // A range that spans many powers of ten from 0 is climbed as a ladder too.
        KnobKind::Float { min, max, .. } if max - min > 1e4 => match (value <= 1e3, by > 0) {
            (true, true) if value < 1e3 => 1e3_f64.clamp(min, max),
            (true, false) => min,
            _ => on_ladder(value, by).clamp(min, max),
        },
        KnobKind::Float { min, max, .. } => {
            // A fiftieth of the range, rounded down to 1, 2 or 5 of some power of ten.
            let raw = (max - min) / 50.0;
            let power = 10f64.powf(raw.log10().floor());
            let step = [5.0, 2.0, 1.0].map(|m| m * power).into_iter().find(|s| *s <= raw).unwrap_or(power);
            tidy(((value / step).round() + f64::from(by)) * step).clamp(min, max)
        }
    }
}

/// Ten even rungs to a power of ten: 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8.
fn on_ladder(value: f64, by: i32) -> f64 {
    const RUNGS: [f64; 10] = [1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0];
    let place = (value.log10() * 10.0).round() as i32 + by;
    tidy(RUNGS[place.rem_euclid(10) as usize] * 10f64.powi(place.div_euclid(10)))
}

/// Without the last digits that arithmetic leaves behind.
fn tidy(x: f64) -> f64 {
    format!("{x:.6e}").parse().unwrap_or(x)
}

/// A stretch of the shown environments' lives, played at the pace of the real thing. Training is
/// far ahead of it; when it ends, the newest stretch takes its place.
#[derive(Default)]
pub struct Clip {
    frame: Frame,
    since: Option<Instant>,
    step_s: f64,
    /// Observations of the shown environments, one after the other.
    now: Vec<f32>,
}

impl Clip {
    pub fn give(&mut self, frame: Frame, step_s: f64, at: Instant) {
        let expected = frame.steps as usize * panels(&frame);
        if frame.steps > 0 && frame.observations.len() >= expected {
            self.frame = frame;
            self.step_s = step_s;
            self.since = Some(at);
            self.seek(at);
        }
    }

    /// Moves on to what belongs to this moment; true when a new stretch is wanted.
    pub fn seek(&mut self, at: Instant) -> bool {
        let Some(since) = self.since else { return true };
        let played = (at.duration_since(since).as_secs_f64() / self.step_s) as usize;
        let (steps, shown, features) =
            (self.frame.steps as usize, self.frame.shown as usize, self.frame.features as usize);
        let step = &self.frame.observations[played.min(steps - 1) * panels(&self.frame)..];
        self.now.clear();
        for env in 0..shown {
            let panel = &step[env / PANEL * PANEL * features + env % PANEL..];
            self.now.extend((0..features).map(|i| panel[i * PANEL]));
        }
        played >= steps
    }

    /// The observation of each shown environment.
    pub fn now(&self) -> impl Iterator<Item = &[f32]> {
        self.now.chunks_exact((self.frame.features as usize).max(1))
    }

    pub fn is_empty(&self) -> bool {
        self.now.is_empty()
    }
}

/// Environments of a panel of a frame.
const PANEL: usize = 32;

/// Floats of one step of a frame.
fn panels(frame: &Frame) -> usize {
    (frame.shown as usize).div_ceil(PANEL) * PANEL * frame.features as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Opened, Record};
    use run::protocol::Event;

    fn screen() -> Screen {
        Screen::new(View::new(Opened::default(), run::knob_list("CartPole-v1")), Mode::Training)
    }

    fn press(screen: &mut Screen, code: KeyCode) -> Option<Command> {
        match screen.key(KeyEvent::new(code, KeyModifiers::NONE)) {
            Key::Wish(Wish::Command(command)) => Some(command),
            _ => None,
        }
    }

    fn knob(name: &str) -> Knob {
        run::knob_list("CartPole-v1").into_iter().find(|k| k.name == name).unwrap()
    }

    #[test]
    fn knobs_turn_to_round_values_within_their_range() {
        let (lr, gamma, epochs, anneal, flag) =
            (knob("lr"), knob("gamma"), knob("epochs"), knob("anneal_steps"), knob("clip_value"));
        assert_eq!(turned(&lr, 0.0025, 1), 0.0032);
        assert_eq!(turned(&lr, 0.0025, -1), 0.002);
        assert_eq!((turned(&lr, 0.1, 1), turned(&lr, 1e-5, -1)), (0.1, 1e-5));
        assert_eq!(turned(&gamma, 0.99, -1), 0.988);
        assert_eq!((turned(&epochs, 4.0, 1), turned(&epochs, 1.0, -1)), (5.0, 1.0));
        assert_eq!([0.0, 1e3, 1e6].map(|v| turned(&anneal, v, 1)), [1e3, 1250.0, 1.25e6]);
        assert_eq!((turned(&anneal, 1e3, -1), turned(&anneal, 1e8, 1)), (0.0, 1e8));
        assert_eq!((turned(&flag, 0.0, 1), turned(&flag, 1.0, -1)), (1.0, 0.0));
    }

    #[test]
    fn every_turn_of_every_knob_stays_in_range_and_gets_somewhere() {
        for knob in run::knob_list("CartPole-v1") {
            let (min, max) = match knob.kind {
                KnobKind::Float { min, max, .. } | KnobKind::Int { min, max, .. } => (min, max),
                KnobKind::Bool => (0.0, 1.0),
            };
            for (by, end) in [(1, max), (-1, min)] {
                let mut value = knob.default;
                let mut turns = 0;
                while value != end {
                    let next = turned(&knob, value, by);
                    assert!((min..=max).contains(&next) && next != value, "{} sticks at {value}", knob.name);
                    assert!((0.0..=1.0).contains(&share(&knob, next)));
                    value = next;
                    turns += 1;
                    assert!(turns < 1000, "{} takes too many turns", knob.name);
                }
            }
        }
    }

    #[test]
    fn keys_ask_for_what_the_footer_says() {
        let mut screen = screen();
        assert_eq!(press(&mut screen, KeyCode::Char(' ')), Some(Command::Start));
        screen.apply(Record::Event(Event::Running { running: true }));
        assert_eq!(press(&mut screen, KeyCode::Char(' ')), Some(Command::Pause));
        assert_eq!(press(&mut screen, KeyCode::Char('s')), Some(Command::Step));
        assert_eq!(press(&mut screen, KeyCode::Char('r')), None);
        assert_eq!(screen.mode, Mode::AskReset);
        assert_eq!(press(&mut screen, KeyCode::Char('n')), None);
        press(&mut screen, KeyCode::Char('r'));
        assert_eq!(press(&mut screen, KeyCode::Char('y')), Some(Command::Reset { config: None }));

        let (first, second) =
            (screen.live_knobs().next().unwrap().clone(), screen.live_knobs().nth(1).unwrap().clone());
        assert_eq!(press(&mut screen, KeyCode::Up), None);
        let up = turned(&first, first.default, 1);
        assert_eq!(
            press(&mut screen, KeyCode::Right),
            Some(Command::SetKnob { name: first.name.into(), value: up })
        );
        assert_eq!(screen.value(&first), up, "shown before the run confirms it");
        press(&mut screen, KeyCode::Down);
        assert!(
            matches!(press(&mut screen, KeyCode::Right), Some(Command::SetKnob { name, .. }) if name == second.name)
        );
        (0..50).for_each(|_| drop(press(&mut screen, KeyCode::Down)));
        assert_eq!(screen.chosen, screen.live_knobs().count() - 1);

        let quit = |screen: &mut Screen, key| matches!(screen.key(key), Key::Quit);
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert!(quit(&mut screen, ctrl_c) && quit(&mut screen, KeyCode::Char('q').into()));
        screen.mode = Mode::Stopping;
        assert!(!quit(&mut screen, KeyCode::Char('q').into()), "a second q is no emergency; Ctrl-C is");
        assert!(quit(&mut screen, ctrl_c));
        screen.mode = Mode::Watching;
        assert_eq!(press(&mut screen, KeyCode::Right), None, "who watches changes nothing");
    }

    #[test]
    fn a_clip_plays_at_the_pace_of_the_real_thing() {
        let mut clip = Clip::default();
        let start = Instant::now();
        assert!(clip.seek(start), "nothing to play yet");
        clip.give(
            Frame {
                steps: 3,
                shown: 1,
                features: 2,
                observations: (0..192).map(|i| (i / 64) as f32).collect(),
                ..Frame::default()
            },
            0.02,
            start,
        );
        let at = |clip: &mut Clip, ms| {
            let over = clip.seek(start + Duration::from_millis(ms));
            (clip.now().next().unwrap()[0], over)
        };
        assert_eq!(
            [0, 19, 21, 59, 61].map(|ms| at(&mut clip, ms)),
            [(0.0, false), (0.0, false), (1.0, false), (2.0, false), (2.0, true)]
        );
        clip.give(Frame { steps: 9, shown: 1, features: 2, ..Frame::default() }, 0.02, start);
        assert_eq!(clip.now().next().unwrap()[0], 2.0, "a frame without its states is left aside");
    }
}
