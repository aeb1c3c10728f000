//! How a run is shown: on the full screen or in lines, while it trains here or in another process.

use crate::outputs::lines::Printer;
use crate::outputs::screen::{Screen, terminal};
use crate::session::record::Record;
use crate::session::training::{BACKLOG, Update, Wish};
use crate::signals::SIGNALS;
use anyhow::{Result, anyhow};
use std::io::IsTerminal;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

pub struct Shown<'a> {
    pub json: bool,
    /// Lines where there is none.
    pub screen: Option<Screen>,
    /// Of a run of this process, which takes wishes; none of another's.
    pub wishes: Option<&'a Sender<Wish>>,
    /// What is said where the work panics.
    pub broken: &'static str,
}

impl Shown<'_> {
    /// Does the work on a thread of its own and shows what it tells, until both have ended.
    pub fn beside(self, work: impl FnOnce(SyncSender<Update>) -> Result<()> + Send, log: &mut dyn FnMut(&Record)) -> Result<()> {
        let (update, updates) = sync_channel(BACKLOG);
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || work(update));
            let shown = match self.screen {
                Some(screen) => on_screen(screen, self.wishes, &updates, log),
                None => in_lines(self.json, &updates, log),
            };
            // Whatever became of the showing, a run ends well.
            if shown.is_err() || self.wishes.is_none() {
                SIGNALS.output_closed.store(true, Relaxed);
            }
            updates.iter().for_each(drop);
            let ended = worker.join().map_err(|_| anyhow!(self.broken))?;
            shown.and(ended)
        })
    }
}

/// Draws until the run ends, then tells in lines what is worth keeping in the scrollback.
fn on_screen(screen: Screen, wishes: Option<&Sender<Wish>>, updates: &Receiver<Update>, log: &mut dyn FnMut(&Record)) -> Result<()> {
    let mut summary = None;
    let drawn = terminal::show(screen, wishes, &SIGNALS, updates, &mut |record| {
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

fn in_lines(json: bool, updates: &Receiver<Update>, log: &mut dyn FnMut(&Record)) -> Result<()> {
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
