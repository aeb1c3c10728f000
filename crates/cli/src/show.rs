//! How a run is shown: on the full screen or in lines, while it trains here or in another process.

use crate::args::ShowArgs;
use crate::lines::Printer;
use crate::record::Record;
use crate::screen::{Mode, Screen, terminal};
use crate::session::{self, Update, Wish};
use crate::signals::{self, SIGNALS};
use crate::{monitor_file, watch};
use anyhow::{Result, anyhow};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, sync_channel};

/// What is on the screen.
#[derive(Clone, Copy)]
pub enum Shown<'a> {
    /// A run of this process, which takes wishes.
    Training(&'a Sender<Wish>),
    /// Another's.
    Watched,
}

pub fn watched(file: Option<PathBuf>, show: &ShowArgs) -> Result<()> {
    let file = match file {
        Some(file) => file,
        None => {
            let newest = monitor_file::newest()?;
            // What is watched goes to standard output, and this to whoever started it.
            let _ = writeln!(std::io::stderr(), "watching {}", newest.display());
            newest
        }
    };
    let file = &file;
    signals::listen()?;
    let (update, updates) = sync_channel(session::BACKLOG);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || watch::follow(file, &SIGNALS, &update));
        let shown = if wants_screen(show.json || show.plain) {
            on_screen(Shown::Watched, &updates, &mut |_| {})
        } else {
            in_lines(show.json, &updates, &mut |_| {})
        };
        SIGNALS.output_closed.store(true, Relaxed);
        updates.iter().for_each(drop);
        let read = reader.join().map_err(|_| anyhow!("reading stopped at an internal error, told above"))?;
        shown.and(read)
    })
}

/// Draws until the run ends, then tells in lines what is worth keeping in the scrollback.
pub fn on_screen(shown: Shown, updates: &Receiver<Update>, log: &mut dyn FnMut(&Record)) -> Result<()> {
    let mut summary = None;
    let mode = match shown {
        Shown::Training(_) => Mode::Training,
        Shown::Watched => Mode::Watching,
    };
    let drawn = terminal::show(Screen::new(mode), shown, &SIGNALS, updates, &mut |record| {
        log(record);
        if matches!(record, Record::Summary(_)) {
            summary = Some(record.clone());
        }
    });
    if let Some(summary) = summary {
        let mut printer = Printer::new(std::io::stdout(), false);
        printer.record(&summary)?;
        printer.flush()?;
    }
    drawn
}

pub fn in_lines(json: bool, updates: &Receiver<Update>, log: &mut dyn FnMut(&Record)) -> Result<()> {
    let mut printer = Printer::new(std::io::stdout(), json);
    let mut printed = Ok(());
    while let Ok(first) = updates.recv() {
        for update in std::iter::once(first).chain(updates.try_iter()) {
            if let Update::Record(record) = update {
                log(&record);
                if printed.is_ok() {
                    printed = printer.record(&record);
                }
            }
        }
        if printed.is_ok() {
            printed = printer.flush();
        }
        if printed.is_err() {
            SIGNALS.output_closed.store(true, Relaxed);
        }
    }
    Ok(printed?)
}

pub fn wants_screen(lines: bool) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !lines && !dumb
}
