//! Entries of the gallery. An entry contains the link of a run and the run's results. Any machine with the same arithmetic can verify an
//! entry: it trains the run again and compares the digests of the weights, the time of the solution and the test.

use crate::digest::{AMX, BF16, arithmetic};
use crate::json;
use crate::permalink::{Link, decode, encode};
use crate::protocol::{Column, Command, DeviceWish, Digest, Progress, Row};
use crate::schema::Schema;
use crate::{AnyRun, Host, RunError};
use math::Isa;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values by the names of their columns. An unknown value is `None`.
pub type Named = BTreeMap<String, Option<f64>>;

/// Maximum length in characters of an entry's title and author.
const MOST_LINE: usize = 100;
/// Maximum length in characters of an entry's text.
const MOST_TEXT: usize = 2000;
/// Maximum number of digests that a new entry keeps. If it is exceeded, every second digest is dropped.
const MOST_DIGESTS: usize = 32;

/// A run and its results, as in a file of the gallery.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Id of a track, or empty.
    pub track: String,
    pub title: String,
    pub author: String,
    pub text: String,
    /// Link that begins the run.
    pub link: String,
    /// Arithmetic of all digests; see [`Digest`].
    pub arithmetic: String,
    /// Digests of the weights by iteration. The last iteration is the end of the run.
    pub digests: BTreeMap<u32, String>,
    /// Iteration and counters at the end of the run.
    pub end: Named,
    /// Iteration and counters at the confirmed solution; `None` if the run is not solved.
    pub solved: Option<Named>,
    /// Test of the weights at the end of the run.
    pub test: Named,
    /// CPU time of the run, in seconds.
    pub cpu_seconds: f64,
    /// Name of the processor.
    pub chip: String,
    pub threads: u32,
}

/// A list of entries that are ranked by one number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Track {
    pub title: String,
    pub rule: String,
    /// Beginning of the links of this track, such as `#/ROOM?variant=NAME&`.
    pub link: String,
    /// Number that ranks the entries: `cpu_seconds`, or a value such as `end.NAME`, `solved.NAME` or `test.NAME`.
    pub score: String,
    /// True if the entry with the largest score leads.
    #[serde(default)]
    pub largest: bool,
    /// True if only solved runs count.
    #[serde(default)]
    pub solved: bool,
    /// Smallest values that an entry may have, by names as in `score`.
    #[serde(default)]
    pub at_least: BTreeMap<String, f64>,
    /// Largest values that an entry may have, by names as in `score`.
    #[serde(default)]
    pub at_most: BTreeMap<String, f64>,
}

impl Entry {
    /// Parses the text of an entry, and checks everything that can be checked without the run.
    pub fn read(text: &str) -> Result<Entry, RunError> {
        let entry: Entry = json::read(text).map_err(bad)?;
        for (name, value, most) in
            [("title", &entry.title, MOST_LINE), ("author", &entry.author, MOST_LINE), ("text", &entry.text, MOST_TEXT)]
        {
            if value.trim().is_empty() {
                return Err(bad(format!("its {name} is empty")));
            }
            if value.chars().count() > most {
                return Err(bad(format!("its {name} has more than {most} characters")));
            }
            if value.contains(['<', '>']) || value.contains(char::is_control) {
                return Err(bad(format!("its {name} contains markup or control characters; use plain text")));
            }
        }
        if entry.digests.is_empty() {
            return Err(bad("it has no digest"));
        }
        Ok(entry)
    }

    /// Formats the entry as the text of a file.
    pub fn text(&self) -> String {
        // Serialization cannot fail: the entry is plain data with string keys.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Adds a digest. Keeps at most 32 digests, at equal distances, beside the newest one.
    pub fn add_digest(&mut self, iteration: u32, weights: String) {
        self.digests.insert(iteration, weights);
        if self.digests.len() > MOST_DIGESTS {
            let mut place = 0..;
            self.digests.retain(|&at, _| place.next().is_some_and(|i: usize| i % 2 == 1) || at == iteration);
        }
    }

    /// Returns the score of the entry in `track`, or an error if the entry does not keep the track's rule.
    pub fn score(&self, track: &Track) -> Result<f64, RunError> {
        if !self.link.starts_with(&track.link) {
            return Err(bad(format!("the links of its track begin with {}", track.link)));
        }
        if track.solved && self.solved.is_none() {
            return Err(bad("its track needs a solved run"));
        }
        let least = track.at_least.iter().map(|(name, &limit)| (name, limit, f64::INFINITY));
        let most = track.at_most.iter().map(|(name, &limit)| (name, f64::NEG_INFINITY, limit));
        for (name, least, most) in least.chain(most) {
            let value = self.value(name)?;
            if value < least {
                return Err(bad(format!("its track needs {name} of at least {least}, and it has {value}")));
            }
            if value > most {
                return Err(bad(format!("its track needs {name} of at most {most}, and it has {value}")));
            }
        }
        self.value(&track.score)
    }

    /// Returns the number with this name; see [`Track::score`].
    fn value(&self, name: &str) -> Result<f64, RunError> {
        let found = match name.split_once('.') {
            None if name == "cpu_seconds" => Some(self.cpu_seconds),
            Some(("end", name)) => self.end.get(name).copied().flatten(),
            Some(("test", name)) => self.test.get(name).copied().flatten(),
            Some(("solved", name)) => self.solved.as_ref().and_then(|solved| solved.get(name).copied().flatten()),
            _ => None,
        };
        found.ok_or_else(|| bad(format!("its track needs {name}, which it does not have")))
    }
}

impl Track {
    pub fn read(text: &str) -> Result<Track, RunError> {
        json::read(text).map_err(|error| bad(format!("its track cannot be read: {error}")))
    }
}

fn bad(why: impl std::fmt::Display) -> RunError {
    RunError::Entry { why: why.to_string() }
}

fn named(columns: &[Column], values: impl Iterator<Item = Option<f64>>) -> Named {
    columns.iter().map(|column| column.name.to_string()).zip(values).collect()
}

/// Returns the iteration and the counters of a run's progress by their names.
pub fn counters(schema: &Schema, progress: &Progress) -> Named {
    let mut counts = named(schema.counters, progress.counts.iter().copied().map(Some));
    counts.insert("iteration".into(), Some(progress.iteration.into()));
    counts
}

/// Returns the values of a test by their names.
pub fn test_values(schema: &Schema, test: &Row) -> Named {
    named(schema.tests, test.values.iter().copied())
}

/// A run that is trained again and compared with its stated results.
pub struct Verification {
    run: Box<dyn AnyRun>,
    arithmetic: String,
    digests: BTreeMap<u32, String>,
    /// Iteration of the newest equal digest; 0 before the first one.
    equal_at: u32,
    /// Iteration of the next digest to compare; `None` if all are equal.
    due: Option<u32>,
    /// Results of an entry; `None` for a link, which states only a digest.
    results: Option<Results>,
}

impl Verification {
    /// Begins the verification of a link that contains a digest.
    pub fn of_link(link: &str, host: Host) -> Result<Verification, RunError> {
        let Link { digest, .. } = decode(link, host)?;
        let Digest { iteration, weights, arithmetic } =
            digest.ok_or_else(|| RunError::Link { why: "it contains no digest, so there is nothing to compare".into() })?;
        Self::begin(link, arithmetic, BTreeMap::from([(iteration, weights)]), None, host)
    }

    pub fn of_entry(entry: &Entry, host: Host) -> Result<Verification, RunError> {
        // A track is known by the beginning of the link, so the link must have its only form.
        let whole = encode(&decode(&entry.link, host)?.config, None);
        if entry.link != whole {
            return Err(bad(format!("its link must be written as {whole}")));
        }
        let results = Results { end: entry.end.clone(), solved: entry.solved.clone(), test: entry.test.clone() };
        Self::begin(&entry.link, entry.arithmetic.clone(), entry.digests.clone(), Some(results), host)
    }

    fn begin(
        link: &str,
        arithmetic: String,
        digests: BTreeMap<u32, String>,
        results: Option<Results>,
        host: Host,
    ) -> Result<Verification, RunError> {
        let host = Host { isa: isa_of(&arithmetic, host.isa)?, ..host };
        let mut run = crate::begin(decode(link, host)?.config, host)?;
        run.command(Command::Device { wish: DeviceWish::Cpu })?;
        run.command(Command::Start)?;
        let due = digests.keys().next().copied();
        Ok(Verification { run, arithmetic, digests, equal_at: 0, due, results })
    }

    pub fn run(&self) -> &dyn AnyRun {
        &*self.run
    }

    /// Returns the iteration at the end of the run.
    pub fn last(&self) -> u32 {
        self.digests.last_key_value().map_or(0, |(&iteration, _)| iteration)
    }

    /// Trains one slice. Returns `Some` with the results when the whole run is reproduced, and an error with the place of the first
    /// difference. `now_s` is the time of the shell's clock in seconds.
    pub fn advance(&mut self, now_s: f64) -> Result<Option<Reproduced>, RunError> {
        self.run.advance(now_s);
        self.run.events();
        if let Some(failure) = self.run.failure() {
            return Err(failure);
        }
        if !self.run.at_boundary() {
            return Ok(None);
        }
        let at = self.run.progress().iteration;
        if self.due.is_some_and(|due| at >= due) {
            self.compare(at)?;
        }
        if self.due.is_some() {
            return Ok(None);
        }
        let schema = self.run.schema();
        let results = Results {
            end: counters(schema, &self.run.progress()),
            test: test_values(schema, &self.run.test()?),
            solved: self.run.solved().map(|progress| counters(schema, progress)),
        };
        if let Some(stated) = &self.results {
            stated.compare(&results)?;
        }
        Ok(Some(Reproduced { digest: self.run.digest(), results }))
    }

    /// Compares the digest after `at` iterations with the next stated digest.
    fn compare(&mut self, at: u32) -> Result<(), RunError> {
        let reached = self.run.digest();
        let stated = self.digests.get(&at).map_or("none", |stated| stated);
        if reached.arithmetic == self.arithmetic && reached.weights == stated {
            self.equal_at = at;
            self.due = self.digests.keys().copied().find(|&next| next > at);
            return Ok(());
        }
        let word = self.run.schema().iteration_word;
        let before = match self.equal_at {
            0 => String::new(),
            equal => format!("; after {equal} {word}s it was equal"),
        };
        Err(not_reproduced(format!(
            "after {at} {word}s the digest of the weights is {} ({}), not {stated} ({}){before}",
            reached.weights, reached.arithmetic, self.arithmetic
        )))
    }
}

fn not_reproduced(place: String) -> RunError {
    RunError::NotReproduced { place }
}

/// Returns an instruction set with this arithmetic: `own` if possible.
fn isa_of(name: &str, own: Isa) -> Result<Isa, RunError> {
    // A room chooses the instruction set for lower precision by itself.
    let chosen_by_room = matches!(name, BF16 | AMX);
    let fits = |isa: &Isa| chosen_by_room || arithmetic(*isa) == name;
    let all = std::iter::once(own).chain(Isa::available());
    all.into_iter().find(fits).ok_or_else(|| bad(format!("its digests need {name} arithmetic, which this machine does not have")))
}

/// Returns an error with the first value in which the stated and the reproduced results differ.
fn equal(what: &str, stated: &Named, reached: &Named) -> Result<(), RunError> {
    let shown = |values: &Named, name: &str| values.get(name).copied().flatten().map_or("unknown".to_string(), |value| value.to_string());
    match stated.keys().chain(reached.keys()).find(|name| stated.get(*name) != reached.get(*name)) {
        Some(name) => Err(not_reproduced(format!("{what} has {name} {}, not {}", shown(reached, name), shown(stated, name)))),
        None => Ok(()),
    }
}

/// Results of a run; see [`Entry`].
pub struct Results {
    pub end: Named,
    pub solved: Option<Named>,
    pub test: Named,
}

impl Results {
    /// Returns an error if the reproduced results differ from these stated results.
    fn compare(&self, reached: &Results) -> Result<(), RunError> {
        equal("the end", &self.end, &reached.end)?;
        equal("the test", &self.test, &reached.test)?;
        match (&self.solved, &reached.solved) {
            (Some(stated), Some(reached)) => equal("the solution", stated, reached),
            (Some(_), None) => Err(not_reproduced("a solution is stated, and the run is not solved".into())),
            (None, Some(_)) => Err(not_reproduced("no solution is stated, and the run is solved".into())),
            (None, None) => Ok(()),
        }
    }
}

/// A run that equals its stated results.
pub struct Reproduced {
    /// Digest at the end of the run.
    pub digest: Digest,
    pub results: Results,
}
