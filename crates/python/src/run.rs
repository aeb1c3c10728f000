//! A run of any room. A run advances for a limited time per call, so that callers can show progress or stop the run.
//!
//! Pieces are numbered parts of an iteration, such as games. In a shared run, workers (other processes) compute the pieces. Pieces are due
//! when their input is ready for the workers. Until the results of the due pieces arrive, the run may do other work.

use crate::arrays;
use crate::counts;
use crate::data::{from_python, to_python};
use crate::disk;
use crate::errors::refusal;
use crate::host::{self, Threads, Turns};
use crate::policy::Policy;
use numpy::{Ix1, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use run::export::{Format, NamedExamples, Numbers};
use run::format::plain;
use run::protocol::{Command, Config, Dataset, DeviceWish, Digest, Event, Level, Row};
use run::room::Schema;
use run::{AnyRun, Host, RunError};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::MutexGuard;
use std::time::Instant;

/// A table with one row per iteration or per test: progress and values. The values are stored by column. Missing values are NaN.
struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    fn new(schema: &Schema, values: impl Iterator<Item = String>) -> Table {
        let counters = schema.counters.iter().map(|column| column.name.to_string());
        let place = ["iteration".to_string()].into_iter().chain(counters).chain(["train_s".to_string()]);
        let names: Vec<String> = place.chain(values).collect();
        Table { columns: vec![Vec::new(); names.len()], names }
    }

    fn push(&mut self, row: &Row) {
        let progress = &row.progress;
        let place = [f64::from(progress.iteration)].into_iter();
        let place = place.chain(progress.counts.iter().copied()).chain([progress.train_s]);
        let values = row.values.iter().map(|value| value.unwrap_or(f64::NAN));
        self.columns.iter_mut().zip(place.chain(values)).for_each(|(column, value)| column.push(value));
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table = PyDict::new(py);
        for (name, column) in self.names.iter().zip(&self.columns) {
            table.set_item(name, PyArray1::from_slice(py, column))?;
        }
        Ok(table)
    }
}

/// A run, and everything that the run has reported: rows of tables, digests, notices and room events.
struct Session {
    run: Box<dyn AnyRun>,
    metrics: Table,
    tests: Table,
    digests: Vec<Digest>,
    /// Latest test that the user requested.
    requested: Option<Row>,
    /// Notices for the user since the last call of `notices`.
    notices: Vec<(Level, String)>,
    /// Room events since the last call of `room_events`.
    room_events: Vec<serde_json::Value>,
}

impl Session {
    fn new(mut run: Box<dyn AnyRun>) -> PyResult<Session> {
        run.set_clock(host::now_s);
        run.command(Command::Device { wish: DeviceWish::Cpu }).map_err(refusal)?;
        let schema = run.schema();
        let parts = schema.all_parts().map(|part| format!("share_{}", part.name));
        let metrics = schema.metrics.iter().map(|column| column.name.to_string()).chain(parts);
        let tests = schema.tests.iter().map(|column| column.name.to_string());
        let (metrics, tests) = (Table::new(schema, metrics), Table::new(schema, tests));
        let mut session =
            Session { run, metrics, tests, digests: Vec::new(), requested: None, notices: Vec::new(), room_events: Vec::new() };
        session.take_events();
        Ok(session)
    }

    fn take_events(&mut self) {
        for event in self.run.events() {
            match event {
                Event::Began(began) => {
                    began.history.iter().for_each(|row| self.metrics.push(row));
                    began.tests.iter().for_each(|row| self.tests.push(row));
                }
                Event::Metrics(row) => self.metrics.push(&row),
                Event::Test(row) => self.tests.push(&row),
                Event::Digest(digest) => self.digests.push(digest),
                Event::Notice { level, text, next_step } => {
                    self.notices.push((level, plain(format!("{text} {next_step}").trim())));
                }
                Event::Room { event, .. } => self.room_events.push(event),
                _ => {}
            }
        }
    }

    /// Advances the run until pieces are due, for at most `for_s` seconds. Returns the numbers of the pieces and the data for computing
    /// them; `None` if the run is done (see `is_done`) or the time is up.
    fn work_until_due(&mut self, target: f64, for_s: f64) -> Option<(Range<u64>, Vec<u8>)> {
        let began = Instant::now();
        while !self.is_done(target) && began.elapsed().as_secs_f64() < for_s {
            if self.run.is_due() {
                return self.run.due();
            }
            self.run.advance(host::now_s());
            self.take_events();
        }
        None
    }

    /// Does work that does not depend on the due pieces, for at most `for_s` seconds. Returns false if no such work remains.
    fn work_meanwhile(&mut self, for_s: f64) -> bool {
        let began = Instant::now();
        while began.elapsed().as_secs_f64() < for_s {
            self.run.advance(host::now_s());
            self.take_events();
            if self.run.waiting() {
                return false;
            }
        }
        true
    }

    /// Saves the run. An iteration that ends soon is completed first.
    fn saved(&mut self) -> Result<Vec<u8>, RunError> {
        let bytes = self.run.save()?;
        self.take_events();
        Ok(bytes)
    }

    /// Returns `done`; an error with the reason if the run has stopped permanently.
    fn unless_failed<T>(&self, done: T) -> Result<T, RunError> {
        self.run.failure().map_or(Ok(done), Err)
    }

    /// Returns true if the run can stop now without losing work.
    fn can_stop(&self) -> bool {
        self.run.is_preparing() || self.run.saves().is_some()
    }

    fn is_done(&self, target: f64) -> bool {
        self.run.failure().is_some() || self.run.progress().counts[0] >= target && self.run.at_boundary()
    }

    /// Advances to the first boundary (end of an iteration) at which the first counter has reached `target`. If `end` is true, advances to
    /// the next boundary, whatever the counter is. If `late` is true, a point within a long iteration at which the run can be saved is also
    /// a boundary. Returns false if `for_s` seconds pass first, else true. If the run fails, stops and returns true.
    fn work(&mut self, target: f64, for_s: f64, end: bool, late: bool) -> bool {
        let began = Instant::now();
        loop {
            self.take_events();
            let reached = end || self.run.progress().counts[0] >= target;
            let may_end = self.run.at_boundary() || late && self.can_stop();
            if self.run.failure().is_some() || reached && may_end {
                return true;
            }
            if began.elapsed().as_secs_f64() >= for_s {
                return false;
            }
            self.run.advance(host::now_s());
        }
    }
}

/// Returns the default config of a room's variant. Without `variant`, the room's default variant is used.
pub fn config(room: &str, variant: Option<String>) -> PyResult<Config> {
    let room = run::room(room).map_err(refusal)?;
    let mut config = run::config_of(room);
    config.variant = variant.unwrap_or(config.variant);
    // Rejects an unknown variant, whose knobs do not exist.
    room.check(&config, Host::new(math::Isa::best())).map_err(refusal)?;
    Ok(config)
}

/// Number of the first due piece, number after the last due piece, and the data for computing the pieces.
type Due<'py> = (u64, u64, Bound<'py, PyArray1<u8>>);

/// A run. Calls from several Python threads run one after the other.
#[pyclass(module = "hothouse._native", frozen)]
pub struct Run {
    session: Turns<Session>,
    threads: Threads,
}

impl Run {
    /// Locks the session; raises an error in a forked process.
    fn here(&self, py: Python) -> PyResult<MutexGuard<'_, Session>> {
        self.threads.here("this run")?;
        self.session(py)
    }

    /// Runs `work` on the run's threads, without the global interpreter lock (GIL).
    fn work_on<R: Send>(&self, py: Python, work: impl FnOnce(&mut Session) -> R + Send) -> PyResult<R> {
        let session = &mut *self.here(py)?;
        Ok(py.detach(|| self.threads.run(|| work(session))))
    }

    /// Locks the session. Waits for other Python threads that use the run, without holding the GIL.
    fn session(&self, py: Python) -> PyResult<MutexGuard<'_, Session>> {
        self.session.take(py, || self.threads.here("this run"))
    }

    fn make(
        py: Python,
        threads: Option<&Bound<PyAny>>,
        make: impl FnOnce(Host) -> Result<Box<dyn AnyRun>, RunError> + Send,
    ) -> PyResult<Run> {
        let threads = Threads::apart(host::threads(threads)?.unwrap_or_else(host::cores))?;
        let host = Host { memory_bytes: files::memory_bytes(), ..Host::new(math::Isa::best()) };
        let run = py.detach(|| threads.run(|| make(host))).map_err(refusal)?;
        Ok(Run { session: Turns::new(Session::new(run)?), threads })
    }
}

#[pymethods]
impl Run {
    /// Starts a new run. `what` is the room, the variant and the seed. `data` is the name and the contents of training data.
    #[staticmethod]
    fn begin(
        py: Python,
        what: (String, Option<String>, Bound<PyAny>),
        knobs: &Bound<PyAny>,
        data: Option<(String, Vec<u8>)>,
        threads: Option<&Bound<PyAny>>,
    ) -> PyResult<Run> {
        let (room, variant, seed) = what;
        let of_data = data.as_ref().and(run::room(&room).map_err(refusal)?.data_variant());
        let mut config = config(&room, variant.or(of_data.map(String::from)))?;
        (config.seed, config.knobs) = (counts::seed(&seed)?, from_python(knobs)?);
        config.data = data.map(|(name, content)| Dataset::new(&name, content));
        Run::make(py, threads, |host| run::begin(config, host))
    }

    /// Restores a run from the bytes of a checkpoint.
    #[staticmethod]
    fn restore(py: Python, bytes: &[u8], data: Option<(String, Vec<u8>)>, threads: Option<&Bound<PyAny>>) -> PyResult<Run> {
        let data = data.map(|(name, content)| Dataset::new(&name, content));
        Run::make(py, threads, |host| run::restore_with(bytes, host, data.as_ref()))
    }

    /// Trains to the first boundary (end of an iteration) at which the first counter has reached `target`, but for at most `for_s` seconds.
    /// If `end` is true, trains to the next boundary, whatever the counter is. If `late` is true, a point within a long iteration at which
    /// the run can be saved is also a boundary. Returns false if the time was up first.
    fn work(&self, py: Python, target: f64, for_s: f64, end: bool, late: bool) -> PyResult<bool> {
        let work = |session: &mut Session| {
            session.run.command(Command::Start)?;
            let done = session.work(target, for_s, end, late);
            if done {
                session.run.command(Command::Pause)?;
                session.take_events();
            }
            session.unless_failed(done)
        };
        self.work_on(py, work)?.map_err(refusal)
    }

    /// Enables or disables sharing. With sharing, workers (other processes) compute the pieces of the iterations. Without sharing, the run
    /// computes all pieces.
    fn share(&self, py: Python, shared: bool) -> PyResult<()> {
        let mut session = self.here(py)?;
        session.run.share(shared).map_err(refusal)?;
        session.run.command(if shared { Command::Start } else { Command::Pause }).map_err(refusal)
    }

    /// Trains until pieces are due, the run is done or the time is up. Returns `None` if no pieces are due.
    fn until_due<'py>(&self, py: Python<'py>, target: f64, for_s: f64) -> PyResult<Option<Due<'py>>> {
        let work = |session: &mut Session| {
            let due = session.work_until_due(target, for_s);
            session.unless_failed(due)
        };
        let due = self.work_on(py, work)?.map_err(refusal)?;
        Ok(due.map(|(pieces, due)| (pieces.start, pieces.end, PyArray1::from_vec(py, due))))
    }

    /// Trains for at most `for_s` seconds with work that does not need the results of the due pieces. Returns false if no such work
    /// remains.
    fn meanwhile(&self, py: Python, for_s: f64) -> PyResult<bool> {
        self.work_on(py, |session| session.work_meanwhile(for_s))
    }

    /// Accepts results that [`play`] computed. The results must belong to the next pieces in numerical order.
    fn take(&self, py: Python, pieces: &Bound<PyAny>) -> PyResult<()> {
        let pieces = arrays::read::<u8, Ix1>(pieces, "pieces")?;
        let pieces = pieces.as_slice()?;
        self.work_on(py, |session| session.run.take(pieces))?.map_err(refusal)
    }

    fn is_done(&self, py: Python, target: f64) -> PyResult<bool> {
        Ok(self.session(py)?.is_done(target))
    }

    /// Changes a live knob, which is a setting that may change during a run. The change takes effect at the next iteration.
    fn set(&self, py: Python, name: String, value: &Bound<PyAny>) -> PyResult<()> {
        let value = from_python(value)?;
        let mut session = self.here(py)?;
        session.run.command(Command::SetKnob { name, value }).map_err(refusal)?;
        session.take_events();
        Ok(())
    }

    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.work_on(py, Session::saved)?.map_err(refusal)?))
    }

    /// Model of the run in a format, and its model card. With `path`, also writes both files.
    #[pyo3(signature = (format, path=None))]
    fn export<'py>(&self, py: Python<'py>, format: &str, path: Option<PathBuf>) -> PyResult<(Bound<'py, PyBytes>, String)> {
        let format = Format::named(format).map_err(refusal)?;
        if let Some(path) = &path {
            disk::check_model(py, path, format)?;
        }
        let exported = self.work_on(py, |session| session.run.export(format))?.map_err(refusal)?;
        if let Some(path) = &path {
            disk::write_model(py, path, format, &exported)?;
        }
        Ok((PyBytes::new(py, &exported.model.bytes), String::from_utf8_lossy(&exported.card.bytes).into_owned()))
    }

    /// Inputs for the exported model, and the outputs of the run's own code for these inputs.
    fn examples<'py>(
        &self,
        py: Python<'py>,
        count: &Bound<PyAny>,
        seed: &Bound<PyAny>,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let (count, seed) = (counts::whole("count", count, 1..=u32::MAX.into())? as usize, counts::seed(seed)?);
        let NamedExamples { inputs, outputs } = self.work_on(py, |session| session.run.examples(count, seed))?.map_err(refusal)?;
        let arrays = |all: Vec<Numbers>| {
            let by_name = PyDict::new(py);
            for Numbers { name, shape, integers, values } in all {
                if integers {
                    let values = values.iter().map(|&value| value as i64).collect();
                    by_name.set_item(name, numpy::PyArrayMethods::reshape(&PyArray1::from_vec(py, values), shape)?)?;
                } else {
                    by_name.set_item(name, numpy::PyArrayMethods::reshape(&PyArray1::from_vec(py, values), shape)?)?;
                }
            }
            PyResult::Ok(by_name)
        };
        Ok((arrays(inputs)?, arrays(outputs)?))
    }

    /// Saves the run to a NumPy array. Unlike `save`, does not copy the bytes to a `bytes` object.
    fn save_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        Ok(PyArray1::from_vec(py, self.work_on(py, Session::saved)?.map_err(refusal)?))
    }

    fn ask<'py>(&self, py: Python<'py>, question: &Bound<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let question = from_python(question)?;
        // The run's answer must stay on the thread that created it, so it is converted to a Python object on that thread.
        let answer = self.work_on(py, |session| -> PyResult<Py<PyAny>> {
            let answer = session.run.ask(question).map_err(refusal)?;
            Python::attach(|py| Ok(to_python(py, &*answer)?.unbind()))
        })?;
        Ok(answer?.into_bound(py))
    }

    /// Tests the current policy or model for at most `for_s` seconds. Returns the values of the room's test columns, or `None` if the next
    /// call must continue the test.
    fn test<'py>(&self, py: Python<'py>, for_s: f64) -> PyResult<Bound<'py, PyAny>> {
        let test = |session: &mut Session| {
            let began = Instant::now();
            let row = session.run.test_while(&mut || began.elapsed().as_secs_f64() < for_s)?;
            session.take_events();
            session.requested = row.clone().or(session.requested.take());
            Ok(row.map(|row| row.values))
        };
        to_python(py, &self.work_on(py, test)?.map_err(refusal)?)
    }

    fn policy(&self, py: Python) -> PyResult<Policy> {
        Ok(Policy::new(self.here(py)?.run.policy().map_err(refusal)?))
    }

    fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.session(py)?.run.digest())
    }

    /// Digests (hashes of the weights) that the run reported at regular iterations.
    fn digests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.session(py)?.digests)
    }

    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.session(py)?.metrics.to_python(py)
    }

    fn tests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.session(py)?.tests.to_python(py)
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.session(py)?.run.progress())
    }

    fn solved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.session(py)?.run.solved())
    }

    fn standing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let session = self.session(py)?;
        to_python(py, &session.run.standing(session.requested.as_ref()))
    }

    fn attempts(&self, py: Python) -> PyResult<u32> {
        Ok(self.session(py)?.run.attempts())
    }

    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.session(py)?.run.config())
    }

    fn variant<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.session(py)?.run.variant())
    }

    fn knobs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.session(py)?.run.knobs())
    }

    /// Returns a link and a command line, each of which starts the same run.
    fn shared<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.session(py)?.run.shared())
    }

    fn backend<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.work_on(py, |session| session.run.backend())?)
    }

    /// Notices since the last call, as pairs `(level, text)`.
    fn notices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &std::mem::take(&mut self.session(py)?.notices))
    }

    /// Room events since the last call.
    fn room_events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &std::mem::take(&mut self.session(py)?.room_events))
    }
}

/// Computes pieces of an iteration, in any process. The data and the range come from `until_due`.
#[pyfunction]
pub fn play<'py>(
    py: Python<'py>,
    due: &Bound<'py, PyAny>,
    first: u64,
    end: u64,
    threads: &Bound<PyAny>,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let due = arrays::read::<u8, Ix1>(due, "due")?;
    let due = due.as_slice()?;
    let threads = Threads::apart(host::threads(Some(threads))?.unwrap_or(1))?;
    let host = Host::new(math::Isa::best());
    let played = py.detach(|| threads.run(|| ::run::play(due, first..end, host))).map_err(refusal)?;
    Ok(PyArray1::from_vec(py, played))
}
