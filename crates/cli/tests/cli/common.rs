//! What tests of the built program share: a folder of their own with a cache of its own, and readers of what it tells.

#![allow(dead_code)] // each test file uses a part

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Iterations of 4,096 steps: small enough to be quick, large enough to cut into several shards.
pub const SMALL: [&str; 8] =
    ["--set", "envs=256", "--set", "rollout_steps=16", "--set", "hidden=32", "--set", "minibatches=4"];
pub const ITERATION_STEPS: u64 = 256 * 16;
/// Backgammon with networks and rounds that are quick.
pub const SMALL_GAMES: [&str; 6] = ["--set", "hidden=16", "--set", "games=24", "--set", "batch=128"];

/// A folder of its own, gone afterwards.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("hothouse-test-{}-{}", std::process::id(), MADE.fetch_add(1, Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Beside the folder, so that the folder has what was asked for alone.
    pub fn cache(&self) -> PathBuf {
        self.0.with_extension("cache")
    }

    /// What is in the cache under this extension.
    pub fn cached(&self, extension: &str) -> Vec<PathBuf> {
        let Ok(folder) = fs::read_dir(self.cache().join("hothouse")) else { return Vec::new() };
        let paths = folder.map(|entry| entry.unwrap().path());
        // One that is being made has another name until it can be read.
        paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect()
    }

    pub fn hothouse(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hothouse"));
        command.current_dir(&self.0).args(args).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.cache());
        // Without it the system's software GPU complains on stderr.
        command.env("XDG_RUNTIME_DIR", &self.0);
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.hothouse(args).output().unwrap()
    }

    /// What a run that must go well prints.
    pub fn told(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// Its JSON lines.
    pub fn records(&self, args: &[&str]) -> Vec<Value> {
        records(&self.told(&[args, &["--json"]].concat()))
    }

    /// `train` with the small configuration and `--json`; its summary.
    pub fn train(&self, args: &[&str]) -> Value {
        self.records(&[&["train"], &SMALL[..], args].concat()).pop().unwrap()
    }

    pub fn spawn(&self, args: &[&str]) -> Running {
        let mut command = self.hothouse(args);
        Running::new(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Rows of a table by column.
    pub fn table(&self, name: &str) -> Vec<std::collections::BTreeMap<String, String>> {
        let text = fs::read_to_string(self.path(name)).unwrap();
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap().split(',').collect();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), head.len(), "{line}");
            head.iter().zip(cells).map(|(name, cell)| (name.to_string(), cell.to_string())).collect()
        };
        lines.map(row).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_dir_all(self.cache());
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Every line is one JSON object with a kind.
pub fn records(text: &str) -> Vec<Value> {
    let read = |line: &str| -> Value { serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")) };
    let values: Vec<Value> = text.lines().map(read).collect();
    assert!(values.iter().all(|value| value["kind"].is_string()), "{text}");
    values
}

pub fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

/// The last record, which sums up.
pub fn summary(records: &[Value]) -> &Value {
    let last = records.last().unwrap();
    assert_eq!((&records[0]["kind"], &last["kind"]), (&"opened".into(), &"summary".into()));
    last
}

/// A process that does not outlive its test.
pub struct Running {
    pub process: Child,
    /// Kept as long as the process: it reads ahead.
    lines: Option<BufReader<ChildStdout>>,
}

impl Running {
    pub fn start(mut command: Command) -> Running {
        Running::new(command.spawn().unwrap())
    }

    fn new(mut process: Child) -> Running {
        let lines = process.stdout.take().map(BufReader::new);
        Running { process, lines }
    }

    /// The JSON lines it gives, until one of this kind has come.
    pub fn read_until(&mut self, kind: &str) -> Vec<Value> {
        self.read_times(kind, 1)
    }

    /// Until so many of them have come.
    pub fn read_times(&mut self, kind: &str, count: usize) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        while of_kind(&values, kind).len() < count {
            let mut line = String::new();
            let read = self.lines.as_mut().unwrap().read_line(&mut line).unwrap();
            assert!(read > 0, "it ended before it told of {kind}: {values:?} {}", self.complaint());
            values.push(serde_json::from_str(&line).unwrap());
        }
        values
    }

    /// What it prints until this has come.
    pub fn read_to(&mut self, words: &str) -> String {
        let mut said = String::new();
        while !said.contains(words) {
            let read = self.lines.as_mut().unwrap().read_line(&mut said).unwrap();
            assert!(read > 0, "it ended before it said {words}: {said}");
        }
        said
    }

    /// All that it still prints.
    pub fn rest(&mut self) -> String {
        let mut text = String::new();
        self.lines.as_mut().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// What it says on its standard error, once it has ended.
    pub fn complaint(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut stderr) = self.process.stderr.take() {
            stderr.read_to_string(&mut text).unwrap();
        }
        text
    }

    /// Reads a line, and then nobody reads any more.
    pub fn hang_up(&mut self) {
        let mut lines = self.lines.take().unwrap();
        lines.read_line(&mut String::new()).unwrap();
    }

    /// Processor time of all its threads, also after it has ended and before it is waited for; nothing where the system has no `/proc`.
    pub fn processor_s(&self) -> Option<f64> {
        const TICKS_PER_S: f64 = 100.0;
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        // The name, in parentheses, may hold spaces; user and system time are the 12th and 13th field behind it.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |k: usize| fields.get(k)?.parse::<f64>().ok();
        Some((ticks(11)? + ticks(12)?) / TICKS_PER_S)
    }

    #[cfg(unix)]
    pub fn interrupt(&self) {
        self.signal("INT");
    }

    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let (flag, pid) = (format!("-{name}"), self.process.id().to_string());
        assert!(Command::new("kill").args([&flag, &pid]).status().unwrap().success());
    }

    pub fn wait(&mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
