//! `hothouse verify`: trains the runs of links and of gallery entries again, and reports whether the results are the same.

use crate::args::VerifyArgs;
use crate::host::Machine;
use crate::progress::ProgressLine;
use crate::session::training::{cpu_seconds, now_s};
use crate::signals::SIGNALS;
use anyhow::{Context, Result, bail};
use run::gallery::{Entry, Named, Reproduced, Track, Verification};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Name of the folder of the tracks (lists that rank entries), in the folder of the entries.
const TRACKS: &str = "tracks";
const MOST_BYTES: u64 = 1 << 20;

#[derive(Serialize)]
struct Verified {
    target: String,
    reproduced: bool,
    /// Reason why the run was not reproduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(flatten)]
    results: Option<Report>,
}

#[derive(Serialize)]
struct Report {
    digest: String,
    arithmetic: String,
    end: Named,
    solved: Option<Named>,
    test: Named,
    /// CPU time of the verification in seconds, including the test at the end.
    cpu_seconds: f64,
    /// Score of the entry in its track; `None` for a link, or for an entry without a track.
    score: Option<f64>,
}

/// A run to verify, and the score of its entry.
struct Claim {
    verification: Verification,
    score: Option<f64>,
}

pub fn run(args: &VerifyArgs) -> Result<()> {
    Machine::work(&args.machine, |machine| {
        let mut failed = 0;
        for target in &args.targets {
            let found = verify(target, machine, args.json);
            if SIGNALS.stopping() {
                bail!("the verification was stopped");
            }
            let (results, why) = found.map_or_else(|error| (None, Some(format!("{error:#}"))), |results| (Some(results), None));
            failed += usize::from(why.is_some());
            report(&Verified { target: target.clone(), reproduced: why.is_none(), why, results }, args.json)?;
        }
        match failed {
            0 => Ok(()),
            _ => bail!("{failed} of {} were not reproduced. The reasons are above", args.targets.len()),
        }
    })
}

fn report(verified: &Verified, json: bool) -> Result<()> {
    let mut out = crate::plain::stdout();
    if json {
        writeln!(out, "{}", serde_json::to_string(verified)?)?;
    } else if let Some(results) = &verified.results {
        writeln!(out, "{}: reproduced", verified.target)?;
        writeln!(out, "  weights: {} ({})", results.digest, results.arithmetic)?;
        for (name, values) in [("end", Some(&results.end)), ("solved", results.solved.as_ref()), ("test", Some(&results.test))] {
            if let Some(values) = values {
                writeln!(out, "  {name}: {}", words(values))?;
            }
        }
        if let Some(score) = results.score {
            writeln!(out, "  score in its track: {score}")?;
        }
        writeln!(out, "  CPU time here, with the test: {:.1} s", results.cpu_seconds)?;
    } else if let Some(why) = &verified.why {
        writeln!(out, "{}: {why}", verified.target)?;
    }
    Ok(out.flush()?)
}

fn words(values: &Named) -> String {
    let known = values.iter().filter_map(|(name, value)| Some(format!("{name} {}", (*value)?)));
    known.collect::<Vec<_>>().join(", ")
}

fn verify(target: &str, machine: &Machine, json: bool) -> Result<Report> {
    let Claim { mut verification, score } = claim(target, machine)?;
    let (began_s, last) = (cpu_seconds(), verification.last());
    let mut line = ProgressLine::new(json);
    loop {
        if SIGNALS.stopping() {
            bail!("stopped");
        }
        if let Some(Reproduced { digest, results }) = verification.advance(now_s())? {
            let run::gallery::Results { end, solved, test } = results;
            let cpu_seconds = cpu_seconds() - began_s;
            return Ok(Report { digest: digest.weights, arithmetic: digest.arithmetic, end, solved, test, cpu_seconds, score });
        }
        line.update(|| format!("{target}: iteration {} of {last}", verification.run().progress().iteration));
    }
}

/// Reads a target: a link, the address of a page with a link, or the file of an entry.
fn claim(target: &str, machine: &Machine) -> Result<Claim> {
    if let Some(at) = target.find("#/") {
        return Ok(Claim { verification: Verification::of_link(&target[at..], machine.host)?, score: None });
    }
    let entry = Entry::read(&text_of(Path::new(target))?)?;
    let score = score(&entry, &Path::new(target).with_file_name(TRACKS))?;
    Ok(Claim { verification: Verification::of_entry(&entry, machine.host)?, score })
}

/// Returns the score of an entry in its track; `None` if the entry names no track. `folder` is the folder of the tracks.
fn score(entry: &Entry, folder: &Path) -> Result<Option<f64>> {
    if entry.track.is_empty() {
        return Ok(None);
    }
    let known = tracks_in(folder)?;
    if !known.contains(&entry.track) {
        bail!("there is no track '{}'. Choose one of: {}", entry.track, known.join(", "));
    }
    let track = Track::read(&text_of(&folder.join(format!("{}.json", entry.track)))?)?;
    Ok(Some(entry.score(&track)?))
}

/// Returns the sorted ids of the tracks, which are the names of their files.
fn tracks_in(folder: &Path) -> Result<Vec<String>> {
    let cannot = || format!("cannot read the tracks in {}. Clone the whole gallery, or leave the entry's track empty", folder.display());
    let mut ids = Vec::new();
    for file in std::fs::read_dir(folder).with_context(cannot)? {
        let name = file.with_context(cannot)?.file_name();
        ids.extend(name.to_str().and_then(|name| name.strip_suffix(".json")).map(String::from));
    }
    ids.sort();
    Ok(ids)
}

fn text_of(file: &Path) -> Result<String> {
    let bytes = files::read_at_most(files::open(file)?, MOST_BYTES, &file.display().to_string())?;
    String::from_utf8(bytes).with_context(|| format!("{} is not a text. Name an entry of the gallery, or a link", file.display()))
}
