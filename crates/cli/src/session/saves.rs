//! What runs keep in the user's cache without being asked: their monitors, and the saves of runs that were given no place.

use crate::format::clock;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Of each kind so many stay, the newest.
pub const KEPT: usize = 20;
const EXTENSION: &str = "safetensors";
/// So many of them are offered to whoever named none.
const OFFERED: usize = 9;

fn cache() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || from("HOME").map(|home| home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }));
    let cache = from("XDG_CACHE_HOME").or_else(|| from("LOCALAPPDATA")).or_else(home);
    cache.unwrap_or_else(std::env::temp_dir).join("hothouse")
}

/// The folder, made where it was not there.
pub fn folder() -> Result<PathBuf> {
    let folder = cache();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// How the names of what a run keeps begin.
pub fn stem(variant: &str, seed: u32) -> String {
    let since_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{since_ms:013}-{variant}-seed{seed}-{}", std::process::id())
}

/// Whether a file's name begins as [`stem`] does.
fn has_stem(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let time = name.split_once('-').map_or("", |(time, _)| time);
    time.len() >= 13 && time.bytes().all(|byte| byte.is_ascii_digit())
}

/// All files of that kind in the folder.
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

/// Where a run saves itself that was told no place.
pub fn fresh(variant: &str, seed: u32) -> Result<PathBuf> {
    Ok(folder()?.join(format!("{}.{EXTENSION}", stem(variant, seed))))
}

/// Where games that are not over are kept, apart from runs that train.
fn games() -> PathBuf {
    cache().join("games")
}

/// Where a game is kept that was given no place; of games that were left the newest stay.
pub fn fresh_game(game: &str, seed: u32) -> Result<PathBuf> {
    let folder = games();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    leave_newest(&folder, KEPT - 1);
    Ok(folder.join(format!("{}.{EXTENSION}", stem(game, seed))))
}

/// Removes the oldest games of a folder. A file that this program did not name stays.
fn leave_newest(folder: &Path, count: usize) {
    let mut games = files_of(folder, EXTENSION).unwrap_or_default();
    games.retain(|path| has_stem(path));
    games.sort_by_cached_key(|path| std::cmp::Reverse(written(path)));
    games.into_iter().skip(count).for_each(|path| drop(fs::remove_file(path)));
}

/// Whether that is one of them.
pub fn is_game(path: &Path) -> bool {
    path.parent() == Some(&games())
}

/// Runs that saved themselves here, the newest save first.
pub fn kept() -> Result<Vec<PathBuf>> {
    let mut saves = cached(EXTENSION)?;
    saves.sort_by_cached_key(|path| std::cmp::Reverse((written(path), path.clone())));
    Ok(saves)
}

fn written(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|m| m.modified()).unwrap_or(UNIX_EPOCH)
}

/// Removes the oldest, after `path` was written; those of runs that go on are written again and again.
pub fn prune(path: &Path) {
    if path.parent() == Some(&cache()) {
        for old in kept().unwrap_or_default().into_iter().skip(KEPT) {
            // Whoever cannot remove it now can later.
            let _ = fs::remove_file(old);
        }
    }
}

/// The run to go on with where none was named: in a terminal the person chooses, and elsewhere it is the newest. None where they
/// want none of them.
pub fn chosen() -> Result<Option<PathBuf>> {
    let saves = kept()?;
    let Some(newest) = saves.first() else { bail!("there is no run to go on with. Start one with `hothouse train`, or name a checkpoint") };
    // What is told of the run goes to standard output, and this to whoever started it.
    let (mut input, mut said) = (std::io::stdin().lock(), std::io::stderr());
    if input.is_terminal() && said.is_terminal() {
        return choose(&saves, &mut input, &mut said);
    }
    let _ = writeln!(said, "nobody can be asked, so the newest run goes on, {}", newest.display());
    Ok(Some(newest.clone()))
}

/// Asks until a number of the list is said; Enter alone is the newest, and `q` or the end of the input none.
fn choose(saves: &[PathBuf], input: &mut impl BufRead, said: &mut impl Write) -> Result<Option<PathBuf>> {
    let offered = &saves[..saves.len().min(OFFERED)];
    writeln!(said, "Runs that saved themselves, the newest first:")?;
    for (n, path) in (1..).zip(offered) {
        let age_s = written(path).elapsed().unwrap_or_default().as_secs_f64();
        writeln!(said, "{n:>3}  {:<32} saved {} ago", about(path), clock(age_s))?;
    }
    let most = offered.len();
    let numbers = if most == 1 { "1".into() } else { format!("1 to {most}") };
    loop {
        write!(said, "Which one goes on ({numbers}; Enter for 1, q for none)? ")?;
        said.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim() {
            "" => return Ok(Some(offered[0].clone())),
            "q" | "Q" => return Ok(None),
            text => match text.parse::<usize>() {
                Ok(n) if (1..=most).contains(&n) => return Ok(Some(offered[n - 1].clone())),
                _ => writeln!(said, "There is no {text} in the list.")?,
            },
        }
    }
}

/// `CartPole-v1-seed3`: the name without when the run began and which process it was.
fn about(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let inner = stem.split_once('-').and_then(|(_, rest)| rest.rsplit_once('-'));
    inner.map_or_else(|| stem.to_string(), |(run, _)| run.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_oldest_games_go_and_files_of_other_kinds_stay() {
        let scratch = testkit::Scratch::new("games");
        let folder = scratch.path("games");
        fs::create_dir_all(&folder).unwrap();
        let old = |name: &str, hours: u64| {
            let file = fs::File::create(folder.join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(3600 * hours)).unwrap();
        };
        old("notes.txt", 1000);
        old("README", 1000);
        old(&format!("favourite.{EXTENSION}"), 1000);
        let name = |game: u64| format!("{}-{game}.{EXTENSION}", stem("match", 1));
        let names: Vec<String> = (0..5).map(name).collect();
        (0..).zip(&names).for_each(|(hours, name)| old(name, hours));
        leave_newest(&folder, 3);
        let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        left.sort_unstable();
        let mut expected = names[..3].to_vec();
        expected.extend(["README", "favourite.safetensors", "notes.txt"].map(String::from));
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_person_chooses_by_number() {
        let names = ["0000000000002-CartPole-v1-seed3-77", "0000000000001-strong-seed1-76"];
        let saves = names.map(|name| PathBuf::from(format!("{name}.{EXTENSION}")));
        let ask = |saves: &[PathBuf], typed: &str| {
            let mut said = Vec::new();
            let chosen = choose(saves, &mut typed.as_bytes(), &mut said).unwrap();
            (chosen, String::from_utf8(said).unwrap())
        };
        let (chosen, said) = ask(&saves, "\n");
        assert_eq!(chosen.as_ref(), Some(&saves[0]));
        assert!(said.contains("  1  CartPole-v1-seed3 ") && said.contains("  2  strong-seed1 "), "{said}");
        assert!(said.ends_with("Which one goes on (1 to 2; Enter for 1, q for none)? "), "{said}");
        assert_eq!(ask(&saves, "2\n").0.as_ref(), Some(&saves[1]));
        for nothing in ["", "q\n", "Q\n2\n"] {
            assert_eq!(ask(&saves, nothing).0, None, "{nothing}");
        }
        let (chosen, said) = ask(&saves, "0\n3\nyes\n 2 \n");
        assert_eq!(chosen.as_ref(), Some(&saves[1]));
        for wrong in ["no 0 in", "no 3 in", "no yes in"] {
            assert!(said.contains(wrong), "{said}");
        }
        let many = vec![saves[0].clone(); KEPT];
        assert!(ask(&many, "10\n").1.contains("There is no 10"));
    }
}
