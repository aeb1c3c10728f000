//! What `--data` and `--vocab` name: a file, standard input, or all texts of a folder; and a vocabulary that they are read with.

use crate::Usage;
use crate::args::DataArgs;
use anyhow::{Context, Result, anyhow, bail};
use run::protocol::Dataset;
use run::words::is_vocabulary;
use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders that a folder may have, and folders within each other.
const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 32;

impl DataArgs {
    /// Its length alone, where that is known before it is read.
    pub fn measured(&self) -> Result<Option<Dataset>> {
        let Some(path) = self.path()? else { return Ok(None) };
        if !path.is_dir() {
            return files::measured_data(path).map(Some);
        }
        let bytes = texts(path)?.iter().map(|(_, bytes)| bytes + 1).sum();
        Ok(Some(Dataset { name: folder_name(path), bytes, hash: String::new(), content: None }))
    }

    pub fn read(&self) -> Result<Option<Dataset>> {
        let Some(path) = self.path()? else { return Ok(None) };
        let data = if path.is_dir() { read_folder(path)? } else { files::read_data(path)? };
        let Some(vocab) = &self.vocab else { return Ok(Some(data)) };
        let line = files::read_any(vocab)?;
        if !is_vocabulary(&line) {
            let next = "Name a file that `hothouse export words` wrote";
            bail!(Usage(format!("{} is no vocabulary. {next}", vocab.display())));
        }
        // It stands before the text, as a line of its own, so that it goes wherever the text does.
        let text = data.content.unwrap_or_default();
        Ok(Some(Dataset::new(data.name, [&line[..], &text[..]].concat())))
    }

    fn path(&self) -> Result<Option<&Path>> {
        match (&self.data, &self.vocab) {
            (None, Some(_)) => bail!(Usage("--vocab is of a text. Name that with --data".into())),
            (data, _) => Ok(data.as_deref()),
        }
    }
}

fn folder_name(path: &Path) -> String {
    let name =
        fs::canonicalize(path).ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| path.display().to_string())
}

/// All regular files below a folder with their lengths, by their names in order; links are not followed.
fn texts(folder: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let mut all = Vec::new();
    gather(folder, 0, &mut all)?;
    all.sort();
    Ok(all)
}

fn gather(folder: &Path, depth: usize, all: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    let shown = folder.display();
    if depth > DEEPEST {
        bail!("{shown} is a folder in {DEEPEST} others. Name one further in");
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

/// The texts among them, one behind the other, each ended by a line break. What is no UTF-8 is left out.
fn read_folder(folder: &Path) -> Result<Dataset> {
    let (mut content, mut found, mut others) = (Vec::new(), 0, 0);
    for (path, _) in texts(folder)? {
        let bytes = fs::read(&path).map_err(|e| anyhow!("cannot read {} ({e})", path.display()))?;
        if std::str::from_utf8(&bytes).is_err() || bytes.contains(&0) {
            others += 1;
            continue;
        }
        found += 1;
        content.extend_from_slice(&bytes);
        if content.last().is_some_and(|&last| last != b'\n') {
            content.push(b'\n');
        }
    }
    if found == 0 {
        let why = format!("none of its {others} files is a text in UTF-8");
        bail!(
            "there is nothing to learn from in {}: {why}. Name another folder, or a file",
            folder.display()
        );
    }
    Ok(Dataset::new(folder_name(folder), content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_a_folder_are_read_in_their_order_and_nothing_else() {
        let scratch = testkit::Scratch::new("folder");
        let folder = scratch.path("texts");
        fs::create_dir_all(folder.join("b")).unwrap();
        fs::write(folder.join("c.txt"), "three").unwrap();
        fs::write(folder.join("a.txt"), "one\n").unwrap();
        fs::write(folder.join("b").join("z.txt"), "two\n").unwrap();
        fs::write(folder.join("picture"), [0xff, 0xd8, 0xff]).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&folder, folder.join("again")).unwrap();
        let args = DataArgs { data: Some(folder.clone()), vocab: None };
        let data = args.read().unwrap().unwrap();
        assert_eq!(
            (data.name.as_str(), data.content.unwrap().as_slice()),
            ("texts", &b"one\ntwo\nthree\n"[..])
        );
        assert!(args.measured().unwrap().unwrap().bytes >= 14);
        for name in ["a.txt", "c.txt", "b/z.txt"] {
            fs::remove_file(folder.join(name)).unwrap();
        }
        let error = args.read().unwrap_err().to_string();
        assert!(error.contains("none of its 1 files") && error.contains("Name another"), "{error}");
        let args = DataArgs { data: None, vocab: Some("vocab.json".into()) };
        assert!(args.read().unwrap_err().to_string().contains("--data"));
    }
}
