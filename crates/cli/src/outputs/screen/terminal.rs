//! The terminal while a run is shown in it: drawn at most twenty times a second on a thread that
//! does no training, and given back as it was however the run ends.

use super::aside::Aside;
use super::{Key, Mode, Screen, draw};
use crate::session::record::Record;
use crate::session::training::{Update, Wish};
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

/// Shows updates until the run sums up or the person stops watching. Fails if there is no terminal
/// to draw on; the run itself is then untouched.
pub fn show(
    mut screen: Screen,
    wishes: Option<&Sender<Wish>>,
    signals: &'static Signals,
    updates: &Receiver<Update>,
    log: &mut dyn FnMut(&Record),
) -> Result<()> {
    let mut terminal = Held::take(signals)?;
    let keys = read_keys();
    let mut last_words = String::new();
    // A run that has just ended takes no more wishes, and needs none.
    let wish = |wish: Wish| {
        if let Some(wishes) = wishes {
            let _ = wishes.send(wish);
        }
    };
    let mut asked = false;
    loop {
        loop {
            match updates.try_recv() {
                Ok(Update::Record(record)) => {
                    log(&record);
                    let last = matches!(*record, Record::Summary(_));
                    if matches!(*record, Record::Event(Event::Device(_))) {
                        // While it was opened, a driver may have written over the screen. (`Terminal::clear` would
                        // ask the terminal where its cursor is, and the answer goes to the thread that reads keys.)
                        execute!(std::io::stdout(), Clear(ClearType::All))?;
                        terminal.terminal.swap_buffers();
                    }
                    screen.apply(*record);
                    if last && screen.mode != Mode::Watching {
                        return Ok(());
                    }
                }
                Ok(Update::Answer(json)) => {
                    asked = false;
                    if let Some(picture) = &mut screen.picture {
                        picture.answer(&json, Instant::now());
                    }
                }
                Err(TryRecvError::Empty) => break,
                // A run that has told all it will stays in sight until the person leaves.
                Err(TryRecvError::Disconnected) if screen.mode == Mode::Watching && screen.view.told.is_some() => {
                    break;
                }
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
        for line in terminal.heard() {
            // A driver may say the same again and again.
            if line != last_words {
                last_words.clone_from(&line);
                screen.heard(line);
            }
        }
        let question = screen.picture.as_mut().and_then(|picture| picture.question(Instant::now()));
        if let Some(question) = question.filter(|_| !asked) {
            asked = true;
            wish(Wish::Ask(question));
        }
        if signals.stopping() && screen.mode != Mode::Watching {
            screen.mode = Mode::Stopping;
        }
        if !signals.screen.load(Relaxed) {
            return Ok(());
        }
        terminal.draw(|frame| draw::draw(frame, &screen))?;
        let next = Instant::now() + DRAW_EVERY;
        // Keys are answered in the next drawing; the wait for them is what paces the drawings.
        loop {
            let key = match keys.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(key) => key.context(NO_KEYS)?,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => bail!(NO_KEYS),
            };
            match screen.key(key) {
                Key::Wish(wished) => wish(wished),
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

/// Keys are read on a thread of their own: where the terminal has gone away, reading never returns,
/// and the run must end all the same. The thread ends with the program.
pub fn read_keys() -> Receiver<std::io::Result<KeyEvent>> {
    let (give, keys) = channel();
    std::thread::spawn(move || {
        loop {
            let key = match event::read() {
                Ok(TerminalEvent::Key(key)) if key.kind != KeyEventKind::Release => Ok(key),
                Ok(_) => continue,
                Err(error) => Err(error),
            };
            let last = key.is_err();
            if give.send(key).is_err() || last {
                return;
            }
        }
    });
    keys
}

/// The terminal in the hands of a full screen; dropped, it is given back as it was.
pub struct Held {
    terminal: ManuallyDrop<DefaultTerminal>,
    /// Standard error, where it is this terminal.
    aside: Option<Aside>,
    signals: &'static Signals,
    colourless: bool,
}

impl Held {
    pub fn take(signals: &'static Signals) -> Result<Held> {
        let aside = if std::io::stderr().is_terminal() { Aside::take() } else { None };
        let back = aside.as_ref().map(Aside::way_back);
        // A panic anywhere gives the terminal back before it speaks; nothing may be drawn over its words.
        let speak = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            signals.screen.store(false, Relaxed);
            back.iter().for_each(|back| back());
            speak(panic);
        }));
        let terminal = ratatui::try_init().context("cannot draw on this terminal. Try again with --plain")?;
        signals.screen.store(true, Relaxed);
        let colourless = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        // Its own drop would speak of a cursor that it cannot show where the terminal has gone away.
        Ok(Held { terminal: ManuallyDrop::new(terminal), aside, signals, colourless })
    }

    /// What was written to standard error since this was last asked.
    pub fn heard(&self) -> impl Iterator<Item = String> {
        self.aside.iter().flat_map(|aside| aside.lines.try_iter())
    }

    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> std::io::Result<()> {
        let colourless = self.colourless;
        let drawn = self.terminal.draw(|frame| {
            draw(frame);
            if colourless {
                without_colours(frame.buffer_mut());
            }
        });
        drawn.map(drop)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A terminal that has gone away needs nothing given back.
        let _ = ratatui::try_restore();
        let _ = execute!(std::io::stdout(), Show);
        self.signals.screen.store(false, Relaxed);
    }
}

/// Bold, faint and reversed stay. (Colours that are only left out on their way to the terminal take those with them.)
fn without_colours(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::{Modifier, Style};

    #[test]
    fn without_colours_what_is_bold_or_reversed_still_is() {
        let strong = Modifier::BOLD | Modifier::REVERSED;
        let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 1));
        buffer.set_string(0, 0, "ab", Style::new().fg(Color::Green).bg(Color::Black).add_modifier(strong));
        without_colours(&mut buffer);
        for cell in &buffer.content {
            assert_eq!((cell.fg, cell.bg, cell.modifier), (Color::Reset, Color::Reset, strong));
        }
        assert_eq!(buffer.content[1].symbol(), "b");
    }
}
