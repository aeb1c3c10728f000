//! Shared code of the tests: a scratch folder with its own cache, and readers of the program's output.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

pub const HOTHOUSE: &str = env!("CARGO_BIN_EXE_hothouse");
/// Knobs of the control room for iterations of 4,096 steps. Such an iteration is quick, but its minibatches are still divided into several
/// shards (parts of at most 512 samples).
pub const SMALL: &str = "--set envs=256 --set rollout_steps=16 --set hidden=32 --set minibatches=4";
pub const ITERATION_STEPS: u64 = 256 * 16;
/// Maximum length of a line of input in bytes, with its line break, of the commands that serve other programs.
pub const LINE_BYTES: usize = 65_536;
/// Knobs of the strong backgammon learner, for a small network and short rounds.
pub const SMALL_GAMES: &str = "--set hidden=16 --set games=24 --set batch=128";
pub const SMALL_PUBLISHED: &str = "--set tables=2 --set games=4 --set batch=16 --set evals=4 --set round_batches=12 \
    --set minibatch=32 --set replay=512";
pub const SMALL_CUBES: &str = "--set batch=64 --set walk=8 --set updates=4 --set hidden=32-16";
pub const SMALL_CIRCUITS: &str = "--set population=2 --set batch=2 --set updates=2";
pub const SMALL_TEXTS: &str = "--set width=32 --set layers=2 --set heads=2 --set context=16 --set batch=4 --set micro=2 \
    --set steps=2 --set warmup=2 --set characters=20000 --set vocab=300 --set sample=8";

/// Splits a command line into words. A text in double quotes is one word.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split('"').enumerate();
    parts.flat_map(|(i, part)| if i % 2 == 0 { part.split_whitespace().collect() } else { vec![part] }).collect()
}

/// A scratch folder and a cache folder. Dropping this value removes both folders.
pub struct Scratch(pub testkit::Scratch);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(testkit::Scratch::new("cli"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the cache folder of the program. This folder is outside the scratch folder, so the scratch folder contains only the files
    /// that a test requested.
    pub fn cache(&self) -> PathBuf {
        self.0.with_extension("cache")
    }

    /// Returns the paths of the files in the cache that have this extension.
    pub fn cached(&self, extension: &str) -> Vec<PathBuf> {
        let Ok(folder) = fs::read_dir(self.cache().join("hothouse")) else { return Vec::new() };
        let paths = folder.map(|entry| entry.unwrap().path());
        // A file that is still being written has a temporary name, so it is not in the list.
        paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect()
    }

    /// Returns a command that runs the program with these arguments in the scratch folder.
    pub fn hothouse(&self, args: impl AsRef<str>) -> Command {
        let mut command = Command::new(HOTHOUSE);
        command.current_dir(&self.0).args(words(args.as_ref())).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.cache());
        // Without this variable, the software GPU of the system prints a warning.
        command.env("XDG_RUNTIME_DIR", &*self.0);
        command
    }

    pub fn run(&self, args: impl AsRef<str>) -> Output {
        self.hothouse(args).output().unwrap()
    }

    /// Runs the program with this text as standard input.
    pub fn run_with_input(&self, args: impl AsRef<str>, input: impl AsRef<[u8]> + Send) -> Output {
        let mut command = self.hothouse(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut sender = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A separate thread writes the input, since the program may wait until its answers are read. A failed write is ignored, because
            // the program may already have ended.
            scope.spawn(move || drop(sender.write_all(input.as_ref())));
            child.wait_with_output().unwrap()
        })
    }

    /// Runs a command and returns its standard output. The command must succeed.
    #[track_caller]
    pub fn stdout(&self, args: impl AsRef<str>) -> String {
        expect_success(args.as_ref(), &self.run(&args))
    }

    /// Runs a command with this standard input and returns its standard output. The command must succeed.
    #[track_caller]
    pub fn stdout_with_input(&self, args: impl AsRef<str>, input: impl AsRef<[u8]> + Send) -> String {
        expect_success(args.as_ref(), &self.run_with_input(&args, input))
    }

    /// Runs a command with `--json` and returns the JSON value that it prints. The command must succeed and print exactly one value.
    #[track_caller]
    pub fn json(&self, args: impl AsRef<str>) -> Value {
        serde_json::from_str(&self.stdout(format!("{} --json", args.as_ref()))).unwrap()
    }

    /// Runs a command with `--json` and returns its records. Every printed line must be a record.
    #[track_caller]
    pub fn records(&self, args: impl AsRef<str>) -> Vec<Value> {
        records(&self.stdout(format!("{} --json", args.as_ref())))
    }

    /// Runs a command with `--json` and returns its last record, which must be the summary.
    #[track_caller]
    pub fn summary(&self, args: impl AsRef<str>) -> Value {
        summary(&self.records(args)).clone()
    }

    /// Runs `train` with the knobs of [`SMALL`] and returns the summary.
    #[track_caller]
    pub fn train(&self, args: impl AsRef<str>) -> Value {
        self.summary(format!("train {SMALL} {}", args.as_ref()))
    }

    /// Runs a command that must fail with this status, print nothing to standard output, and print an error that contains `words`. Returns
    /// the error.
    #[track_caller]
    pub fn fails(&self, args: impl AsRef<str>, status: i32, words: &str) -> String {
        let (args, output) = (args.as_ref(), self.run(args.as_ref()));
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{args}: {error}");
        assert!(error.contains(words) && !error.contains("panicked"), "{args} failed with: {error}");
        assert!(output.stdout.is_empty(), "{args} printed: {}", stdout(&output));
        error
    }

    pub fn spawn(&self, args: impl AsRef<str>) -> Running {
        let mut command = self.hothouse(args);
        Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Returns the rows of a CSV table. A row maps the names of the columns to the texts of the cells.
    pub fn table(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        let text = self.text(name);
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
        let _ = fs::remove_dir_all(self.cache());
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the standard output of a finished command, which must have succeeded.
#[track_caller]
pub fn expect_success(args: &str, output: &Output) -> String {
    assert!(output.status.success(), "{args}: {}", stderr(output));
    stdout(output)
}

/// Parses a text of one JSON value per line.
pub fn values(text: &str) -> Vec<Value> {
    let read = |line: &str| -> Value { serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")) };
    text.lines().map(read).collect()
}

/// Parses a text of one JSON object per line. Every object must have a `kind`.
pub fn records(text: &str) -> Vec<Value> {
    let values = values(text);
    assert!(values.iter().all(|value| value["kind"].is_string()), "{text}");
    values
}

pub fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

/// Returns the last record, which must be the summary. Also asserts that the first record is `opened`.
#[track_caller]
pub fn summary(records: &[Value]) -> &Value {
    let last = records.last().unwrap();
    assert_eq!((&records[0]["kind"], &last["kind"]), (&"opened".into(), &"summary".into()));
    last
}

/// Client of a command that answers each input line with one output line.
pub struct LineClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _scratch: Scratch,
}

impl LineClient {
    /// Starts the command in a new scratch folder.
    pub fn start(args: impl AsRef<str>) -> LineClient {
        let scratch = Scratch::new();
        let mut command = scratch.hothouse(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        LineClient { child, input, output, _scratch: scratch }
    }

    pub fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub fn ask(&mut self, line: &str) -> String {
        self.send(line);
        let mut answer = String::new();
        assert!(self.output.read_line(&mut answer).unwrap() > 0, "no answer to {line}");
        answer.trim_end().to_string()
    }

    /// Closes the input. Asserts that the program then ends successfully.
    pub fn end(mut self) {
        drop(self.input.take());
        self.assert_ended();
    }

    /// Asserts that the program ends successfully and prints nothing more.
    pub fn assert_ended(mut self) {
        let mut rest = String::new();
        assert_eq!(self.output.read_line(&mut rest).unwrap(), 0, "unexpected output: {rest}");
        assert!(self.child.wait().unwrap().success());
    }
}

/// A running process. Dropping this value kills the process.
pub struct Running {
    pub process: Child,
    /// Reader of the standard output; `None` after `close_output`.
    lines: Option<BufReader<ChildStdout>>,
}

impl Running {
    pub fn start(command: &mut Command) -> Running {
        let mut process = command.spawn().unwrap();
        let lines = process.stdout.take().map(BufReader::new);
        Running { process, lines }
    }

    /// Reads JSON lines up to the first record of this kind.
    pub fn read_until(&mut self, kind: &str) -> Vec<Value> {
        self.read_times(kind, 1)
    }

    /// Reads JSON lines until `count` records of this kind have been read.
    pub fn read_times(&mut self, kind: &str, count: usize) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        while of_kind(&values, kind).len() < count {
            let mut line = String::new();
            let read = self.lines.as_mut().unwrap().read_line(&mut line).unwrap();
            assert!(read > 0, "the program ended without {kind}: {values:?} {}", self.errors());
            values.push(serde_json::from_str(&line).unwrap());
        }
        values
    }

    /// Reads output up to a line that contains `words`.
    pub fn read_to(&mut self, words: &str) -> String {
        let mut text = String::new();
        while !text.contains(words) {
            let read = self.lines.as_mut().unwrap().read_line(&mut text).unwrap();
            assert!(read > 0, "the program ended without {words}: {text}");
        }
        text
    }

    /// Reads the remaining standard output.
    pub fn rest(&mut self) -> String {
        let mut text = String::new();
        self.lines.as_mut().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// Returns the standard error of the process, which must have ended.
    pub fn errors(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut stderr) = self.process.stderr.take() {
            stderr.read_to_string(&mut text).unwrap();
        }
        text
    }

    /// Reads one line, then closes the standard output of the process.
    pub fn close_output(&mut self) {
        let mut lines = self.lines.take().unwrap();
        lines.read_line(&mut String::new()).unwrap();
    }

    #[cfg(unix)]
    /// Returns the CPU seconds of all threads; `None` without `/proc`. Call this method after the end of the process and before `wait`.
    pub fn processor_s(&self) -> Option<f64> {
        const TICKS_PER_S: f64 = 100.0;
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        // The second field is the name in parentheses, which may contain spaces. The user time is the 12th field after the name, the system
        // time the 13th.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |k: usize| fields.get(k)?.parse::<f64>().ok();
        Some((ticks(11)? + ticks(12)?) / TICKS_PER_S)
    }

    #[track_caller]
    pub fn assert_running(&mut self) {
        assert!(self.process.try_wait().unwrap().is_none(), "the program ended");
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
