//! Config files of a run. `--config FILE` reads a config file, and `--print-config` writes one. The keys have the names and meanings of
//! the flags. Flags on the command line take precedence over the file.

use crate::args::values::{device, device_name, number, seconds, set_one};
use crate::args::{CommonArgs, TrainArgs};
use crate::error::Usage;
use crate::error::usage_error;
use crate::format::brief;
use crate::session::begin;
use anyhow::{Result, anyhow};
use run::protocol::{Config, DeviceWish, Value as Setting};
use run::{AnyRoom, Host};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use strsim::levenshtein;

/// Maximum size of a config file in bytes.
const LARGEST: u64 = 1 << 20;
/// Version of the file format.
const VERSION: u64 = 1;

/// Content of a config file; the fields are in the order of writing. A flag that is not set has no key.
#[derive(Serialize)]
struct Written<'a> {
    version: u64,
    room: &'a str,
    variant: &'a str,
    seed: u32,
    #[serde(flatten)]
    flags: BTreeMap<&'static str, toml::Value>,
    knobs: BTreeMap<&'a str, toml::Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Change<'a>>,
}

#[derive(Serialize)]
struct Change<'a> {
    iteration: u32,
    knob: &'a str,
    value: toml::Value,
}

/// A flag that a config file can set.
enum Flag<'a> {
    Path(&'a mut Option<PathBuf>),
    Text(&'a mut Option<String>),
    Seconds(&'a mut Option<f64>),
    Count(&'a mut Option<u64>),
    Threads(&'a mut Option<u32>),
    Device(&'a mut Option<DeviceWish>),
    Switch(&'a mut bool),
}

/// Returns all flags that a config file can set, each with its key.
fn flags(args: &mut CommonArgs) -> [(&'static str, Flag<'_>); 15] {
    [
        ("data", Flag::Path(&mut args.data.data)),
        ("vocab", Flag::Path(&mut args.data.vocab)),
        ("device", Flag::Device(&mut args.device)),
        ("threads", Flag::Threads(&mut args.machine.threads)),
        ("isa", Flag::Text(&mut args.machine.isa)),
        ("steps", Flag::Count(&mut args.steps)),
        ("seconds", Flag::Seconds(&mut args.seconds)),
        ("cpu_seconds", Flag::Seconds(&mut args.cpu_seconds)),
        ("until_solved", Flag::Switch(&mut args.until_solved)),
        ("save", Flag::Path(&mut args.save)),
        ("save_every", Flag::Seconds(&mut args.save_every)),
        ("monitor", Flag::Path(&mut args.monitor)),
        ("events", Flag::Path(&mut args.events)),
        ("csv", Flag::Path(&mut args.csv)),
        ("tensorboard", Flag::Path(&mut args.tensorboard)),
    ]
}

impl Flag<'_> {
    /// Returns the value of the flag in a config file; `None` if the flag is not set.
    fn value(self) -> Option<toml::Value> {
        match self {
            Flag::Path(path) => path.as_ref().map(|path| path.to_string_lossy().into_owned().into()),
            Flag::Text(text) => text.clone().map(Into::into),
            Flag::Seconds(seconds) => seconds.map(Into::into),
            Flag::Count(count) => count.map(|count| (count as i64).into()),
            Flag::Threads(threads) => threads.map(|threads| i64::from(threads).into()),
            Flag::Device(wish) => wish.map(|wish| device_name(wish).into()),
            Flag::Switch(on) => on.then(|| true.into()),
        }
    }

    /// Sets the flag from the key `name` of the file, unless the command line has set the flag.
    fn fill(self, keys: &mut Keys, name: &'static str) -> Result<()> {
        fn or<T>(flag: &mut Option<T>, value: Option<T>) {
            *flag = flag.take().or(value);
        }
        match self {
            Flag::Path(path) => or(path, keys.take(name, |value| text_of(value).map(PathBuf::from))?),
            Flag::Text(text) => or(text, keys.take(name, text_of)?),
            Flag::Seconds(flag) => or(flag, keys.take(name, |value| seconds(&value.to_string()))?),
            Flag::Count(count) => or(count, keys.take(name, whole)?),
            Flag::Threads(threads) => or(threads, keys.take(name, threads_of)?),
            Flag::Device(wish) => or(wish, keys.take(name, |value| device(&text_of(value)?))?),
            Flag::Switch(on) => {
                let read = |value: &Value| value.as_bool().ok_or("write true or false".into());
                *on |= keys.take(name, read)?.unwrap_or(false);
            }
        }
        Ok(())
    }
}

fn threads_of(value: &Value) -> Result<u32, String> {
    match whole(value)? {
        threads @ 1..=1024 => Ok(threads as u32),
        _ => Err("write 1 to 1024".into()),
    }
}

/// Formats the config file for a run with this config and these flags. The file contains every knob.
pub fn text(room: &dyn AnyRoom, config: &Config, args: &TrainArgs) -> Result<String> {
    let known = room.knobs(&config.variant);
    let value = |knob: &run::protocol::Knob| {
        let set = config.knobs.get(knob.name).unwrap_or(&knob.default);
        setting(set)
    };
    let mut common = args.common.clone();
    let flags = flags(&mut common).into_iter();
    let changes = config.changes.iter();
    let written = Written {
        version: VERSION,
        room: &config.room,
        variant: &config.variant,
        seed: config.seed,
        flags: flags.filter_map(|(name, flag)| Some((name, flag.value()?))).collect(),
        knobs: known.iter().map(|knob| (knob.name, value(knob))).collect(),
        changes: changes.map(|change| Change { iteration: change.iteration, knob: &change.knob, value: setting(&change.value) }).collect(),
    };
    Ok(toml::to_string(&written)?)
}

fn setting(value: &Setting) -> toml::Value {
    match value {
        Setting::Number(number) if number.fract() == 0.0 && number.abs() < 2f64.powi(53) => (*number as i64).into(),
        Setting::Number(number) => (*number).into(),
        Setting::Text(text) => text.as_str().into(),
    }
}

/// Reads a config file. Returns the room and the flags of the file and of the command line. A flag of the command line takes precedence
/// over the same flag of the file.
pub fn with_file(file: &Path, id: Option<String>, mut args: TrainArgs) -> Result<(Option<String>, TrainArgs)> {
    let bytes = files::read_at_most(files::open(file)?, LARGEST, &file.display().to_string())?;
    let shown = file.display();
    let wrong = |why: String| anyhow!(Usage(format!("{shown}: {why}")));
    let values = parse(&bytes).map_err(&wrong)?;
    let mut keys = Keys { values, known: Vec::new(), wrong: &wrong };
    if let Some(version) = keys.take("version", whole)?.filter(|&version| version != VERSION) {
        return Err(wrong(format!("expected version {VERSION}, found {version}. Write version = {VERSION}")));
    }
    let room = keys.take("room", text_of)?;
    let id = id.or(room);
    let variant = keys.take("variant", text_of)?;
    args.variant = args.variant.or(variant);
    let seed = keys.take("seed", |value| u32::try_from(whole(value)?).map_err(|_| "write 0 to 4294967295".into()))?;
    args.seed = args.seed.or(seed);
    for (name, flag) in flags(&mut args.common) {
        flag.fill(&mut keys, name)?;
    }

    let knobs = keys.take("knobs", |value| match value {
        Value::Object(knobs) => {
            let word = |(name, value): (&String, &Value)| Ok((name.clone(), word(value)?));
            knobs.iter().map(word).collect::<Result<Vec<_>, String>>()
        }
        _ => Err("write a table of knobs, as in [knobs] and lr = 0.003".into()),
    })?;
    let changes = keys.take("changes", |value| {
        let one = |change: &Value| -> Option<(u32, String, String)> {
            let fields = change.as_object().filter(|fields| fields.len() == 3)?;
            let iteration = fields.get("iteration")?.as_u64()?.try_into().ok()?;
            Some((iteration, fields.get("knob")?.as_str()?.into(), word(fields.get("value")?).ok()?))
        };
        let all = value.as_array().and_then(|all| all.iter().map(one).collect::<Option<Vec<_>>>());
        all.ok_or("write each as iteration, knob and value, under [[changes]]".into())
    })?;
    keys.end()?;

    let (knobs, changes) = (knobs.unwrap_or_default(), changes.unwrap_or_default());
    if !(knobs.is_empty() && changes.is_empty()) {
        let room = begin::room(id.as_deref())?;
        let variant = begin::variant(room, args.variant.as_ref(), &args.common.data);
        let config = begin::config(room, variant, &[], Host::new(math::Isa::best()))?;
        let known = room.knobs(&config.variant);
        let names: Vec<&str> = known.iter().map(|knob| knob.name).collect();
        let set = knobs.iter().map(|(name, value)| (name, value));
        for (name, value) in set.chain(changes.iter().map(|(_, name, value)| (name, value))) {
            if !names.contains(&name.as_str()) {
                return Err(wrong(unknown("knob", name, &names)));
            }
            set_one(name, value, &known).map_err(usage_error)?;
        }
    }
    // Later values override earlier values, so the knobs of the file are inserted before those of the command line.
    args.common.set.splice(0..0, knobs);
    let given = std::mem::take(&mut args.at);
    let is_same = |(at, name, _): &(u32, String, String)| given.iter().any(|(i, knob, _)| (i, knob) == (at, name));
    args.at = changes.into_iter().filter(|change| !is_same(change)).chain(given.iter().cloned()).collect();
    Ok((id, args))
}

/// Parses TOML, or JSON if the text begins with a brace.
fn parse(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let text = str::from_utf8(files::without_mark(bytes)).map_err(|_| "it is not text in UTF-8. Write TOML or JSON")?;
    let parsed = match text.trim_start().starts_with('{') {
        true => run::json::read(text).map_err(|error| format!("it is not valid JSON ({error})"))?,
        false => toml::from_str(text).map_err(|error| format!("it is not valid TOML ({error})"))?,
    };
    match parsed {
        Value::Object(values) => Ok(values),
        _ => Err("it has no keys. Write room = \"…\" and seed = 1, as --print-config does".into()),
    }
}

/// Keys of a config file. Reading a key removes it, so the keys that remain at the end are unknown.
struct Keys<'a> {
    /// Values of the keys that were not read yet.
    values: Map<String, Value>,
    /// Names of all keys that the program has tried to read.
    known: Vec<&'static str>,
    wrong: &'a dyn Fn(String) -> anyhow::Error,
}

impl Keys<'_> {
    fn take<T>(&mut self, name: &'static str, read: impl Fn(&Value) -> Result<T, String>) -> Result<Option<T>> {
        self.known.push(name);
        let value = self.values.remove(name);
        let read = |value: Value| read(&value).map_err(|why| (self.wrong)(format!("{name} = {}: {why}", brief(&value.to_string()))));
        value.map(read).transpose()
    }

    fn end(&self) -> Result<()> {
        match self.values.keys().next() {
            Some(name) => Err((self.wrong)(unknown("key", name, &self.known))),
            None => Ok(()),
        }
    }
}

fn text_of(value: &Value) -> Result<String, String> {
    value.as_str().map(String::from).ok_or("write a text in quotes".into())
}

fn whole(value: &Value) -> Result<u64, String> {
    let given = value.as_f64().filter(|number| (0.0..=2f64.powi(53)).contains(number) && number.fract() == 0.0);
    given.map(|number| number as u64).ok_or("write a whole number".into())
}

/// Formats a knob's value in the form that `--set` accepts.
fn word(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(on) => Ok(if *on { "yes" } else { "no" }.into()),
        Value::Number(value) => number(&value.to_string()).map(|number| number.to_string()),
        _ => Err("write a number, a text, true or false".into()),
    }
}

fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    let name = brief(name);
    let nearest = known.iter().min_by_key(|other| levenshtein(&name, other));
    let nearest = nearest.map_or(String::new(), |nearest| format!(" Did you mean {nearest}?"));
    format!("there is no {kind} called '{name}'.{nearest} Choose one of: {}", known.join(", "))
}
