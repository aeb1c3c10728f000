//! Event files for TensorBoard.
//!
//! An event file is a sequence of frames. A frame contains a length (u64), the masked CRC-32C of the length, that number of bytes, and the
//! masked CRC-32C of the bytes, all little-endian. The bytes are a protocol buffer `Event`. This module encodes the required fields itself.

use super::row::{Row, cells, unix_s};
use anyhow::{Context, Result, bail};
use crc32c::crc32c;
use run::protocol::Progress;
use run::room::Schema;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub struct TensorBoard {
    path: PathBuf,
    file: File,
    schema: &'static Schema,
    /// True if the folder already contains event files, or if this process has already written a run.
    continued: bool,
    /// Iteration of the latest row. Rows up to this iteration are not written again.
    last: u32,
}

impl TensorBoard {
    /// Creates a new event file for this process. TensorBoard reads all event files of a folder as a single run.
    pub fn open(folder: &Path, schema: &'static Schema) -> Result<TensorBoard> {
        let shown = folder.display();
        if folder.exists() && !folder.is_dir() {
            bail!("{shown} is a file. Name a folder with --tensorboard");
        }
        let next = "Name a writable folder with --tensorboard";
        fs::create_dir_all(folder).with_context(|| format!("cannot create {shown}. {next}"))?;
        let is_events = |e: fs::DirEntry| e.file_name().to_string_lossy().contains("tfevents");
        let continued =
            fs::read_dir(folder).with_context(|| format!("cannot read {shown}. {next}"))?.any(|entry| entry.is_ok_and(is_events));
        // The name begins with the time, because TensorBoard reads the files in the order of their names.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("events.out.tfevents.{:010}.{:09}.hothouse", now.as_secs(), now.subsec_nanos());
        let path = folder.join(name);
        let file = File::create_new(&path).with_context(|| format!("cannot write in {shown}. {next}"))?;
        let mut board = TensorBoard { path, file, schema, continued, last: 0 };
        board.event(&event(unix_s(), 0, FILE_VERSION, b"brain.Event:2"))?;
        Ok(board)
    }

    /// Begins a run at `progress`. If the folder already has events, writes the start of a TensorBoard session, which makes TensorBoard
    /// discard events of steps after `progress`. Otherwise writes the rows of `history`.
    pub fn begin(&mut self, history: &[Row], progress: &Progress) -> Result<()> {
        let mut start = Vec::new();
        put_varint(&mut start, key(SESSION_STATUS, VARINT));
        put_varint(&mut start, SESSION_START);
        let next = if progress.iteration == 0 { 0 } else { progress.counts[0] as u64 + 1 };
        self.last = 0;
        if self.continued {
            self.event(&event(unix_s(), next, SESSION_LOG, &start))?;
            self.last = progress.iteration;
        } else {
            history.iter().try_for_each(|row| self.row(row))?;
        }
        self.continued = true;
        Ok(())
    }

    pub fn row(&mut self, row: &Row) -> Result<()> {
        if row.metrics.progress.iteration <= self.last {
            return Ok(());
        }
        self.last = row.metrics.progress.iteration;
        let mut summary = Vec::new();
        for cell in cells(self.schema, Some(row)).filter(|cell| !cell.group.is_empty()) {
            if let Some(number) = cell.value {
                let mut value = Vec::new();
                put_bytes(&mut value, VALUE_TAG, format!("{}/{}", cell.group, cell.name).as_bytes());
                put_varint(&mut value, key(VALUE_SIMPLE, FIXED32));
                value.extend((number as f32).to_le_bytes());
                put_bytes(&mut summary, SUMMARY_VALUE, &value);
            }
        }
        self.event(&event(row.wall_s, row.metrics.progress.counts[0] as u64, SUMMARY, &summary))
    }

    fn event(&mut self, event: &[u8]) -> Result<()> {
        let written = self.file.write_all(&frame(event));
        written.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}

// Field numbers of `Event`, `Summary`, `Summary.Value` and `SessionLog`.
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

// Wire types of the protocol buffer format.
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

fn event(wall_s: f64, step: u64, field: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, key(WALL_TIME, FIXED64));
    out.extend(wall_s.to_le_bytes());
    put_varint(&mut out, key(STEP, VARINT));
    put_varint(&mut out, step);
    put_bytes(&mut out, field, content);
    out
}

fn frame(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u64).to_le_bytes();
    [&length[..], &masked(crc32c(&length)).to_le_bytes(), bytes, &masked(crc32c(bytes)).to_le_bytes()].concat()
}

/// Masks a CRC as the format requires, because a CRC over data that contains CRCs is weak.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}
