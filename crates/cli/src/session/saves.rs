//! Files in the user's cache: monitors, unfinished games, and checkpoints of runs without `--save`. Files of running processes are claimed
//! and therefore never removed.

use crate::format::clock;
use crate::plain;
use anyhow::{Context, Result, bail};
use files::{CHECKPOINT, Claim, FileKind};
use std::fs;
use std::io::{BufRead, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum number of files of each kind in the cache, without those of running processes. The oldest files above this number are removed.
pub const KEPT: usize = 20;
const EXTENSION: &str = "safetensors";
/// Maximum number of runs that `resume` lists in a terminal if no file is named. Outside a terminal, `resume` lists no runs and resumes the
/// latest run.
const LISTED: usize = 9;

fn cache() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || from("HOME").map(|home| home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }));
    let cache = from("XDG_CACHE_HOME").or_else(|| from("LOCALAPPDATA")).or_else(home);
    cache.unwrap_or_else(std::env::temp_dir).join("hothouse")
}

/// Returns the path of the cache folder. Creates the folder if it does not exist.
pub fn folder() -> Result<PathBuf> {
    let folder = cache();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Returns the name of a cache file without its extension: start time, variant, seed and process id.
pub fn stem(variant: &str, seed: u32) -> String {
    let since_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{since_ms:013}-{variant}-seed{seed}-{}", std::process::id())
}

/// Returns true if a file's name begins with a start time, like the names of [`stem`].
fn has_stem(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let time = name.split_once('-').map_or("", |(time, _)| time);
    time.len() >= 13 && time.bytes().all(|byte| byte.is_ascii_digit())
}

/// Lists all files with this extension in the cache.
pub fn cached(extension: &str) -> Result<Vec<PathBuf>> {
    files_of(&cache(), extension)
}

fn files_of(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect())
}

/// Claims a new checkpoint in the cache, for a run without `--save`.
pub fn fresh(variant: &str, seed: u32) -> Result<Claim> {
    Claim::new(&folder()?.join(format!("{}.{EXTENSION}", stem(variant, seed))), CHECKPOINT)
}

/// Returns the folder of unfinished games. Training runs are not in this folder.
fn games() -> PathBuf {
    cache().join("games")
}

/// Claims a new file for an unfinished game. Removes the oldest games above the limit.
pub fn fresh_game(game: &str, seed: u32, kind: FileKind) -> Result<Claim> {
    let folder = games();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    leave_newest(&folder, KEPT - 1);
    Claim::new(&folder.join(format!("{}.{EXTENSION}", stem(game, seed))), kind)
}

/// Removes the games of a folder except the latest `count` and those that are being played. Keeps files whose names do not come from this
/// program.
pub fn leave_newest(folder: &Path, count: usize) {
    let mut games = files_of(folder, EXTENSION).unwrap_or_default();
    games.retain(|path| has_stem(path));
    remove_old(folder, &newest_first(games), count);
}

/// Removes the files after the first `count`, except those of running processes. Also removes the temporary files of dead processes.
pub fn remove_old(folder: &Path, newest_first: &[PathBuf], count: usize) {
    newest_first.iter().skip(count).for_each(|path| files::remove_unclaimed(path));
    files::remove_leftovers(folder);
}

/// Returns true if the path is in the folder of unfinished games.
pub fn is_game(path: &Path) -> bool {
    path.parent() == Some(&games())
}

/// Lists the checkpoints in the cache, the most recently saved first.
pub fn kept() -> Result<Vec<PathBuf>> {
    Ok(newest_first(cached(EXTENSION)?))
}

/// Sorts files by the time of their last change.
fn newest_first(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.sort_by_cached_key(|path| std::cmp::Reverse((written(path), path.clone())));
    files
}

fn written(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|m| m.modified()).unwrap_or(UNIX_EPOCH)
}

/// Removes the oldest checkpoints from the cache after a save to `path`, if `path` is in the cache.
pub fn prune(path: &Path) {
    if path.parent() == Some(&cache()) {
        remove_old(&cache(), &kept().unwrap_or_default(), KEPT);
    }
}

/// Returns the checkpoint to resume if no file is named. In a terminal, the user chooses the checkpoint. Otherwise, the latest checkpoint
/// is returned. Returns `None` if the user cancels, and an error if the cache has no checkpoint.
pub fn chosen() -> Result<Option<PathBuf>> {
    let saves = kept()?;
    let Some(newest) = saves.first() else { bail!("there is no run to resume. Start one with `hothouse train`, or name a checkpoint") };
    // Standard output is reserved for the run.
    let (mut input, mut output) = (std::io::stdin().lock(), plain::stderr());
    if input.is_terminal() && std::io::stderr().is_terminal() {
        return choose(&saves, &mut input, &mut output);
    }
    let _ = writeln!(output, "not in a terminal: resuming the latest run, {}", newest.display());
    Ok(Some(newest.clone()))
}

/// Asks until the input is a number of the list. An empty line selects the latest run; `q` or the end of the input selects no run and
/// returns `None`.
pub fn choose(saves: &[PathBuf], input: &mut impl BufRead, output: &mut impl Write) -> Result<Option<PathBuf>> {
    let listed = &saves[..saves.len().min(LISTED)];
    writeln!(output, "Saved runs, latest first:")?;
    for (n, path) in (1..).zip(listed) {
        let age_s = written(path).elapsed().unwrap_or_default().as_secs_f64();
        writeln!(output, "{n:>3}  {:<32} saved {} ago", about(path), clock(age_s))?;
    }
    let most = listed.len();
    let numbers = if most == 1 { "1".into() } else { format!("1 to {most}") };
    loop {
        write!(output, "Resume which run ({numbers}; Enter for 1, q to cancel)? ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim() {
            "" => return Ok(Some(listed[0].clone())),
            "q" | "Q" => return Ok(None),
            text => match text.parse::<usize>() {
                Ok(n) if (1..=most).contains(&n) => return Ok(Some(listed[n - 1].clone())),
                _ => writeln!(output, "There is no {text} in the list.")?,
            },
        }
    }
}

/// Returns the variant and seed in a file name, such as `CartPole-v1-seed3`: the name without the start time and the process id.
fn about(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let inner = stem.split_once('-').and_then(|(_, rest)| rest.rsplit_once('-'));
    inner.map_or_else(|| stem.to_string(), |(run, _)| run.to_string())
}
