//! User data from `--data` (a file, standard input, or all texts of a folder), and its vocabulary from `--vocab`.

use crate::args::DataArgs;
use crate::error::Usage;
use anyhow::{Context, Result, anyhow, bail};
use run::is_vocabulary;
use run::protocol::Dataset;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of files in a `--data` folder and all its subfolders.
const MOST_FILES: usize = 100_000;
/// Deepest nesting of subfolders in a `--data` folder.
const DEEPEST: usize = 32;

impl DataArgs {
    /// Returns the name and length of the user data without reading the content; `None` without `--data`. For a folder, the length is an
    /// upper bound.
    pub fn measured(&self) -> Result<Option<Dataset>> {
        let Some(path) = self.path()? else { return Ok(None) };
        if !path.is_dir() {
            return files::measured_data(path).map(Some);
        }
        let bytes = texts(path)?.iter().map(|(_, bytes)| bytes + 1).sum();
        Ok(Some(Dataset { name: folder_name(path), bytes, hash: String::new(), content: None }))
    }

    /// Returns the length of a regular file in bytes; `None` for a pipe, a folder or standard input, and without `--data`.
    pub fn length(&self) -> Result<Option<u64>> {
        let file = self.path()?.filter(|path| path.is_file());
        file.map(|path| Ok(files::measured_data(path)?.bytes)).transpose()
    }

    pub fn read(&self) -> Result<Option<Dataset>> {
        let Some(path) = self.path()? else { return Ok(None) };
        let data = if path.is_dir() { read_folder(path, files::max_data_bytes())? } else { files::read_data(path)? };
        let Some(vocab) = &self.vocab else { return Ok(Some(data)) };
        let bytes = files::read_any(vocab)?;
        let line = files::without_mark(&bytes);
        if !is_vocabulary(line) {
            let next = "Name a file written by `hothouse export words`";
            bail!(Usage(format!("{} is not a vocabulary. {next}", vocab.display())));
        }
        // The vocabulary becomes the first line of the text, because checkpoints save the text.
        let text = data.content.unwrap_or_default();
        Ok(Some(Dataset::new(data.name, [line, &text[..]].concat())))
    }

    fn path(&self) -> Result<Option<&Path>> {
        match (&self.data, &self.vocab) {
            (None, Some(_)) => bail!(Usage("--vocab requires a text. Name one with --data".into())),
            (data, _) => Ok(data.as_deref()),
        }
    }
}

fn folder_name(path: &Path) -> String {
    let name = fs::canonicalize(path).ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| path.display().to_string())
}

/// Lists all regular files below a folder with their lengths, sorted by path. Does not follow links.
fn texts(folder: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let mut all = Vec::new();
    gather(folder, 0, &mut all)?;
    all.sort();
    Ok(all)
}

fn gather(folder: &Path, depth: usize, all: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    let shown = folder.display();
    if depth > DEEPEST {
        bail!("{shown} is nested more than {DEEPEST} folders deep. Name a folder further in");
    }
    for entry in fs::read_dir(folder).map_err(|e| anyhow!("cannot read the folder {shown} ({e})"))? {
        let entry = entry.with_context(|| format!("cannot read the folder {shown}"))?;
        let about = entry.metadata().with_context(|| format!("cannot read {}", entry.path().display()))?;
        if about.is_dir() {
            gather(&entry.path(), depth + 1, all)?;
        } else if about.is_file() {
            all.push((entry.path(), about.len()));
        }
        if all.len() > MOST_FILES {
            bail!("{shown} has more than {MOST_FILES} files. Name a smaller folder, or one file");
        }
    }
    Ok(())
}

/// Concatenates the UTF-8 texts below a folder. Adds a line break to a text that does not end with one. Skips files that are not text. The
/// result may have at most `most` bytes. Returns an error if no file is text, or if a file (text or not) has more bytes than the result may
/// still receive.
pub fn read_folder(folder: &Path, most: u64) -> Result<Dataset> {
    let (mut content, mut found, mut others) = (Vec::new(), 0, 0);
    for (path, length) in texts(folder)? {
        let left = most.saturating_sub(content.len() as u64);
        let Some(bytes) = read_text(&path, length, left, folder)? else {
            others += 1;
            continue;
        };
        found += 1;
        content.extend_from_slice(&bytes);
        if content.last().is_some_and(|&last| last != b'\n') {
            content.push(b'\n');
        }
    }
    if found == 0 {
        let reason = format!("none of its {others} files is UTF-8 text");
        bail!("there is nothing to learn from in {}: {reason}. Name another folder, or a file", folder.display());
    }
    Ok(Dataset::new(folder_name(folder), content))
}

/// Reads a text; returns `None` for a file that is not text. Returns an error if the file, text or not, has more than `left` bytes. Does
/// not open a file of length 0: system files report length 0 and may be endless.
pub fn read_text(path: &Path, length: u64, left: u64, folder: &Path) -> Result<Option<Vec<u8>>> {
    if length == 0 {
        return Ok(None);
    }
    let shown = path.display();
    if length > left {
        bail!("{shown} has {length} bytes, but {} may have only {left} more. Name a smaller folder", folder.display());
    }
    let file = files::open(path)?;
    if file.length().is_none() {
        return Ok(None);
    }
    let bytes = files::read_at_most(file, left, &shown.to_string())?;
    let is_text = std::str::from_utf8(&bytes).is_ok() && !bytes.contains(&0);
    Ok(is_text.then_some(bytes))
}
