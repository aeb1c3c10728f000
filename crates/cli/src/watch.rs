//! Follows the events file of another training process, or reads that of one that has ended. It
//! only reads: it cannot change a run.

use crate::record::Record;
use crate::session::{Signals, Update};
use anyhow::{Context, Result, anyhow, bail};
use run::protocol::{Event, Level};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(100);
/// A run that has written nothing for so long may have been killed.
const SILENCE: Duration = Duration::from_secs(10);

/// Reads records until the last one, or until told to stop.
pub fn follow(path: &Path, signals: &Signals, updates: &SyncSender<Update>) -> Result<()> {
    let shown = path.display();
    let mut reader = open(path)?;
    let mut line = Vec::new();
    // Bytes read, and whether anything in the file was a record.
    let (mut place, mut known) = (0u64, false);
    let (mut heard, mut told) = (Instant::now(), false);
    while !signals.stopping() {
        let read = reader.read_until(b'\n', &mut line).with_context(|| format!("cannot read {shown}"))?;
        place += read as u64;
        if read > 0 {
            (heard, told) = (Instant::now(), false);
        } else if heard.elapsed() > SILENCE && !told {
            told = true;
            let silent = Record::Event(Event::Notice {
                level: Level::Warning,
                text: format!(
                    "{shown} has told nothing new for {} s: the run may be paused, or gone.",
                    SILENCE.as_secs()
                ),
                next_step: "Wait for it, or end the watching with Ctrl-C.".into(),
            });
            if updates.send(Update::Record(Box::new(silent))).is_err() {
                return Ok(());
            }
        }
        if line.last() == Some(&b'\n') {
            match serde_json::from_slice::<Record>(&line) {
                Ok(record) => {
                    known = true;
                    let last = matches!(record, Record::Summary(_));
                    if updates.send(Update::Record(Box::new(record))).is_err() || last {
                        return Ok(());
                    }
                }
                // A newer process may write records this one does not know; a foreign file has none.
                Err(_) if known => {}
                Err(_) => {
                    bail!("{shown} holds no events. Name a file written by `hothouse train --events FILE`")
                }
            }
            line.clear();
        } else if read == 0 {
            if !known && line.first().is_some_and(|&b| b != b'{') {
                bail!("{shown} holds no events. Name a file written by `hothouse train --events FILE`");
            }
            std::thread::sleep(POLL);
            // A new run writes the file anew.
            if std::fs::metadata(path).is_ok_and(|m| m.len() < place) {
                reader = open(path)?;
                line.clear();
                (place, known) = (0, false);
            }
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let shown = path.display();
    if path.is_dir() {
        bail!("{shown} is a folder. Name the file that `hothouse train --events FILE` writes");
    }
    let file = File::open(path).map_err(|e| {
        anyhow!("cannot open {shown} ({e}). Start a run with `hothouse train --events {shown}`")
    })?;
    Ok(BufReader::new(file))
}
