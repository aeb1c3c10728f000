//! `hothouse verify`: trains the runs of links and of gallery entries again, and reports whether the results are the same.

use crate::args::VerifyArgs;
use crate::format::{brief, clock};
use crate::host::Machine;
use crate::progress::ProgressLine;
use crate::session::training::{cpu_seconds, now_s};
use crate::signals::SIGNALS;
use anyhow::{Context, Result, bail};
use run::gallery::{Entry, Named, Reproduced, Track, Verification};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Name of the folder of the tracks (lists that rank entries), in the folder of the entries.
const TRACKS: &str = "tracks";
const MOST_BYTES: u64 = 1 << 20;
/// Seconds of training, after the first iteration, from which the time of the whole run is estimated.
const SAMPLE_S: f64 = 2.0;
/// Minimum estimate in seconds that is printed. Shorter runs need no announcement.
const LONG_S: f64 = 10.0;
/// Multiple of the limit above which an estimate ends the run at once. The pace of the first iterations can differ from the later pace.
const CLEARLY: f64 = 4.0;

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
            let found = verify(target, machine, args);
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
        writeln!(out, "{}: reproduced", brief(&verified.target))?;
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
        writeln!(out, "{}: {why}", brief(&verified.target))?;
    }
    Ok(out.flush()?)
}

fn words(values: &Named) -> String {
    let known = values.iter().filter_map(|(name, value)| Some(format!("{name} {}", (*value)?)));
    known.collect::<Vec<_>>().join(", ")
}

fn verify(target: &str, machine: &Machine, args: &VerifyArgs) -> Result<Report> {
    let Claim { mut verification, score } = claim(target, machine)?;
    let (began_s, last) = (cpu_seconds(), verification.last());
    let mut time = Time::new(args.limit);
    let mut line = ProgressLine::new(args.json);
    loop {
        if SIGNALS.stopping() {
            bail!("stopped");
        }
        let done = verification.run().progress().iteration;
        if let Some(expected_s) = time.check(done, last)? {
            let _ = writeln!(crate::plain::stderr(), "{}: {last} iterations, about {}", brief(target), clock(expected_s));
        }
        let time = &time;
        let mut should_continue = || !SIGNALS.stopping() && !time.is_over();
        if let Some(Reproduced { digest, results }) = verification.advance(now_s(), &mut should_continue)? {
            let run::gallery::Results { end, solved, test } = results;
            let cpu_seconds = cpu_seconds() - began_s;
            return Ok(Report { digest: digest.weights, arithmetic: digest.arithmetic, end, solved, test, cpu_seconds, score });
        }
        line.update(|| format!("{}: iteration {} of {last}", brief(target), verification.run().progress().iteration));
    }
}

/// Time of a verification, and the estimate of its whole time.
struct Time {
    began: Instant,
    limit_s: f64,
    /// End of the first iteration: its time, and the number of iterations. The preparation of a run is before it.
    first: Option<(f64, u32)>,
    is_estimated: bool,
}

impl Time {
    fn new(limit_s: f64) -> Time {
        Time { began: Instant::now(), limit_s, first: None, is_estimated: false }
    }

    fn spent_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn is_over(&self) -> bool {
        self.spent_s() > self.limit_s
    }

    /// Returns the estimated time in seconds of a long run of `last` iterations, once. `done` is the number of iterations so far. Returns
    /// an error if the limit is reached, or if the run clearly needs more time.
    fn check(&mut self, done: u32, last: u32) -> Result<Option<f64>> {
        let spent_s = self.spent_s();
        let next = "Pass a larger number of seconds with --limit";
        if self.is_over() {
            bail!("the run did not end within the limit of {} (iteration {done} of {last}). {next}", clock(self.limit_s));
        }
        let (first_s, first) = match self.first {
            Some(first) => first,
            None if done > 0 => *self.first.insert((spent_s, done)),
            None => return Ok(None),
        };
        if self.is_estimated || done == first || spent_s < first_s + SAMPLE_S {
            return Ok(None);
        }
        self.is_estimated = true;
        let expected_s = first_s + (spent_s - first_s) * f64::from(last.max(first) - first) / f64::from(done - first);
        if expected_s > CLEARLY * self.limit_s {
            bail!("{last} iterations need about {}, and the limit is {}. {next}", clock(expected_s), clock(self.limit_s));
        }
        Ok((expected_s >= LONG_S).then_some(expected_s))
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
        bail!("there is no track '{}'. Choose one of: {}", brief(&entry.track), known.join(", "));
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
    let text = str::from_utf8(files::without_mark(&bytes)).map(String::from);
    text.with_context(|| format!("{} is not a text. Name an entry of the gallery, or a link", file.display()))
}
