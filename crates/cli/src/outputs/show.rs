//! Shows a run on the full screen or as printed lines. The run trains in this process or in another process.

use crate::error::both;
use crate::outputs::lines::Printer;
use crate::outputs::screen::{Screen, terminal};
use crate::plain;
use crate::session::record::Record;
use crate::session::training::{BACKLOG, Request, Update};
use crate::signals::SIGNALS;
use anyhow::{Result, anyhow};
use std::io::IsTerminal;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

pub struct RunDisplay<'a> {
    pub json: bool,
    /// Full screen; `None` to print lines.
    pub screen: Option<Screen>,
    /// Sender of requests to a run of this process; `None` for a run of another process.
    pub requests: Option<&'a Sender<Request>>,
    /// Error message if the work panics.
    pub panic_message: &'static str,
}

impl RunDisplay<'_> {
    /// Runs `work` on its own thread and shows its updates. Returns when both the work and the display have ended.
    pub fn show(self, work: impl FnOnce(SyncSender<Update>) -> Result<()> + Send, log: &mut dyn FnMut(&Record)) -> Result<()> {
        let (update, updates) = sync_channel(BACKLOG);
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || work(update));
            let shown = match self.screen {
                Some(screen) => on_screen(screen, self.requests, &updates, log),
                None => in_lines(self.json, &updates, log),
            };
            // After a display error, the run is stopped, so that it saves before the program ends. If the run belongs to another process,
            // only the reading of its records is stopped.
            if shown.is_err() || self.requests.is_none() {
                SIGNALS.output_closed.store(true, Relaxed);
            }
            updates.iter().for_each(drop);
            let ended = worker.join().map_err(|_| anyhow!(self.panic_message))?;
            both(shown, ended)
        })
    }
}

/// Draws until the run ends or the user quits. Then prints the summary, if there is one, as lines.
fn on_screen(screen: Screen, requests: Option<&Sender<Request>>, updates: &Receiver<Update>, log: &mut dyn FnMut(&Record)) -> Result<()> {
    let mut summary = None;
    let drawn = terminal::show(screen, requests, &SIGNALS, updates, &mut |record| {
        log(record);
        if matches!(record, Record::Summary(_)) {
            summary = Some(record.clone());
        }
    });
    if let Some(summary) = summary {
        let mut printer = Printer::new(plain::stdout(), false);
        printer.record(&summary)?;
        printer.flush()?;
    }
    drawn
}

fn in_lines(json: bool, updates: &Receiver<Update>, log: &mut dyn FnMut(&Record)) -> Result<()> {
    let mut printer = Printer::new(plain::stdout(), json);
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
