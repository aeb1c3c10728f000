//! The full-screen terminal. A thread that does no training draws the screen at most twenty times a second. The terminal is restored at the
//! end.

use super::aside::StderrCapture;
use super::{Key, Mode, Screen, draw};
use crate::format::steers;
use crate::session::record::Record;
use crate::session::training::{Request, Update};
use crate::signals::Signals;
use anyhow::{Context, Result, bail};
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event as TerminalEvent, KeyEvent, KeyEventKind};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{Clear, ClearType};
use ratatui::style::Color;
use ratatui::{DefaultTerminal, Frame};
use run::protocol::Event;
use std::io::IsTerminal;
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

pub const NO_KEYS: &str = "cannot read keys from this terminal. Try again with --plain";
pub const DRAW_EVERY: Duration = Duration::from_millis(50);

/// Shows updates until the summary arrives or the user quits. A watched run stays on the screen after its summary. Returns an error if
/// there is no terminal.
pub fn show(
    mut screen: Screen,
    requests: Option<&Sender<Request>>,
    signals: &'static Signals,
    updates: &Receiver<Update>,
    log: &mut dyn FnMut(&Record),
) -> Result<()> {
    let mut terminal = FullScreen::start(signals)?;
    let keys = read_keys();
    let mut last_line = String::new();
    // A failed send is ignored, because it means that the run has just ended.
    let send = |request: Request| {
        if let Some(requests) = requests {
            let _ = requests.send(request);
        }
    };
    let mut awaiting_answer = false;
    loop {
        loop {
            match updates.try_recv() {
                Ok(Update::Record(record)) => {
                    log(&record);
                    let last = matches!(*record, Record::Summary(_));
                    if matches!(*record, Record::Event(Event::Device(_))) {
                        // The driver may have written over the screen, so everything is redrawn. `Terminal::clear` cannot be used: it
                        // queries the cursor position, and the key-reading thread would receive the answer.
                        execute!(std::io::stdout(), Clear(ClearType::All))?;
                        terminal.terminal.swap_buffers();
                    }
                    screen.apply(*record);
                    if last && screen.mode != Mode::Watching {
                        return Ok(());
                    }
                }
                Ok(Update::Answer(json)) => {
                    awaiting_answer = false;
                    if let Some(picture) = &mut screen.picture {
                        picture.answer(&json, Instant::now());
                    }
                }
                Err(TryRecvError::Empty) => break,
                // The screen shows a watched run even after its end, until the user quits.
                Err(TryRecvError::Disconnected) if screen.mode == Mode::Watching && screen.view.run.is_some() => {
                    break;
                }
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
        for line in terminal.stderr_lines() {
            // Skips a repetition of the last line, because drivers may write the same line repeatedly.
            if line != last_line {
                last_line.clone_from(&line);
                screen.show_stderr_line(line);
            }
        }
        let question = screen.picture.as_mut().and_then(|picture| picture.question(Instant::now()));
        if let Some(question) = question.filter(|_| !awaiting_answer) {
            awaiting_answer = true;
            send(Request::Ask(question));
        }
        if signals.stopping() && screen.mode != Mode::Watching {
            screen.mode = Mode::Stopping;
        }
        if !signals.screen.load(Relaxed) {
            return Ok(());
        }
        terminal.draw(|frame| draw::draw(frame, &screen))?;
        let next = Instant::now() + DRAW_EVERY;
        // Handles keys until it is time to draw again.
        loop {
            let key = match keys.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(key) => key.context(NO_KEYS)?,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => bail!(NO_KEYS),
            };
            match screen.key(key) {
                Key::Request(request) => send(request),
                Key::Quit if screen.mode == Mode::Watching => return Ok(()),
                Key::Quit => signals.interrupt(),
                Key::Nothing => {}
            }
        }
        if signals.stopping() && screen.mode == Mode::Watching {
            return Ok(());
        }
    }
}

/// Starts a thread that reads keys. The thread is necessary because a read from a closed terminal never returns, and the run must still be
/// able to end. The thread ends after a read error, at the first key after the receiver is dropped, or with the program.
pub fn read_keys() -> Receiver<std::io::Result<KeyEvent>> {
    let (sender, keys) = channel();
    std::thread::spawn(move || {
        loop {
            let key = match event::read() {
                Ok(TerminalEvent::Key(key)) if key.kind != KeyEventKind::Release => Ok(key),
                Ok(_) => continue,
                Err(error) => Err(error),
            };
            let last = key.is_err();
            if sender.send(key).is_err() || last {
                return;
            }
        }
    });
    keys
}

/// The terminal in full-screen mode. Dropping this value restores the terminal.
pub struct FullScreen {
    terminal: ManuallyDrop<DefaultTerminal>,
    /// Capture of standard error; `None` if standard error is not a terminal or cannot be captured.
    stderr: Option<StderrCapture>,
    signals: &'static Signals,
    colourless: bool,
}

impl FullScreen {
    pub fn start(signals: &'static Signals) -> Result<FullScreen> {
        let stderr = if std::io::stderr().is_terminal() { StderrCapture::start() } else { None };
        let restorer = stderr.as_ref().map(StderrCapture::restorer);
        // On a panic, this hook stops the drawing and restores standard error before the message is printed.
        let print_panic = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            signals.screen.store(false, Relaxed);
            restorer.iter().for_each(|restore| restore());
            print_panic(panic);
        }));
        let terminal = ratatui::try_init().context("cannot draw on this terminal. Try again with --plain")?;
        signals.screen.store(true, Relaxed);
        let colourless = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        // `ManuallyDrop`: dropping the terminal itself would print an error about the cursor if the terminal is closed.
        Ok(FullScreen { terminal: ManuallyDrop::new(terminal), stderr, signals, colourless })
    }

    /// Returns the lines written to standard error since the last call.
    pub fn stderr_lines(&self) -> impl Iterator<Item = String> {
        self.stderr.iter().flat_map(|capture| capture.lines.try_iter())
    }

    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> std::io::Result<()> {
        let colourless = self.colourless;
        let drawn = self.terminal.draw(|frame| {
            draw(frame);
            replace_steering(frame.buffer_mut());
            if colourless {
                without_colours(frame.buffer_mut());
            }
        });
        drawn.map(drop)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        // Errors are ignored, because a closed terminal need not be restored.
        let _ = ratatui::try_restore();
        let _ = execute!(std::io::stdout(), Show);
        self.signals.screen.store(false, Relaxed);
    }
}

/// Replaces characters that could steer the terminal by a question mark. They come from texts of untrusted files.
pub fn replace_steering(buffer: &mut Buffer) {
    for cell in buffer.content.iter_mut().filter(|cell| cell.symbol().contains(steers)) {
        cell.set_char('?');
    }
}

/// Removes colours but keeps bold, dim and reversed text. If the terminal backend removed the colours, it would also remove these styles.
pub fn without_colours(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
    }
}
