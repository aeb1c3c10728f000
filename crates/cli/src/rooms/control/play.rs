//! `hothouse play control`: the user plays in the environment of a Python file, by keys. The state of the screen does not depend on a
//! terminal, so tests can use it.

use super::file::kind_of_file;
use super::raster::Raster;
use crate::args::values::number;
use crate::error::Usage;
use crate::format::{fitted, short, wrapped};
use crate::outputs::screen::ACCENT;
use crate::outputs::screen::draw::{bold, faint};
use crate::outputs::screen::terminal::{DRAW_EVERY, FullScreen, NO_KEYS, read_keys};
use crate::outputs::show::wants_screen;
use crate::shell::VerbArgs;
use crate::signals::{self, SIGNALS};
use anyhow::{Context, Result, bail};
use clap::Args;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use run::control::env::{Action, Actions, Env, Kind, Shape};
use std::io::IsTerminal;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant, SystemTime};

/// Maximum number of steps per second.
const FASTEST: f64 = 1000.0;

#[derive(Debug, Args)]
pub struct PlayArgs {
    /// Python file (.py) that defines the environment
    #[arg(value_name = "FILE")]
    file: String,
    /// Seed of the first episode; each further episode adds 1 [default: the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Take this many steps a second, each with the action of the latest key [default: one step per key]
    #[arg(long, value_parser = rate, value_name = "STEPS")]
    rate: Option<f64>,
}

fn rate(text: &str) -> Result<f64, String> {
    match number(text)? {
        rate if rate > 0.0 && rate <= FASTEST => Ok(rate),
        _ => Err(format!("write steps per second above 0 and up to {FASTEST}, as in 10 or 0.5")),
    }
}

impl VerbArgs for PlayArgs {
    const PATH: &'static [&'static str] = &["play", "control"];
    const ABOUT: &'static str = "Play in the environment of a Python file, by its keys";

    fn help() -> String {
        "The file names its keys in the class attribute `keys`. In addition: r starts the next episode, q quits.".into()
    }

    fn run(self) -> Result<()> {
        let name = &self.file;
        let Some(kind) = kind_of_file(name)? else {
            bail!(Usage(format!("{name} is no Python file. Name a file whose name ends with .py")));
        };
        if kind.keys.is_empty() {
            bail!(Usage(format!(r#"{name} names no keys. Add them to the class, as in `keys = {{"ArrowLeft": 0, "ArrowRight": 1}}`"#)));
        }
        if !std::io::stdin().is_terminal() || !wants_screen(false) {
            bail!(Usage(format!("a game by keys needs a terminal. Use `hothouse env {name} --stdio` in a program")));
        }
        let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |past| past.subsec_nanos());
        show(&mut Game::new(kind, self.seed.unwrap_or_else(clock)), self.rate)
    }
}

/// Shows the game until the user quits.
fn show(game: &mut Game, rate: Option<f64>) -> Result<()> {
    signals::listen()?;
    let mut terminal = FullScreen::start(&SIGNALS)?;
    let keys = read_keys();
    let every = rate.map(|rate| Duration::from_secs_f64(1.0 / rate));
    let mut due = Instant::now();
    while !SIGNALS.stopping() {
        terminal.draw(|frame| game.draw(frame))?;
        let wait = every.map_or(DRAW_EVERY, |_| due.saturating_duration_since(Instant::now()));
        match keys.recv_timeout(wait) {
            Ok(key) => match game.key(key.context(NO_KEYS)?) {
                Key::Quit => return Ok(()),
                Key::Action if every.is_none() => game.step(),
                Key::Action | Key::Nothing => {}
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!(NO_KEYS),
        }
        if let Some(every) = every.filter(|_| Instant::now() >= due) {
            due = Instant::now() + every;
            game.step();
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq)]
pub enum Key {
    /// The key chose an action, which the next step uses.
    Action,
    Quit,
    Nothing,
}

/// A game of the user in one environment.
pub struct Game {
    kind: Kind,
    env: Env,
    /// Seed of the current episode.
    pub seed: u32,
    shapes: Vec<Shape>,
    /// Action of the latest key; `None` before the first key of an episode.
    action: Option<Vec<f32>>,
    pub steps: u32,
    /// Return of the episode so far.
    pub total: f64,
    /// Reward of the latest step.
    reward: f64,
    pub best: Option<f64>,
    pub over: bool,
    /// Error of the environment's rules in this episode.
    pub error: Option<String>,
}

impl Game {
    pub fn new(kind: Kind, seed: u32) -> Game {
        let env = Env::of(&kind);
        let (shapes, action) = (Vec::new(), None);
        let mut game = Game { kind, env, seed, shapes, action, steps: 0, total: 0.0, reward: 0.0, best: None, over: false, error: None };
        game.begin(seed);
        game
    }

    fn begin(&mut self, seed: u32) {
        (self.seed, self.action, self.over) = (seed, None, false);
        (self.steps, self.total, self.reward) = (0, 0.0, 0.0);
        self.error = self.env.reset(seed).err().map(|error| error.to_string());
        self.look();
    }

    /// Updates `shapes`, the picture of the current state.
    fn look(&mut self) {
        match self.env.draw() {
            Ok(shapes) => self.shapes = shapes,
            Err(error) => drop(self.error.get_or_insert(error.to_string())),
        }
    }

    fn ended(&self) -> bool {
        self.over || self.error.is_some()
    }

    /// Takes a step with the action of the latest key. Does nothing before the first key and after the end of the episode.
    pub fn step(&mut self) {
        let Some(action) = self.action.as_ref().filter(|_| !self.ended()) else { return };
        let action = match self.kind.spec.actions {
            Actions::Choices(_) => Action::Choice(action.first().map_or(0, |&choice| choice as u32)),
            Actions::Box { .. } => Action::Levels(action.iter().map(|&level| level.into()).collect()),
        };
        match self.env.step(action) {
            Ok(step) => {
                self.steps += 1;
                (self.reward, self.total) = (step.reward, self.total + step.reward);
                self.over = step.terminated || step.truncated;
            }
            Err(error) => self.error = Some(error.to_string()),
        }
        if self.over {
            self.best = Some(self.best.map_or(self.total, |best| best.max(self.total)));
        }
        self.look();
    }

    pub fn key(&mut self, key: KeyEvent) -> Key {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if key.code == KeyCode::Esc || control && matches!(key.code, KeyCode::Char('c' | 'C')) {
            return Key::Quit;
        }
        if self.ended() && matches!(key.code, KeyCode::Enter) {
            self.begin(self.seed.wrapping_add(1));
            return Key::Nothing;
        }
        let action_of = |wanted: &str| self.kind.keys.iter().find(|(name, _)| name == wanted);
        // The entry with an empty key name is the action while no key is pressed. A terminal does not report the release of a key, so the
        // space bar selects this action.
        let known = action_of(&name_of(key.code)).or_else(|| action_of("").filter(|_| key.code == KeyCode::Char(' ')));
        match (known, key.code) {
            (Some((_, action)), _) => {
                self.action = Some(action.clone());
                Key::Action
            }
            (None, KeyCode::Char('r')) => {
                self.begin(self.seed.wrapping_add(1));
                Key::Nothing
            }
            (None, KeyCode::Char('q')) => Key::Quit,
            _ => Key::Nothing,
        }
    }

    pub fn draw(&self, frame: &mut Frame) {
        let area = frame.area();
        let width = usize::from(area.width);
        let status = match &self.error {
            Some(error) => wrapped(error, width),
            None => vec![self.status()],
        };
        let [head, _, picture, status_area, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(status.len() as u16),
            Constraint::Length(1),
        ])
        .areas(area);
        let spec = &self.kind.spec;
        let summary = fitted(&spec.summary, width.saturating_sub(spec.id.chars().count() + 2));
        frame.render_widget(Line::from(vec![bold(spec.id.to_string()), faint(format!("  {summary}"))]), head);
        match self.kind.size {
            Some(size) => Raster::new(picture, size).draw(&self.shapes, frame.buffer_mut()),
            None => frame.render_widget(faint("This environment has no method `draw`, so it has no picture."), picture),
        }
        let status: Vec<Line> = status.into_iter().map(Line::from).collect();
        let style = if self.ended() { Style::new().fg(ACCENT) } else { Style::new() };
        frame.render_widget(Text::from(status).style(style), status_area);
        frame.render_widget(self.keys(width), foot);
    }

    fn status(&self) -> String {
        let best = self.best.map(|best| format!("  best {}", short(best))).unwrap_or_default();
        let now = format!("step {}  return {}  reward {}{best}", self.steps, short(self.total), short(self.reward));
        if self.over { format!("{now}  The episode is over: Enter starts the next one.") } else { now }
    }

    /// Returns the line that lists the keys with their actions, and the commands `r` and `q`. Pairs that do not fit into `width` are
    /// omitted.
    fn keys(&self, width: usize) -> Line<'static> {
        let actions = self.kind.keys.iter().map(|(name, action)| (label(name), self.effect(action)));
        let commands = [("r", "restart"), ("q", "quit")].map(|(key, effect)| (key.to_string(), effect.to_string()));
        let mut line = Line::default();
        for (key, effect) in actions.chain(commands) {
            let pair = [bold(key), faint(format!(" {effect}  "))];
            if line.width() + pair.iter().map(Span::width).sum::<usize>() <= width + 2 {
                line.spans.extend(pair);
            }
        }
        line
    }

    /// Returns the effect of an action: the name of its choice, or its numbers.
    fn effect(&self, action: &[f32]) -> String {
        match self.kind.spec.actions {
            Actions::Choices(_) => self.kind.spec.choices[action.first().map_or(0, |&choice| choice as usize)].to_string(),
            Actions::Box { .. } => action.iter().map(f32::to_string).collect::<Vec<_>>().join(", "),
        }
    }
}

/// Returns the browser's name of a key; `unknown` for a key that cannot have an action.
fn name_of(code: KeyCode) -> String {
    match code {
        KeyCode::Left => "ArrowLeft".into(),
        KeyCode::Right => "ArrowRight".into(),
        KeyCode::Up => "ArrowUp".into(),
        KeyCode::Down => "ArrowDown".into(),
        KeyCode::Enter => "Enter".into(),
        KeyCode::Tab => "Tab".into(),
        KeyCode::Backspace => "Backspace".into(),
        KeyCode::Char(letter) => letter.into(),
        _ => "unknown".into(),
    }
}

/// Returns a short label of a key.
fn label(name: &str) -> String {
    let arrows = [("ArrowLeft", "←"), ("ArrowRight", "→"), ("ArrowUp", "↑"), ("ArrowDown", "↓"), (" ", "space"), ("", "space")];
    arrows.iter().find(|(known, _)| *known == name).map_or(name, |(_, label)| label).into()
}
