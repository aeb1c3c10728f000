//! The metrics of a run for other people's programs: a table of comma-separated values, and event
//! files that TensorBoard reads. Both follow the records that the screen is drawn from, and both go
//! on rightly where a run is resumed. They refuse to stop a run: what cannot be written is told once.
//!
//! An event file is a row of frames: length (u64), its masked CRC-32C, the bytes, their masked
//! CRC-32C, all little-endian. The bytes are a protocol buffer `Event`; the few fields needed are
//! written here by hand.

use crate::files;
use crate::record::Record;
use anyhow::{Context, Result, anyhow, bail};
use run::protocol::{Evaluation, Event, Metrics, Progress};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// An iteration and, where there was one, its evaluation.
struct Row {
    metrics: Metrics,
    evaluation: Option<Evaluation>,
    /// Seconds since 1970.
    wall_s: f64,
}

struct Column {
    /// TensorBoard's heading; none where the table alone has the column.
    group: &'static str,
    name: &'static str,
    unit: &'static str,
    read: fn(&Row) -> Option<f64>,
}

const fn column(
    group: &'static str,
    name: &'static str,
    unit: &'static str,
    read: fn(&Row) -> Option<f64>,
) -> Column {
    Column { group, name, unit, read }
}

/// The table's columns, of which the first three tell a row's place in its run.
const COLUMNS: [Column; 24] = [
    column("", "iteration", "", |r| Some(r.metrics.progress.iteration.into())),
    column("", "env_steps", "steps", |r| Some(r.metrics.progress.env_steps as f64)),
    column("progress", "episodes", "", |r| Some(r.metrics.progress.episodes as f64)),
    column("progress", "train_time", "s", |r| Some(r.metrics.progress.train_s)),
    column("return", "mean_return", "", |r| r.metrics.mean_return),
    column("return", "mean_length", "steps", |r| r.metrics.mean_length),
    column("return", "evaluation_return", "", |r| r.evaluation.map(|e| e.mean_return)),
    column("loss", "policy_loss", "", |r| Some(r.metrics.policy_loss)),
    column("loss", "value_loss", "", |r| Some(r.metrics.value_loss)),
    column("policy", "entropy", "nat", |r| Some(r.metrics.entropy)),
    column("policy", "approx_kl", "nat", |r| Some(r.metrics.approx_kl)),
    column("policy", "clip_fraction", "", |r| Some(r.metrics.clip_fraction)),
    column("value", "explained_variance", "", |r| Some(r.metrics.explained_variance)),
    column("update", "grad_norm", "", |r| Some(r.metrics.grad_norm)),
    column("update", "lr", "", |r| Some(r.metrics.lr)),
    column("speed", "throughput", "steps/s", |r| Some(r.metrics.steps_per_s)),
    column("time", "share_policy", "", |r| Some(r.metrics.shares[0])),
    column("time", "share_world", "", |r| Some(r.metrics.shares[1])),
    column("time", "share_advantages", "", |r| Some(r.metrics.shares[2])),
    column("time", "share_gather", "", |r| Some(r.metrics.shares[3])),
    column("time", "share_gradient", "", |r| Some(r.metrics.shares[4])),
    column("time", "share_update", "", |r| Some(r.metrics.shares[5])),
    column("time", "share_rest", "", |r| Some(r.metrics.shares[6])),
    column("time", "share_device", "", |r| Some(r.metrics.shares[7])),
];

/// What was asked for, and the newest row, which waits for its evaluation.
pub struct Exports {
    csv: Option<Csv>,
    tensorboard: Option<TensorBoard>,
    waiting: Option<Row>,
}

impl Exports {
    /// Fails here, before training, where a file cannot take up a run that is at `progress`.
    pub fn open(csv: Option<&Path>, tensorboard: Option<&Path>, progress: Progress) -> Result<Exports> {
        Ok(Exports {
            csv: csv.map(|path| Csv::open(path, progress)).transpose()?,
            tensorboard: tensorboard.map(TensorBoard::open).transpose()?,
            waiting: None,
        })
    }

    pub fn record(&mut self, record: &Record) {
        match record {
            Record::Event(Event::Began { history, evaluations, progress, .. }) => {
                self.settle();
                let now_s = unix_s();
                let judged: BTreeMap<u32, Evaluation> =
                    evaluations.iter().map(|e| (e.progress.iteration, *e)).collect();
                let row = |m: &Metrics| Row {
                    metrics: *m,
                    evaluation: judged.get(&m.progress.iteration).copied(),
                    wall_s: now_s - (progress.train_s - m.progress.train_s),
                };
                let history: Vec<Row> = history.iter().map(row).collect();
                write_to(&mut self.csv, |csv| csv.begin(&history, *progress));
                write_to(&mut self.tensorboard, |board| board.begin(&history, *progress));
            }
            Record::Event(Event::Metrics(metrics)) => {
                self.settle();
                self.waiting = Some(Row { metrics: *metrics, evaluation: None, wall_s: unix_s() });
            }
            Record::Event(Event::Evaluation(evaluation)) => {
                let same = |row: &&mut Row| row.metrics.progress.iteration == evaluation.progress.iteration;
                if let Some(row) = self.waiting.as_mut().filter(same) {
                    row.evaluation = Some(*evaluation);
                }
            }
            // A save is where a run may be taken up again, so the rows until then must be there.
            Record::FileSaved { .. } | Record::Summary(_) => self.settle(),
            _ => {}
        }
    }

    fn settle(&mut self) {
        if let Some(row) = self.waiting.take() {
            write_to(&mut self.csv, |csv| csv.row(&row));
            write_to(&mut self.tensorboard, |board| board.row(&row));
        }
    }
}

/// Writes, or says why not and lets the sink go.
fn write_to<S>(sink: &mut Option<S>, write: impl FnOnce(&mut S) -> Result<()>) {
    if let Some(error) = sink.as_mut().and_then(|open| write(open).err()) {
        let _ = writeln!(std::io::stderr(), "warning: {error:#}; training goes on without it");
        *sink = None;
    }
}

fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
}

struct Csv {
    path: PathBuf,
    file: File,
    /// Iteration of the last row; 0 before the first.
    last: u32,
}

impl Csv {
    /// A new run begins the table anew; a resumed one keeps the rows up to where it is.
    fn open(path: &Path, progress: Progress) -> Result<Csv> {
        let shown = path.display();
        files::check_writable(path)?;
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| format!("cannot open {shown}. Name another file with --csv"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
        let (kept, last) = keep(&bytes, progress)
            .map_err(|why| anyhow!("{shown} {why}. Move it away, or name another file with --csv"))?;
        let mut csv = Csv { path: path.to_path_buf(), file, last };
        let cut = csv.file.set_len(kept as u64).and_then(|()| csv.file.seek(SeekFrom::End(0)));
        cut.with_context(|| format!("cannot write to {shown}"))?;
        if kept == 0 {
            csv.line(&header())?;
        }
        Ok(csv)
    }

    fn begin(&mut self, history: &[Row], progress: Progress) -> Result<()> {
        *self = Csv::open(&self.path, progress)?;
        // What the checkpoint remembers and the file does not.
        let last = self.last;
        history.iter().filter(|r| r.metrics.progress.iteration > last).try_for_each(|row| self.row(row))
    }

    fn row(&mut self, row: &Row) -> Result<()> {
        let cells: Vec<String> =
            COLUMNS.iter().map(|c| (c.read)(row).map_or(String::new(), number)).collect();
        self.last = row.metrics.progress.iteration;
        self.line(&cells.join(","))
    }

    /// In one write, so that whoever reads along sees whole rows.
    fn line(&mut self, line: &str) -> Result<()> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}

fn header() -> String {
    let cell = |c: &Column| match c.unit {
        "" => c.name.to_string(),
        unit => format!("{} [{unit}]", c.name),
    };
    COLUMNS.iter().map(cell).collect::<Vec<_>>().join(",")
}

/// The shortest decimal of a number that was a 32-bit float, or of what it is.
fn number(value: f64) -> String {
    if f64::from(value as f32) == value { (value as f32).to_string() } else { value.to_string() }
}

/// How many bytes of a table hold the run up to `progress`, and its last iteration there.
fn keep(bytes: &[u8], progress: Progress) -> Result<(usize, u32), &'static str> {
    let header = header() + "\n";
    if bytes.is_empty() {
        return Ok((0, 0));
    }
    if !bytes.starts_with(header.as_bytes()) {
        return Err("is no table of this program's metrics");
    }
    if progress.iteration == 0 {
        return Ok((0, 0));
    }
    let (mut kept, mut last) = (header.len(), 0);
    // The last line may be cut short.
    for line in bytes[kept..].split_inclusive(|&b| b == b'\n').filter(|line| line.ends_with(b"\n")) {
        let text = std::str::from_utf8(line).unwrap_or_default();
        let place: Vec<u64> = text.split(',').take(3).map_while(|cell| cell.parse().ok()).collect();
        let &[iteration, steps, episodes] = place.as_slice() else {
            return Err("has a row that is none of this program's metrics");
        };
        if iteration > u64::from(progress.iteration) {
            break;
        }
        if iteration == u64::from(progress.iteration)
            && (steps, episodes) != (progress.env_steps, progress.episodes)
        {
            return Err("holds the metrics of another run");
        }
        (kept, last) = (kept + line.len(), iteration as u32);
    }
    Ok((kept, last))
}

struct TensorBoard {
    path: PathBuf,
    file: File,
    /// The folder has the run up to its newest save already.
    continued: bool,
}

impl TensorBoard {
    /// Every process writes a file of its own; TensorBoard reads those of a folder as one run.
    fn open(folder: &Path) -> Result<TensorBoard> {
        let shown = folder.display();
        if folder.exists() && !folder.is_dir() {
            bail!("{shown} is a file. Name a folder with --tensorboard");
        }
        let next = "Name a folder that can be written with --tensorboard";
        fs::create_dir_all(folder).with_context(|| format!("cannot create {shown}. {next}"))?;
        let is_events = |e: fs::DirEntry| e.file_name().to_string_lossy().contains("tfevents");
        let continued = fs::read_dir(folder)
            .with_context(|| format!("cannot read {shown}. {next}"))?
            .any(|entry| entry.is_ok_and(is_events));
        // The files are read in the order of their names.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("events.out.tfevents.{:010}.{:09}.hothouse", now.as_secs(), now.subsec_nanos());
        let path = folder.join(name);
        let file = File::create_new(&path).with_context(|| format!("cannot write in {shown}. {next}"))?;
        let mut board = TensorBoard { path, file, continued };
        board.event(&event(unix_s(), 0, FILE_VERSION, b"brain.Event:2"))?;
        Ok(board)
    }

    /// Whatever the folder has of later steps is not part of this run any more.
    fn begin(&mut self, history: &[Row], progress: Progress) -> Result<()> {
        let mut start = Vec::new();
        put_varint(&mut start, key(SESSION_STATUS, VARINT));
        put_varint(&mut start, SESSION_START);
        let next = if progress.iteration == 0 { 0 } else { progress.env_steps + 1 };
        if self.continued {
            self.event(&event(unix_s(), next, SESSION_LOG, &start))?;
        } else {
            history.iter().try_for_each(|row| self.row(row))?;
        }
        self.continued = true;
        Ok(())
    }

    fn row(&mut self, row: &Row) -> Result<()> {
        let mut summary = Vec::new();
        for column in COLUMNS.iter().filter(|c| !c.group.is_empty()) {
            if let Some(number) = (column.read)(row) {
                let mut value = Vec::new();
                put_bytes(&mut value, VALUE_TAG, format!("{}/{}", column.group, column.name).as_bytes());
                put_varint(&mut value, key(VALUE_SIMPLE, FIXED32));
                value.extend((number as f32).to_le_bytes());
                put_bytes(&mut summary, SUMMARY_VALUE, &value);
            }
        }
        self.event(&event(row.wall_s, row.metrics.progress.env_steps, SUMMARY, &summary))
    }

    fn event(&mut self, event: &[u8]) -> Result<()> {
        let written = self.file.write_all(&frame(event));
        written.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}

// Fields of `Event`, `Summary`, `Summary.Value` and `SessionLog`, by number.
const WALL_TIME: u64 = 1;
const STEP: u64 = 2;
const FILE_VERSION: u64 = 3;
const SUMMARY: u64 = 5;
const SESSION_LOG: u64 = 7;
const SUMMARY_VALUE: u64 = 1;
const VALUE_TAG: u64 = 1;
const VALUE_SIMPLE: u64 = 2;
const SESSION_STATUS: u64 = 1;
const SESSION_START: u64 = 1;

// How a field is written.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

fn key(field: u64, form: u64) -> u64 {
    field << 3 | form
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, key(field, BYTES));
    put_varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn event(wall_s: f64, step: u64, field: u64, what: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, key(WALL_TIME, FIXED64));
    out.extend(wall_s.to_le_bytes());
    put_varint(&mut out, key(STEP, VARINT));
    put_varint(&mut out, step);
    put_bytes(&mut out, field, what);
    out
}

fn frame(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u64).to_le_bytes();
    [&length[..], &masked(crc32c(&length)).to_le_bytes(), bytes, &masked(crc32c(bytes)).to_le_bytes()]
        .concat()
}

/// So that a check value of bytes which hold check values is still a good one.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Castagnoli's polynomial, reflected (RFC 3720, B.4), a byte at a time.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let mut crc = i as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
                bit += 1;
            }
            table[i] = crc;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc, &b| TABLE[usize::from(crc as u8 ^ b)] ^ crc >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_values_are_the_published_ones() {
        // RFC 3720, B.4, and the check value of the catalogues of CRCs.
        let ascending: Vec<u8> = (0..32).collect();
        let descending: Vec<u8> = (0..32).rev().collect();
        for (bytes, crc) in [
            (&[0u8; 32][..], 0x8a91_36aa),
            (&[0xff; 32], 0x62a8_ab43),
            (&ascending, 0x46dd_794e),
            (&descending, 0x113f_db5c),
            (b"123456789", 0xe306_9283),
            (b"", 0),
        ] {
            assert_eq!(crc32c(bytes), crc, "{bytes:?}");
        }
        // The first frame of every event file: 24 bytes, their length's masked check value.
        assert_eq!(frame(&[0; 24])[..12], [24, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22]);
    }

    #[test]
    fn a_table_is_kept_up_to_where_the_run_is() {
        let at = |iteration, env_steps, episodes| Progress { iteration, env_steps, episodes, train_s: 0.0 };
        let head = header() + "\n";
        let rows = |text: &str| (head.clone() + text).into_bytes();
        let table = rows("1,10,3,x\n2,20,6,x\n3,30,9,x\n4,4");
        assert_eq!(keep(b"", at(2, 20, 6)), Ok((0, 0)));
        assert_eq!(keep(&table, at(2, 20, 6)), Ok((head.len() + 18, 2)), "rows past the save go");
        assert_eq!(keep(&table, at(7, 70, 21)), Ok((head.len() + 27, 3)), "what was cut short goes");
        assert_eq!(keep(&table, at(0, 0, 0)), Ok((0, 0)), "a new run begins anew");
        assert!(keep(&table, at(2, 20, 7)).unwrap_err().contains("another run"));
        assert!(keep(b"a,b\n1,2\n", at(2, 20, 6)).unwrap_err().contains("no table"));
        assert!(keep(b"a,b\n1,2\n", at(0, 0, 0)).unwrap_err().contains("no table"), "others' files are safe");
        assert!(keep(&rows("one,2,3\n"), at(2, 20, 6)).is_err());
    }

    #[test]
    fn numbers_are_short_and_exact() {
        assert_eq!(number(f64::from(0.1f32)), "0.1");
        assert_eq!(number(0.1), "0.1");
        assert_eq!(number(16_777_217.0), "16777217");
    }
}
