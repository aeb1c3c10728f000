//! Text formats of the command-line program for runs and sweeps. Runs on a cluster use the same formats.

use crate::data::{from_python, to_python};
use crate::errors::refusal;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use run::outcomes::{Ended, Outcome};
use run::protocol::{Column, Knob, Knobs};
use run::{axis, format, outcomes, typed};

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<Axis>()?;
    module.add_function(wrap_pyfunction!(number, module)?)?;
    module.add_function(wrap_pyfunction!(typed_knobs, module)?)?;
    module.add_function(wrap_pyfunction!(clock, module)?)?;
    module.add_function(wrap_pyfunction!(figure, module)?)?;
    module.add_function(wrap_pyfunction!(named_knobs, module)?)?;
    module.add_function(wrap_pyfunction!(sweep_table, module)?)
}

/// A knob with its values: `lr=1e-4..1e-2:log`, `gamma=0.9..0.99` or `hidden=32,64,128`.
#[pyclass(frozen)]
pub struct Axis(axis::Axis);

#[pymethods]
impl Axis {
    #[staticmethod]
    fn read(text: &str) -> PyResult<Axis> {
        axis::axis(text).map(Axis).map_err(PyValueError::new_err)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Distinct values of the knob in the order of the text: the listed values, or `count` values of the range.
    #[pyo3(signature = (count, room, variant=None))]
    fn values<'py>(&self, py: Python<'py>, count: u32, room: &str, variant: Option<String>) -> PyResult<Bound<'py, PyAny>> {
        let values = self.0.values(count, &knobs(room, variant)?);
        to_python(py, &values.map_err(|error| PyValueError::new_err(error.to_string()))?)
    }
}

fn knobs(room: &str, variant: Option<String>) -> PyResult<Vec<Knob>> {
    let config = crate::run::config(room, variant)?;
    Ok(run::room(room).map_err(refusal)?.knobs(&config.variant))
}

fn column(room: &str, test: bool, name: &str) -> PyResult<&'static Column> {
    let schema = run::room(room).map_err(refusal)?.schema();
    let columns = if test { schema.tests } else { schema.metrics };
    let found = columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| PyValueError::new_err(format!("{room} has no column called '{name}'. Choose another")))
}

/// Parses a number such as `2000000`, `2_000_000` or `2e6`.
#[pyfunction]
fn number(text: &str) -> PyResult<f64> {
    typed::number(text).map_err(PyValueError::new_err)
}

/// Parses the values of knobs, given as pairs (name, text).
#[pyfunction]
fn typed_knobs<'py>(py: Python<'py>, room: &str, variant: Option<String>, given: Vec<(String, String)>) -> PyResult<Bound<'py, PyAny>> {
    let set = typed::set(&given, &knobs(room, variant)?);
    to_python(py, &set.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// Formats a duration, such as `12.3 s` or `4:07`.
#[pyfunction]
fn clock(seconds: f64) -> String {
    format::clock(seconds)
}

/// Formats a value of a test column if `test` is true, or else of a metric.
#[pyfunction]
fn figure(room: &str, test: bool, name: &str, value: Option<f64>) -> PyResult<String> {
    Ok(format::value(column(room, test, name)?, value))
}

/// Formats knobs, such as `lr=0.001 hidden=64`.
#[pyfunction]
fn named_knobs(knobs: &Bound<PyAny>) -> PyResult<String> {
    Ok(outcomes::named(&from_python::<Knobs>(knobs)?))
}

/// Three values per run: the result, the first counter at the time of the solution (`None` if the run was not solved), and a flag that is
/// true if the run diverged.
type Runs = Vec<(Option<f64>, Option<f64>, bool)>;

/// Table with one line per setting of the knobs. The table compares runs by the column `name`, which is a test column if `test` is true, or
/// else a metric.
#[pyfunction]
fn sweep_table(room: &str, test: bool, name: &str, settings: Vec<(Bound<PyAny>, Runs)>) -> PyResult<String> {
    let ended = |(result, solved_at, diverged)| Ended { result, solved_at, diverged };
    let outcome = |(knobs, runs): (Bound<PyAny>, Runs)| -> PyResult<Outcome> {
        let runs: Vec<Ended> = runs.into_iter().map(ended).collect();
        Ok(Outcome::of(&from_python(&knobs)?, &runs))
    };
    let settings = settings.into_iter().map(outcome).collect::<PyResult<Vec<_>>>()?;
    let counter = &run::room(room).map_err(refusal)?.schema().counters[0];
    Ok(outcomes::table(&settings, column(room, test, name)?, counter))
}
