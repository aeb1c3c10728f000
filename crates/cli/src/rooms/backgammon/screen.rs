//! The full screen of `hothouse play backgammon`. Keys become text commands of `table.rs`. The game runs on its own thread, so that the
//! screen stays responsive while the agent computes. The state and the drawing do not depend on a terminal, so tests can use both.

use super::table::{Effect, Game, GameOptions, depth_words, ending_words, hint_words, loss_text};
use crate::format::{fitted, wrapped};
use crate::outputs::screen::draw::{bold, faint, key_lines};
use crate::outputs::screen::terminal::{DRAW_EVERY, FullScreen, NO_KEYS, read_keys};
use crate::outputs::screen::{ACCENT, FAINT, MARKED};
use crate::signals::{self, SIGNALS};
use anyhow::{Context, Result, anyhow, bail};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use run::Host;
use run::backgammon::notation;
use run::backgammon::protocol::{Act, Analysis, Candidate, EngineAct, Phase, Session, Step};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Minimum size of the terminal, in columns and rows.
pub const LEAST: (u16, u16) = (60, 22);
/// Minimum width of the terminal for hints beside the board, in columns.
const BESIDE: u16 = 78;
/// Minimum width of the terminal for a wide board, in columns.
pub const WIDE: u16 = 92;
const BOARD_ROWS: u16 = 15;
/// Maximum number of message lines that the screen keeps.
const MESSAGES: usize = 100;
/// Time without an answer to a request, after which the screen shows that the agent still computes.
const THINKING_DELAY: Duration = Duration::from_millis(200);
const LONGEST_ENTRY: usize = 200;
const HELP: &str = "
  ← → ↑ ↓      choose a checker and a die; Enter plays it
  24/18 8/6    or type the move, also bar/22* and 6/off(2)
  Enter        roll, confirm, start the next game
  u, U         undo the last checker, or the whole move
  d, t, p      double, take, pass
  h            show hints: choose with ↑ ↓, play with Enter
  x            resign the game, or a gammon
  w            write the match as text (.mat)
  :moves, :id  show the moves, or the position as an XGID
  q            save and quit; prints the command to resume";

/// A request to the game thread.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Line(String),
    Step(Step),
    Hint,
}

/// The game thread's answer to a request.
pub struct Answer {
    session: Session,
    pub message: String,
    hint: Option<Analysis>,
    pub failed: bool,
    quit: bool,
}

/// Plays a game on the full screen until the user quits, then prints the closing text.
pub fn play(options: &GameOptions, host: Host, pool: &rayon::ThreadPool) -> Result<()> {
    let mut first = String::new();
    let mut game = Game::start(options, host, &mut first)?;
    pool.install(|| game.play_replies(&mut first))?;
    let shown = run_screen(&mut game, &first, pool);
    writeln!(crate::plain::stdout(), "{}", game.finish()?)?;
    shown
}

/// Runs the game on its own thread and shows the game on the screen. `first` is the initial message.
fn run_screen(game: &mut Game, first: &str, pool: &rayon::ThreadPool) -> Result<()> {
    signals::listen()?;
    let mut screen = TableScreen::new(game.session.clone(), first);
    let (request, requests) = channel();
    let (answer, answers) = channel();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || pool.install(move || serve(game, &requests, &answer)));
        let shown = show(&mut screen, request, &answers);
        worker.join().map_err(|_| anyhow!("the game stopped at an internal error, shown above"))?;
        shown
    })
}

/// Handles requests until the channel closes or the user quits. Saves the game after each sent answer, except when the user quits. If a
/// save fails, the next answer contains the error.
pub fn serve(game: &mut Game, requests: &Receiver<Request>, answers: &Sender<Answer>) {
    let mut save_error: Option<String> = None;
    for request in requests {
        let mut answer = answer(game, request);
        if let Some(error) = save_error.take() {
            answer.message += &error;
        }
        let quit = answer.quit;
        if answers.send(answer).is_err() || quit {
            break;
        }
        save_error = game.save_if_changed().err().map(|error| format!("\n{error:#}"));
    }
}

pub fn answer(game: &mut Game, request: Request) -> Answer {
    let (mut message, mut hint, mut quit) = (String::new(), None, false);
    let result = match request {
        Request::Line(line) => game.run_line(&line, &mut message).map(|effect| quit = effect == Effect::Quit),
        Request::Step(Step { from, to, .. }) => game.act(&Act::Step { from, to }).map_err(Into::into),
        Request::Hint => game.hint().map(|analysis| hint = Some(analysis)),
    };
    if let Err(error) = &result {
        message = format!("{error:#}");
    }
    Answer { session: game.session.clone(), message, hint, failed: result.is_err(), quit }
}

fn show(screen: &mut TableScreen, requests: Sender<Request>, answers: &Receiver<Answer>) -> Result<()> {
    let mut terminal = FullScreen::start(&SIGNALS)?;
    let keys = read_keys();
    // Keys that were typed while the agent was thinking. They are handled after the agent's answer.
    let mut typed: VecDeque<KeyEvent> = VecDeque::new();
    while !SIGNALS.stopping() {
        terminal.draw(|frame| draw(frame, screen))?;
        if screen.waiting_since.is_some() {
            match answers.recv_timeout(DRAW_EVERY) {
                Ok(answer) if answer.quit => return Ok(()),
                Ok(answer) => screen.answer(answer),
                Err(RecvTimeoutError::Timeout) => {}
                // The game thread has panicked. `run_screen`, which joins the thread, reports the error.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        } else if typed.is_empty() {
            match keys.recv_timeout(DRAW_EVERY) {
                Ok(key) => typed.push_back(key.context(NO_KEYS)?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!(NO_KEYS),
            }
        }
        for key in keys.try_iter() {
            typed.push_back(key.context(NO_KEYS)?);
        }
        if typed.iter().any(is_ctrl_c) {
            return Ok(());
        }
        while screen.waiting_since.is_none()
            && let Some(key) = typed.pop_front()
        {
            match screen.key(key) {
                Key::Request(request) => {
                    screen.waiting_since = Some(Instant::now());
                    if requests.send(request).is_err() {
                        return Ok(());
                    }
                }
                Key::Quit => return Ok(()),
                Key::Nothing => {}
            }
        }
    }
    Ok(())
}

fn is_ctrl_c(key: &KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'C'))
}

#[derive(Debug, PartialEq)]
pub enum Key {
    Request(Request),
    Quit,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Playing,
    AskResign,
    Help,
}

/// State of the screen: the game, messages, and the user's selection and input.
pub struct TableScreen {
    pub session: Session,
    pub messages: Vec<String>,
    mode: Mode,
    /// Error of the last request; `None` if the request succeeded, or after a later key.
    pub error: Option<String>,
    hint: Option<Analysis>,
    /// Index of the chosen candidate move in `hint`.
    candidate: usize,
    /// Index of the chosen step in `steps()`. A step moves one checker by one die.
    step: usize,
    pub entry: String,
    /// Time at which the unanswered request was sent; `None` if there is no unanswered request.
    waiting_since: Option<Instant>,
}

impl TableScreen {
    pub fn new(session: Session, first: &str) -> TableScreen {
        let mut screen = TableScreen {
            session,
            messages: Vec::new(),
            mode: Mode::Playing,
            error: None,
            hint: None,
            candidate: 0,
            step: 0,
            entry: String::new(),
            waiting_since: None,
        };
        screen.add_messages(first);
        screen
    }

    fn add_messages(&mut self, text: &str) {
        self.messages.extend(text.lines().map(String::from));
        let old = self.messages.len().saturating_sub(MESSAGES);
        self.messages.drain(..old);
    }

    pub fn answer(&mut self, answer: Answer) {
        self.waiting_since = None;
        self.error = None;
        match answer.hint {
            Some(hint) if hint.candidates.is_empty() => {
                // Before a roll, a hint has text but no candidates.
                self.add_messages(&hint_words(&hint));
                self.hint = None;
            }
            Some(hint) => (self.hint, self.candidate) = (Some(hint), 0),
            None if answer.failed => self.error = Some(answer.message),
            None => {
                self.add_messages(&answer.message);
                self.hint = None;
            }
        }
        if answer.session != self.session {
            (self.session, self.step) = (answer.session, 0);
        }
    }

    /// Returns the distinct legal steps in the order of selection: from the highest starting point to the lowest.
    fn steps(&self) -> Vec<Step> {
        let mut steps = self.session.legal.clone();
        steps.sort_by_key(|step| (std::cmp::Reverse(step.from), std::cmp::Reverse(step.to)));
        steps.dedup();
        steps
    }

    fn chosen_step(&self) -> Option<Step> {
        self.steps().get(self.step).copied()
    }

    pub fn candidates(&self) -> &[Candidate] {
        self.hint.as_ref().map_or(&[], |hint| &hint.candidates)
    }

    pub fn key(&mut self, key: KeyEvent) -> Key {
        if is_ctrl_c(&key) {
            return Key::Quit;
        }
        match (self.mode, key.code) {
            (Mode::Help, _) => {
                self.mode = Mode::Playing;
                Key::Nothing
            }
            (Mode::AskResign, code) => {
                self.mode = Mode::Playing;
                match code {
                    KeyCode::Char(level @ '1'..='3') => line(&format!("resign {level}")),
                    _ => Key::Nothing,
                }
            }
            (Mode::Playing, code) if self.entry.is_empty() => self.playing_key(code),
            (Mode::Playing, code) => self.entry_key(code),
        }
    }

    /// Handles a key while the user types a text. In this state, letters are not commands.
    fn entry_key(&mut self, code: KeyCode) -> Key {
        match code {
            KeyCode::Char(letter) if self.entry.len() < LONGEST_ENTRY => self.entry.push(letter),
            KeyCode::Backspace => drop(self.entry.pop()),
            KeyCode::Esc => self.entry.clear(),
            KeyCode::Enter => {
                let entry = std::mem::take(&mut self.entry);
                return line(entry.trim_start_matches(':').trim());
            }
            _ => {}
        }
        Key::Nothing
    }

    fn playing_key(&mut self, code: KeyCode) -> Key {
        self.error = None;
        let may = self.session.may;
        match code {
            KeyCode::Char('q') => return Key::Quit,
            KeyCode::Char('?') => self.mode = Mode::Help,
            KeyCode::Char('x') if may.resign => self.mode = Mode::AskResign,
            KeyCode::Char('w') => self.entry = "save match.mat".into(),
            KeyCode::Char('h') if !self.candidates().is_empty() => self.hint = None,
            KeyCode::Char('h') => return Key::Request(Request::Hint),
            KeyCode::Char('r') => return line("roll"),
            KeyCode::Char('d') => return line("double"),
            KeyCode::Char('t') => return line("take"),
            KeyCode::Char('p') => return line("pass"),
            KeyCode::Char('n') => return line("next"),
            KeyCode::Char('u') | KeyCode::Backspace => return line("undo"),
            KeyCode::Char('U') => return line("undo all"),
            // The first character of a typed move is a digit or the `b` of `bar`. Any other typed line begins with a colon.
            KeyCode::Char(letter @ ('0'..='9' | 'b' | ':')) => self.entry.push(letter),
            KeyCode::Esc => self.hint = None,
            KeyCode::Up | KeyCode::Down if !self.candidates().is_empty() => {
                let last = self.candidates().len() - 1;
                self.candidate = moved(self.candidate, code == KeyCode::Down).min(last);
            }
            KeyCode::Left | KeyCode::Right => self.choose_checker(code == KeyCode::Right),
            KeyCode::Up | KeyCode::Down => self.choose_die(code == KeyCode::Down),
            KeyCode::Enter | KeyCode::Char(' ') => return self.enter(),
            _ => {}
        }
        Key::Nothing
    }

    /// Plays the chosen candidate or step. If nothing is chosen, sends an empty line, which requests the game's next action.
    fn enter(&mut self) -> Key {
        match (self.candidates().get(self.candidate), self.chosen_step()) {
            (Some(candidate), _) if self.session.phase == Phase::ToPlay => line(&candidate.text),
            (_, Some(step)) => Key::Request(Request::Step(step)),
            _ => line(""),
        }
    }

    fn choose_checker(&mut self, forward: bool) {
        let steps = self.steps();
        let mut from: Vec<u8> = steps.iter().map(|step| step.from).collect();
        from.dedup();
        let Some(now) = steps.get(self.step) else { return };
        let at = from.iter().position(|&point| point == now.from).unwrap_or(0);
        let next = from[(at + if forward { 1 } else { from.len() - 1 }) % from.len()];
        self.step = steps.iter().position(|step| step.from == next).unwrap_or(0);
    }

    fn choose_die(&mut self, forward: bool) {
        let steps = self.steps();
        let Some(now) = steps.get(self.step) else { return };
        let same: Vec<usize> = (0..steps.len()).filter(|&k| steps[k].from == now.from).collect();
        let at = same.iter().position(|&k| k == self.step).unwrap_or(0);
        self.step = same[(at + if forward { 1 } else { same.len() - 1 }) % same.len()];
    }

    /// Returns the one-line prompt for the user's next action.
    pub fn prompt(&self) -> String {
        let Session { may, phase, dice, names, cube, ending, .. } = &self.session;
        if self.waiting_since.is_some_and(|since| since.elapsed() > THINKING_DELAY) {
            return format!("{} thinks…", names[1]);
        }
        if self.mode == Mode::AskResign {
            return "Resign: 1 for a single game, 2 for a gammon, 3 for a backgammon; esc cancels.".into();
        }
        if let Some(ending) = ending {
            let next = if may.next_game { "Enter starts the next game." } else { "The match is over." };
            return format!("{} {next}", ending_words(ending));
        }
        let chosen = self.candidates().get(self.candidate).map(|candidate| candidate.text.clone());
        let chosen = chosen.or_else(|| self.chosen_step().map(step_words));
        match (phase, dice) {
            (Phase::Opening, _) => "Enter rolls for the first turn: one die each.".into(),
            (Phase::Doubled, _) => format!("{} doubles to {}: t takes, p passes.", names[1], 2 * cube),
            (Phase::ToRoll, _) if may.double => "Your turn: Enter rolls, d doubles.".into(),
            (Phase::ToRoll, _) => "Your turn: Enter rolls.".into(),
            (Phase::ToPlay, Some([a, b])) if may.confirm && self.session.steps.is_empty() => {
                format!("You roll {a}-{b} and have no move: Enter ends the turn.")
            }
            (Phase::ToPlay, _) if may.confirm && self.hint.is_none() => "Enter confirms this move; u takes back a checker.".into(),
            (Phase::ToPlay, Some([a, b])) => {
                let chosen = chosen.unwrap_or_default();
                format!("You roll {a}-{b}: Enter plays {chosen}, or type a move.")
            }
            _ => String::new(),
        }
    }

    fn keys(&self) -> Vec<(&'static str, &'static str)> {
        let may = self.session.may;
        let hint = !self.candidates().is_empty();
        let steps = !self.session.legal.is_empty();
        let enter = match self.session.phase {
            Phase::Over => "next game",
            Phase::Opening | Phase::ToRoll => "roll",
            _ if hint || steps => "play",
            _ => "confirm",
        };
        let all = [
            (may.roll || may.confirm || may.next_game || steps, ("enter", enter)),
            (hint, ("↑↓", "candidate")),
            (steps && !hint, ("←→", "checker")),
            (steps && !hint, ("↑↓", "die")),
            (may.answer, ("t", "take")),
            (may.answer, ("p", "pass")),
            (may.double, ("d", "double")),
            (may.undo, ("u", "undo")),
            (may.hint, ("h", if hint { "no hint" } else { "hint" })),
            (may.resign, ("x", "resign")),
            (true, ("w", "write .mat")),
            (true, ("?", "help")),
            (true, ("q", "save, quit")),
        ];
        all.into_iter().filter(|(shown, _)| *shown).map(|(_, key)| key).collect()
    }
}

fn moved(at: usize, forward: bool) -> usize {
    if forward { at + 1 } else { at.saturating_sub(1) }
}

fn line(text: &str) -> Key {
    Key::Request(Request::Line(text.into()))
}

fn step_words(Step { from, to, hit }: Step) -> String {
    notation::words(&[notation::Step { from, to, hit }])
}

pub fn draw(frame: &mut Frame, screen: &TableScreen) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!(
            "The board needs {} columns and {} rows; the terminal has {} and {}. Make the window larger, or quit (q) and use --plain.",
            LEAST.0, LEAST.1, area.width, area.height
        );
        frame.render_widget(Text::from(wrapped(&text, area.width.into()).join("\n")), area);
        return;
    }
    let area = Rect { x: area.x + 1, width: area.width - 2, ..area };
    let keys = match screen.mode {
        Mode::Help => key_lines(&[("any key", "back to the board")], area.width.into()),
        _ if !screen.entry.is_empty() => key_lines(&[("enter", "send"), ("esc", "cancel")], area.width.into()),
        _ => key_lines(&screen.keys(), area.width.into()),
    };
    let foot = (keys.len() as u16).min(area.height - BOARD_ROWS - 3);
    let [head, body, prompt, entry, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(BOARD_ROWS),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(foot),
    ])
    .areas(area);
    header(frame, head, &screen.session);
    frame.render_widget(Text::from(keys), foot);
    if screen.mode == Mode::Help {
        frame.render_widget(Text::from(HELP), body);
        return;
    }
    frame.render_widget(Line::styled(fitted(&screen.prompt(), prompt.width.into()), Style::new().fg(ACCENT)), prompt);
    let (text, style) = match (&screen.entry, &screen.error) {
        (entry, _) if !entry.is_empty() => (format!("{entry}▏"), Style::new()),
        (_, Some(error)) => (fitted(error, entry.width.into()), Style::new().fg(MARKED)),
        _ => (String::new(), Style::new()),
    };
    frame.render_widget(Line::styled(text, style), entry);

    let cell = if area.width + 2 >= WIDE { 4 } else { 3 };
    let board = Board { area: Rect { width: 12 * cell + 7, height: BOARD_ROWS, ..body }, cell, screen };
    board.draw(frame.buffer_mut());
    let beside = Rect { x: board.area.right() + 2, width: body.right().saturating_sub(board.area.right() + 2), ..board.area };
    let below = Rect { y: board.area.bottom(), height: body.bottom() - board.area.bottom(), ..body };
    let wide = area.width + 2 >= BESIDE;
    let (names, between) = sides(&screen.session, beside, wide);
    for (row, text, style) in names {
        let line = Line::styled(fitted(&text, beside.width.into()), style);
        frame.render_widget(line, Rect { y: beside.y + row, height: 1, ..beside });
    }
    if !screen.candidates().is_empty() {
        candidates(frame, if wide { between } else { below }, screen);
    }
    if wide || screen.candidates().is_empty() {
        messages(frame, below, &screen.messages);
    }
}

fn header(frame: &mut Frame, area: Rect, session: &Session) {
    let left = Line::from(vec![bold("hothouse"), format!("  {} against {}", session.names[0], session.names[1]).into()]);
    let stakes = match session.setup.length {
        0 => "money play".to_string(),
        1 => "1-point match".into(),
        points => format!("{points}-point match"),
    };
    let crawford = if session.crawford { ", Crawford" } else { "" };
    let right = format!("{stakes}, game {}{crawford}", session.game);
    let room = usize::from(area.width).saturating_sub(left.width() + 2);
    frame.render_widget(left, area);
    if right.len() <= room {
        frame.render_widget(Line::from(faint(right)).right_aligned(), area);
    }
}

fn messages(frame: &mut Frame, area: Rect, messages: &[String]) {
    let lines: Vec<String> = messages.iter().flat_map(|line| wrapped(line, area.width.into())).collect();
    let first = lines.len().saturating_sub(area.height.into());
    let last = lines.len().saturating_sub(1);
    let styled = |(k, line): (usize, &String)| Line::styled(line.clone(), if k == last { Style::new() } else { Style::new().fg(FAINT) });
    let lines: Vec<Line> = lines.iter().enumerate().skip(first).map(styled).collect();
    frame.render_widget(Text::from(lines), area);
}

/// Returns the lines of text beside the board, about both players and the cube. Each line has its row and its style. Also returns the area
/// between these lines, which is free.
fn sides(session: &Session, area: Rect, wide: bool) -> (Vec<(u16, String, Style)>, Rect) {
    let strong = Style::new().add_modifier(Modifier::BOLD);
    let facts = |k: usize| {
        let (pips, off) = match k {
            0 => (session.position.my_pips, session.position.mine[0]),
            _ => (session.position.their_pips, session.position.theirs[0]),
        };
        let score = session.score[k];
        let score = match session.setup.length {
            0 => format!("score {score}"),
            length => format!("score {score}/{length}"),
        };
        let facts = [format!("{pips} pips"), format!("{off} off"), score];
        if wide { vec![facts.join("   ")] } else { facts.to_vec() }
    };
    let mark = |k: usize| if k == 0 { MINE } else { THEIRS };
    let block = |k: usize| {
        let name = (format!("{} {}", mark(k), session.names[k]), strong);
        let facts = facts(k).into_iter().map(|text| (text, Style::new().fg(FAINT)));
        std::iter::once(name).chain(facts).collect::<Vec<_>>()
    };
    let cube = match (session.setup.cube, session.crawford, session.cube_owner) {
        (false, ..) => "no cube".into(),
        (_, true, _) => "no cube: Crawford".into(),
        (.., None) => format!("cube {} in the middle", session.cube),
        (.., Some(0)) => format!("cube {}, yours", session.cube),
        (.., Some(_)) => format!("cube {}, theirs", session.cube),
    };
    let (upper, lower) = (block(1), block(0));
    let (above, below) = (upper.len() as u16, BOARD_ROWS - lower.len() as u16);
    let mut rows: Vec<(u16, String, Style)> = Vec::new();
    rows.extend(upper.into_iter().zip(0..).map(|((text, style), row)| (row, text, style)));
    // On a narrow terminal, the text about the cube takes two rows in the middle of the board.
    let at = if wide { above } else { BOARD_ROWS / 2 };
    let width = usize::from(area.width);
    rows.extend(wrapped(&cube, width).into_iter().zip(at..).map(|(text, row)| (row, text, Style::new())));
    rows.extend(lower.into_iter().zip(below..).map(|((text, style), row)| (row, text, style)));
    let between = Rect { y: area.y + above + 1, height: below - above - 1, ..area };
    (rows, between)
}

/// Draws the agent's candidates, grouped by search depth. The chosen candidate is always visible.
fn candidates(frame: &mut Frame, area: Rect, screen: &TableScreen) {
    let width = usize::from(area.width);
    let text_width = width.saturating_sub(4 + 7 + 7).min(28);
    let (mut lines, mut chosen) = (Vec::new(), 0);
    let mut group = "";
    for (k, candidate) in screen.candidates().iter().enumerate() {
        if let Some(depth) = depth_words(candidate.depth).filter(|depth| *depth != group) {
            lines.push(Line::styled(fitted(depth, width), Style::new().fg(FAINT)));
            group = depth;
        }
        let loss = loss_text(candidate);
        let text = fitted(&candidate.text, text_width);
        let words = format!("{:>2}. {text:<text_width$} {:>+6.3} {loss:>6}", k + 1, candidate.equity);
        let mut style = Style::new();
        if k == screen.candidate {
            chosen = lines.len();
            style = style.add_modifier(Modifier::REVERSED);
        }
        lines.push(Line::styled(words, style));
    }
    let height = usize::from(area.height);
    let first = (chosen + 1).saturating_sub(height).max(if chosen < height { 0 } else { chosen + 1 - height });
    let lines: Vec<Line> = lines.into_iter().skip(first).take(height).collect();
    frame.render_widget(Text::from(lines), area);
}

pub const MINE: char = '●';
pub const THEIRS: char = '○';

/// The drawn board. Its upper and lower halves have twelve points each. A point is `cell` columns wide; the bar is in the middle.
struct Board<'a> {
    area: Rect,
    cell: u16,
    screen: &'a TableScreen,
}

/// Middle row of the board, counted from 0 at the top of the board's area.
const MIDDLE: u16 = 7;

impl Board<'_> {
    /// Returns the first screen column of a point. Points 0 and 25 are the bar.
    fn column(&self, point: u8) -> u16 {
        let half = 6 * self.cell;
        let inner = match point {
            13..=18 => u16::from(point - 13) * self.cell,
            19..=24 => half + 5 + u16::from(point - 19) * self.cell,
            7..=12 => u16::from(12 - point) * self.cell,
            1..=6 => half + 5 + u16::from(6 - point) * self.cell,
            _ => half + 1,
        };
        self.area.x + 1 + inner
    }

    /// Returns the screen row of the checker with index `k` on a point in the upper or lower half. Index 0 is at the edge of the board.
    fn row(&self, upper: bool, k: u16) -> u16 {
        self.area.y + if upper { 2 + k } else { 12 - k }
    }

    fn draw(&self, buffer: &mut Buffer) {
        let session = &self.screen.session;
        self.frame(buffer);
        let candidate = self.screen.candidates().get(self.screen.candidate);
        let chosen = self.screen.chosen_step().filter(|_| candidate.is_none() && session.phase == Phase::ToPlay);
        // Steps to highlight, in the user's point numbers: those of the chosen candidate, or else the chosen step.
        let shown: Vec<Step> = match candidate {
            Some(candidate) => candidate.steps.clone(),
            None => chosen.into_iter().collect(),
        };
        let played = session.reply.as_ref().filter(|reply| reply.did == EngineAct::Played && reply.seat == 1);
        let touched: Vec<u8> = played.iter().flat_map(|reply| &reply.steps).map(|step| 25 - step.to.min(25)).collect();
        let position = &session.position;
        for point in 1..=24u8 {
            let (mine, theirs) = (position.mine[usize::from(point)], position.theirs[usize::from(25 - point)]);
            let upper = point > 12;
            let (mark, count) = if mine > 0 { (MINE, mine) } else { (THEIRS, theirs) };
            let plain = if mine > 0 { Style::new().fg(ACCENT) } else { Style::new() };
            self.pile(buffer, point, upper, mark, count, plain);
            let x = self.column(point) + self.cell / 2;
            let last = u16::from(count.clamp(1, 5)) - 1;
            if theirs > 0 && touched.contains(&point) {
                let style = Style::new().fg(MARKED).add_modifier(Modifier::BOLD);
                buffer.set_style(Rect::new(x, self.row(upper, last), 1, 1), style);
            }
            let label = Rect::new(self.column(point), self.label_row(upper), self.cell, 1);
            if shown.iter().any(|step| step.from == point) {
                let style = Style::new().add_modifier(Modifier::REVERSED);
                buffer.set_style(Rect::new(x - 1, self.row(upper, last), 3, 1), style);
            }
            if shown.iter().any(|step| step.to == point) {
                let style = Style::new().fg(MARKED).add_modifier(Modifier::BOLD);
                // Marks the next free row. A point has five rows; if there are more checkers, the last row shows their number.
                if theirs == 0 && mine < 5 {
                    buffer.set_string(x, self.row(upper, mine.into()), "+", style);
                }
                buffer.set_style(label, style.add_modifier(Modifier::REVERSED));
            }
        }
        // The opponent's checkers on the bar are in the upper half, the user's in the lower half.
        for (count, upper, mark) in [(position.theirs[25], true, THEIRS), (position.mine[25], false, MINE)] {
            let style = if upper { Style::new() } else { Style::new().fg(ACCENT) };
            self.pile(buffer, 25, upper, mark, count, style);
        }
        if position.mine[25] > 0 && shown.iter().any(|step| step.from == 25) {
            let k = u16::from(position.mine[25].min(5)) - 1;
            let style = Style::new().add_modifier(Modifier::REVERSED);
            buffer.set_style(Rect::new(self.column(25), self.row(false, k), 3, 1), style);
        }
        self.dice(buffer);
    }

    fn label_row(&self, upper: bool) -> u16 {
        self.area.y + if upper { 0 } else { BOARD_ROWS - 1 }
    }

    fn frame(&self, buffer: &mut Buffer) {
        let style = Style::new().fg(FAINT);
        let half = "─".repeat(usize::from(6 * self.cell));
        let edge = |a: &str, b: &str, c: &str| format!("{a}{half}{b}───{b}{half}{c}");
        let Rect { x, y, .. } = self.area;
        buffer.set_string(x, y + 1, edge("┌", "┬", "┐"), style);
        buffer.set_string(x, y + 13, edge("└", "┴", "┘"), style);
        let bar = x + 1 + 6 * self.cell;
        for row in y + 2..y + 13 {
            for column in [x, bar, bar + 4, self.area.right() - 1] {
                buffer.set_string(column, row, "│", style);
            }
        }
        buffer.set_string(bar + 1, y + MIDDLE, "bar", style);
        for point in 1..=24u8 {
            let label = format!("{point:>2}");
            let at = self.column(point) + self.cell / 2 - 1;
            buffer.set_string(at, self.label_row(point > 12), label, style);
        }
    }

    /// Draws the checkers of a point from the edge inwards, in five rows. If there are more than five checkers, the innermost row shows
    /// their number.
    fn pile(&self, buffer: &mut Buffer, point: u8, upper: bool, mark: char, count: u8, style: Style) {
        let x = self.column(point) + if point == 25 { 1 } else { self.cell / 2 };
        for k in 0..5u16 {
            let y = self.row(upper, k);
            if k == 4 && count > 5 {
                buffer.set_string(x - u16::from(count > 9), y, count.to_string(), style);
            } else if k < u16::from(count) {
                buffer.set_string(x, y, mark.to_string(), style);
            } else if point < 25 && point.is_multiple_of(2) {
                buffer.set_string(x, y, "·", Style::new().fg(FAINT));
            }
        }
    }

    /// Draws the dice in the middle row: the user's dice on the right, the opponent's on the left. Dice that were already played are faint.
    fn dice(&self, buffer: &mut Buffer) {
        let session = &self.screen.session;
        let mut all: Vec<(u8, bool)> = Vec::new();
        let mut mine = true;
        match (session.dice, &session.reply) {
            (Some([a, b]), _) => {
                let mut left = session.left.clone();
                let rolled = if a == b { vec![a; 4] } else { vec![a, b] };
                for die in rolled.into_iter().rev() {
                    let open = left.iter().position(|&number| number == die);
                    open.map(|at| left.remove(at));
                    all.insert(0, (die, open.is_some()));
                }
                mine = session.turn == 0;
            }
            (None, Some(reply)) => {
                all.extend(reply.dice.into_iter().flatten().map(|die| (die, false)));
                mine = reply.seat == 0;
            }
            _ => {}
        }
        let half = 6 * self.cell;
        let start = self.area.x + 1 + if mine { half + 5 } else { 0 };
        let width = (4 * all.len() as u16).saturating_sub(1);
        let mut x = start + (half - width) / 2;
        for (die, open) in all {
            let style = match open {
                true => Style::new().fg(Color::Reset).add_modifier(Modifier::BOLD),
                false => Style::new().fg(FAINT),
            };
            buffer.set_string(x, self.area.y + MIDDLE, format!("[{die}]"), style);
            x += 4;
        }
    }
}
