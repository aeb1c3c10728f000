//! Policy of a run, applied to batches of observations.

use crate::arrays;
use crate::counts::whole;
use crate::host::{Turns, alone};
use numpy::{Ix2, PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Maximum number of repetitions in [`Policy::act_repeatedly`].
const MOST_TIMES: u64 = 1_000_000;

/// Policies and values of `n` states, with the shapes `[n][policy_len]` and `[n]`.
type Predicted<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>);

/// Copy of a run's policy at the time when this object was created.
#[pyclass(module = "hothouse._native", frozen)]
pub struct Policy {
    policy: Turns<Box<dyn run::room::Policy>>,
    observation_len: usize,
    policy_len: usize,
    action_len: usize,
}

impl Policy {
    pub fn new(policy: Box<dyn run::room::Policy>) -> Policy {
        let (observation_len, policy_len, action_len) = (policy.observation_len(), policy.policy_len(), policy.action_len());
        Policy { policy: Turns::new(policy), observation_len, policy_len, action_len }
    }

    /// Returns the observation values in row-major order, and the number of rows.
    fn rows<'a>(&self, observations: &'a PyReadonlyArray2<f32>) -> PyResult<(&'a [f32], usize)> {
        let (shape, width) = (observations.shape(), self.observation_len);
        if shape[1] != width {
            return Err(PyValueError::new_err(format!("observations must have shape (n, {width}), but these have {} columns", shape[1])));
        }
        Ok((observations.as_slice()?, shape[0]))
    }

    /// Returns the best action in each state, `[n][action_len]`. Performs the computation `times` times, for benchmarks.
    fn compute_actions(&self, py: Python, observations: &Bound<PyAny>, times: u64) -> PyResult<Vec<f32>> {
        let observations = borrow(observations)?;
        let (rows, count) = self.rows(&observations)?;
        let mut actions = vec![0.0; count * self.action_len];
        let learned = &mut *self.policy.take(py, || Ok(()))?;
        py.detach(|| alone(|| (0..times).for_each(|_| learned.act(rows, &mut actions))));
        Ok(actions)
    }
}

/// Borrows observations. Waits while environments write the array in another thread.
fn borrow<'py>(observations: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, f32>> {
    arrays::let_pass(observations.py());
    arrays::read::<f32, Ix2>(observations, "observations")
}

#[pymethods]
impl Policy {
    #[getter]
    fn observation_len(&self) -> usize {
        self.observation_len
    }

    #[getter]
    fn policy_len(&self) -> usize {
        self.policy_len
    }

    /// Best action in each state, with the shape `[n][action_len]`. A discrete action is its index.
    fn act<'py>(&self, py: Python<'py>, observations: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let actions = PyArray1::from_vec(py, self.compute_actions(py, observations, 1)?);
        let count = actions.len() / self.action_len;
        numpy::PyArrayMethods::reshape(&actions, [count, self.action_len])
    }

    /// Repeats [`Self::act`] without Python overhead, for benchmarks.
    fn act_repeatedly(&self, py: Python, observations: &Bound<PyAny>, times: &Bound<PyAny>) -> PyResult<()> {
        let times = whole("times", times, 1..=MOST_TIMES)?;
        self.compute_actions(py, observations, times).map(drop)
    }

    /// Policy and value of each state. A policy is the probability of each choice, or the means and then the standard deviations of a
    /// continuous action.
    fn predict<'py>(&self, py: Python<'py>, observations: &Bound<'py, PyAny>) -> PyResult<Predicted<'py>> {
        let observations = borrow(observations)?;
        let (rows, count) = self.rows(&observations)?;
        let width = self.policy_len;
        let (mut policy, mut values) = (vec![0.0; count * width], vec![0.0; count]);
        let learned = &mut *self.policy.take(py, || Ok(()))?;
        py.detach(|| alone(|| learned.predict(rows, &mut policy, &mut values)));
        let policy = PyArray1::from_vec(py, policy);
        Ok((numpy::PyArrayMethods::reshape(&policy, [count, width])?, PyArray1::from_vec(py, values)))
    }
}
