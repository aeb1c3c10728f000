//! A vector of environments of one kind. Actions are a NumPy array. Each step overwrites the arrays of observations, rewards and flags.
//! Results do not depend on the number of threads.

use crate::arrays;
use crate::counts::{seed, whole};
use crate::errors::refusal;
use crate::host::{self, Threads, Turns};
use math::{Isa, Kernel, PANEL, Simd, dispatch};
use numpy::{Ix1, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use run::protocol::Dataset;
use std::sync::MutexGuard;
use worlds::control::vector::{TERMINATED, TRUNCATED};
use worlds::control::{Actions, COLOURS, Kind, Vector};

/// Number of environments per shard (group that one thread steps). The output of a shard fits into the first-level cache.
const SHARD: usize = 16 * PANEL;
/// Minimum number of state values per thread. With fewer values, waking the thread would take longer than its work.
const NUMBERS_A_THREAD: usize = 1 << 16;
/// Maximum number of environments. The limit detects typing errors in the requested number.
const MOST: u64 = 1 << 24;

/// Time at which the next episode of an environment starts after an episode has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Autoreset {
    /// The next step starts the episode, and ignores the environment's action.
    NextStep,
    /// The same step starts the episode. The last observation of the ended episode is returned separately.
    SameStep,
    /// Only a reset by the caller starts the episode.
    Disabled,
}

impl Autoreset {
    fn named(name: &str) -> Option<Autoreset> {
        let all = [("NextStep", Autoreset::NextStep), ("SameStep", Autoreset::SameStep), ("Disabled", Autoreset::Disabled)];
        all.into_iter().find(|(known, _)| *known == name).map(|(_, mode)| mode)
    }
}

/// Environments with consecutive indices, and the output of the last step.
struct Shard {
    world: Box<dyn Vector>,
    actions: Vec<f32>,
    reached: Vec<f32>,
    rewards: Vec<f32>,
    ended: Vec<u32>,
    /// Indices of the environments whose episode has ended and for which the next episode's first observation has not been returned yet.
    over: Vec<u32>,
    /// Indices of the environments whose episode ended in this step.
    found: Vec<u32>,
}

/// Output of a step for one shard.
struct Out<'a> {
    observations: &'a mut [f32],
    rewards: &'a mut [f32],
    terminated: &'a mut [bool],
    truncated: &'a mut [bool],
    /// Last observations of ended episodes; empty unless the autoreset is `SameStep`.
    last: &'a mut [f32],
    done: &'a mut [bool],
}

impl Shard {
    fn new(kind: &Kind, isa: Isa, first: usize, count: usize) -> Shard {
        let lanes = count.div_ceil(PANEL) * PANEL;
        Shard {
            world: (kind.many)(isa, 0, first as u32, count),
            actions: vec![0.0; lanes * kind.spec.actions.numbers()],
            reached: vec![0.0; lanes * kind.spec.observation.len()],
            rewards: vec![0.0; lanes],
            ended: vec![0; lanes],
            over: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Steps the shard; returns true if an episode ended.
    fn step(&mut self, isa: Isa, mode: Autoreset, out: &mut Out) -> bool {
        let features = self.reached.len() / self.rewards.len();
        // The next episode of the environments in `over` starts in this step, which ignores their actions.
        self.world.step_except(&self.over, &self.actions, &mut self.reached, &mut self.rewards, &mut self.ended);
        let panels = if mode == Autoreset::SameStep { self.world.observations() } else { &self.reached };
        dispatch(isa, Convert { panels, rewards: &self.rewards, ended: &self.ended, features, over: &mut self.found, out });
        for &env in &self.over {
            show(self.world.observations(), features, env as usize, out.observations);
        }
        self.over.clear();
        if mode == Autoreset::SameStep {
            for &env in &self.found {
                show(&self.reached, features, env as usize, out.last);
            }
        } else {
            std::mem::swap(&mut self.over, &mut self.found);
        }
        !(self.over.is_empty() && self.found.is_empty())
    }
}

/// Copies the observation of the environment `env` from `panels` into the row of this environment in `rows`.
fn show(panels: &[f32], features: usize, env: usize, rows: &mut [f32]) {
    let panel = &panels[env / PANEL * features * PANEL..];
    for (i, x) in rows[env * features..][..features].iter_mut().enumerate() {
        *x = panel[i * PANEL + env % PANEL];
    }
}

/// Converts the output of a step to NumPy's layout, and finds the episodes that ended.
struct Convert<'a, 'b> {
    panels: &'a [f32],
    rewards: &'a [f32],
    ended: &'a [u32],
    features: usize,
    /// Receives the indices of the environments whose episode ended.
    over: &'a mut Vec<u32>,
    out: &'a mut Out<'b>,
}

impl Kernel for Convert<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { panels, rewards, ended, features, over, out } = self;
        let count = out.rewards.len();
        out.rewards.copy_from_slice(&rewards[..count]);
        let flags = out.terminated.iter_mut().zip(out.truncated.iter_mut());
        for (&end, (terminated, truncated)) in ended[..count].iter().zip(flags) {
            *terminated = end & TERMINATED != 0;
            *truncated = end & TRUNCATED != 0;
        }
        out.done.iter_mut().zip(ended).for_each(|(done, &end)| *done = end != 0);
        over.clear();
        // Tests a whole panel at a time. The end of an episode is unpredictable, so a branch per environment would dominate the time.
        for (panel, ended) in ended.chunks_exact(PANEL).enumerate() {
            let mut bits = 0u32;
            for l in (0..PANEL).step_by(S::LANES) {
                let going = s.mask_bits(s.eq_u(s.load_u(&ended[l..]), s.splat_u(0)));
                bits |= (!going & u32::MAX >> (32 - S::LANES)) << l;
            }
            while bits != 0 {
                over.push((panel * PANEL) as u32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        // Removes lanes that have no environment.
        while over.pop_if(|&mut env| env as usize >= count).is_some() {}
        // A loop of constant length compiles to a few moves per environment.
        let out = &mut *out.observations;
        match features {
            2 => rows::<2>(panels, out),
            3 => rows::<3>(panels, out),
            4 => rows::<4>(panels, out),
            6 => rows::<6>(panels, out),
            8 => rows::<8>(panels, out),
            _ => (0..count).for_each(|env| show(panels, features, env, out)),
        }
    }
}

/// Transposes panels `[F][PANEL]` to rows of `F` features.
#[inline(always)]
fn rows<const F: usize>(panels: &[f32], out: &mut [f32]) {
    for (panel, rows) in panels.chunks_exact(F * PANEL).zip(out.chunks_mut(F * PANEL)) {
        let columns: [&[f32]; F] = std::array::from_fn(|i| &panel[i * PANEL..(i + 1) * PANEL]);
        for (lane, row) in rows.as_chunks_mut::<F>().0.iter_mut().enumerate() {
            for i in 0..F {
                row[i] = columns[i][lane];
            }
        }
    }
}

/// Actions of all environments, in the type that the environments expect.
#[derive(Clone, Copy)]
enum Batch<'a> {
    /// Discrete actions, and the number of choices.
    Choices(&'a [i64], u32),
    /// Continuous actions as rows, and the number of numbers in a row.
    Levels(&'a [f32], usize),
}

impl Batch<'_> {
    fn len(self) -> usize {
        match self {
            Batch::Choices(from, _) => from.len(),
            Batch::Levels(from, numbers) => from.len() / numbers * usize::from(from.len().is_multiple_of(numbers)),
        }
    }
}

/// Copies the actions of a shard. Returns true if all actions are valid: choices below the count, or finite numbers.
struct Take<'a> {
    batch: Batch<'a>,
    first: usize,
    to: &'a mut [f32],
}

impl Kernel for Take<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        match self.batch {
            Batch::Choices(from, count) => {
                // Compares 32-bit halves, because vectors compare them faster than 64-bit words.
                let (mut beyond, mut most) = (0, 0);
                for (&from, to) in shard(from, self.first, 1).iter().zip(self.to) {
                    let choice = from as u32;
                    beyond |= (from >> 32) as u32;
                    most = most.max(choice);
                    *to = choice.cast_signed() as f32;
                }
                beyond == 0 && most < count
            }
            Batch::Levels(from, 1) => {
                let mut all = true;
                for (&from, to) in shard(from, self.first, 1).iter().zip(self.to) {
                    all &= from.abs() < f32::INFINITY;
                    *to = from;
                }
                all
            }
            Batch::Levels(from, numbers) => {
                let from = shard(from, self.first, numbers);
                for (env, row) in from.chunks_exact(numbers).enumerate() {
                    let at = env / PANEL * numbers * PANEL + env % PANEL;
                    self.to[at..].iter_mut().step_by(PANEL).zip(row).for_each(|(to, &level)| *to = level);
                }
                from.iter().all(|level| level.is_finite())
            }
        }
    }
}

/// Returns the actions of the shard that begins at environment `first`. An action has `numbers` numbers.
fn shard<T>(all: &[T], first: usize, numbers: usize) -> &[T] {
    &all[first * numbers..all.len().min((first + SHARD) * numbers)]
}

/// Fields of [`Envs`] that a mutex protects.
struct State {
    shards: Vec<Shard>,
    /// True after the first reset.
    begun: bool,
}

/// Environments of one kind. Calls from several Python threads run one after the other.
#[pyclass(module = "hothouse._native", frozen)]
pub struct Envs {
    kind: Kind,
    isa: Isa,
    count: usize,
    mode: Autoreset,
    state: Turns<State>,
    threads: Threads,
    /// Observations of all environments. If the autoreset is `SameStep`, the array also contains the last observations of ended episodes.
    /// Both are in one array, because one attribute access in Python takes as long as some hundred steps of an environment.
    #[pyo3(get)]
    observations: Py<PyArray3<f32>>,
    #[pyo3(get)]
    rewards: Py<PyArray1<f32>>,
    /// Row of flags for termination, then row of flags for truncation. If the autoreset is `SameStep`, a third row has a flag for either of
    /// the two.
    #[pyo3(get)]
    flags: Py<PyArray2<bool>>,
    /// Permitted choices, one row per environment; `None` if all choices are always permitted.
    masks: Option<Py<PyArray2<bool>>>,
}

/// A shape of a picture: the name of its drawing function, the numeric arguments, the optional text, and the name of the colour.
type Drawn = (&'static str, Vec<f32>, Option<String>, String);

/// Returns the kind of environment that the file defines. Without a file, returns the built-in kind called `name`.
fn kind(name: &str, file: Option<Vec<u8>>) -> PyResult<Kind> {
    if let Some(content) = file {
        return run::control::kind_of(&Dataset::new(name, content)).map_err(refusal);
    }
    worlds::control::kind(name).cloned().ok_or_else(|| {
        let known = worlds::control::ids().join(", ");
        PyValueError::new_err(format!("there is no environment '{name}'. Choose one of: {known}. Or name a Python file (.py)"))
    })
}

impl Envs {
    fn features(&self) -> usize {
        self.kind.spec.observation.len()
    }

    fn check(&self, env: usize) -> PyResult<(usize, usize)> {
        if env >= self.count {
            return Err(PyIndexError::new_err(format!("there is no environment {env}. Choose 0 to {}", self.count - 1)));
        }
        Ok((env / SHARD, env % SHARD))
    }

    fn state_of(&self, py: Python) -> PyResult<MutexGuard<'_, State>> {
        self.state.take(py, || self.threads.here("this vector of environments"))
    }

    fn ready(&self, py: Python) -> PyResult<MutexGuard<'_, State>> {
        self.threads.here("this vector of environments")?;
        let state = self.state_of(py)?;
        if state.begun {
            return Ok(state);
        }
        Err(PyRuntimeError::new_err("the environments were not reset. Call reset() first"))
    }

    /// Copies the observations of the environments for whose index `which` returns true.
    fn show(&self, py: Python, shards: &[Shard], which: impl Fn(usize) -> bool) -> PyResult<()> {
        let mut rows = arrays::write(self.observations.bind(py))?;
        let features = self.features();
        let rows = &mut rows.as_slice_mut()?[..self.count * features];
        for (i, (shard, rows)) in shards.iter().zip(rows.chunks_mut(SHARD * features)).enumerate() {
            for env in (0..rows.len() / features).filter(|env| which(i * SHARD + env)) {
                show(shard.world.observations(), features, env, rows);
            }
        }
        Ok(())
    }

    /// Copies the actions to the shards. Checks all actions before any environment is stepped.
    fn take(&self, shards: &mut [Shard], actions: &Bound<PyAny>) -> PyResult<()> {
        match self.kind.spec.actions {
            Actions::Choices(count) => {
                let choices = arrays::read::<i64, Ix1>(actions, "actions")?;
                self.take_batch(shards, Batch::Choices(choices.as_slice()?, count))
            }
            Actions::Box { count, .. } => {
                let levels = arrays::read::<f32, Ix1>(actions, "actions")?;
                self.take_batch(shards, Batch::Levels(levels.as_slice()?, count as usize))
            }
        }
    }

    fn take_batch(&self, shards: &mut [Shard], batch: Batch) -> PyResult<()> {
        let given = batch.len();
        if given != self.count {
            return Err(PyValueError::new_err(format!(
                "{given} actions do not match {} environments. Give one action for each",
                self.count
            )));
        }
        let isa = self.isa;
        let copy_actions = |(i, shard): (usize, &mut Shard)| dispatch(isa, Take { batch, first: i * SHARD, to: &mut shard.actions });
        if shards.iter_mut().enumerate().all(copy_actions) {
            return Ok(());
        }
        Err(PyValueError::new_err(match batch {
            Batch::Choices(_, count) => {
                format!("an action is not in the range 0 to {}. Choose one in the range", count - 1)
            }
            Batch::Levels(..) => "an action is not a finite number. Give finite numbers".into(),
        }))
    }
}

/// Raises an error if `count` environments of this kind do not fit into the free memory. `apart` is 1 if the last observations of ended
/// episodes are separate, else 0.
fn check_memory(kind: &Kind, isa: Isa, count: u64, apart: usize) -> PyResult<()> {
    let (features, numbers) = (kind.spec.observation.len(), kind.spec.actions.numbers() + 2 * kind.mask_len());
    // An environment keeps its state twice at most, and its observation in the world, in the shard and in each array.
    let state = (kind.many)(isa, 0, 0, PANEL).state_len();
    let each = 4 * (2 * state + (3 + apart) * features + numbers + 4) as u64;
    let memory = files::memory_bytes();
    if count <= memory / each {
        return Ok(());
    }
    let [needed, free] = [count * each, memory].map(|bytes| bytes >> 20);
    Err(PyMemoryError::new_err(format!(
        "num_envs = {count} needs {needed} MB, but only {free} MB of memory are free. Choose at most {}",
        memory / each
    )))
}

/// Number of environments whose episode has ended and for which the next episode's first observation has not been returned yet.
fn over(shards: &[Shard]) -> usize {
    shards.iter().map(|shard| shard.over.len()).sum()
}

#[pymethods]
impl Envs {
    #[new]
    fn new(
        py: Python,
        name: &str,
        file: Option<Vec<u8>>,
        count: &Bound<PyAny>,
        mode: &str,
        threads: Option<&Bound<PyAny>>,
    ) -> PyResult<Envs> {
        let kind = kind(name, file)?;
        let (count, threads) = (whole("num_envs", count, 1..=MOST)?, host::threads(threads)?);
        let mode = Autoreset::named(mode)
            .ok_or_else(|| PyValueError::new_err(format!("there is no autoreset mode '{mode}'. Choose NextStep, SameStep or Disabled")))?;
        let isa = Isa::best();
        let apart = usize::from(mode == Autoreset::SameStep);
        check_memory(&kind, isa, count, apart)?;
        let count = count as usize;
        let shards: Vec<_> = (0..count).step_by(SHARD).map(|first| Shard::new(&kind, isa, first, SHARD.min(count - first))).collect();
        let busy = (count * shards[0].world.state_len()).div_ceil(NUMBERS_A_THREAD);
        let threads = Threads::new(threads.unwrap_or_else(|| busy.min(host::cores())).min(shards.len().max(1)))?;
        let (features, choices) = (kind.spec.observation.len(), kind.mask_len());
        Ok(Envs {
            kind,
            isa,
            count,
            mode,
            state: Turns::new(State { shards, begun: false }),
            threads,
            observations: PyArray3::zeros(py, [1 + apart, count, features], false).unbind(),
            rewards: PyArray1::zeros(py, count, false).unbind(),
            flags: PyArray2::zeros(py, [2 + apart, count], false).unbind(),
            masks: (choices > 0).then(|| PyArray2::zeros(py, [count, choices], false).unbind()),
        })
    }

    /// Number of choices (`None` if an action consists of numbers), number of numbers in an action, and lower and upper bound of these
    /// numbers.
    #[getter]
    fn actions(&self) -> (Option<u32>, u32, f64, f64) {
        match self.kind.spec.actions {
            Actions::Choices(count) => (Some(count), 1, 0.0, f64::from(count) - 1.0),
            Actions::Box { count, low, high } => (None, count, low, high),
        }
    }

    /// Permitted choices of all environments in their current states, as an array that the next call overwrites; `None` if all choices are
    /// always permitted.
    fn masks(&self, py: Python) -> PyResult<Option<Py<PyArray2<bool>>>> {
        let state = self.ready(py)?;
        let Some(masks) = &self.masks else { return Ok(None) };
        let mut rows = arrays::write(masks.bind(py))?;
        let choices = self.kind.mask_len();
        for (shard, rows) in state.shards.iter().zip(rows.as_slice_mut()?.chunks_mut(SHARD * choices)) {
            for (env, row) in rows.chunks_exact_mut(choices).enumerate() {
                let panel = &shard.world.masks()[env / PANEL * choices * PANEL..];
                row.iter_mut().enumerate().for_each(|(i, flag)| *flag = panel[i * PANEL + env % PANEL] != 0.0);
            }
        }
        Ok(Some(masks.clone_ref(py)))
    }

    /// Picture of an environment: width and height, and the shapes with their names, numbers, texts and colours.
    fn draw(&self, py: Python, env: usize) -> PyResult<([f32; 2], Vec<Drawn>)> {
        let (shard, lane) = self.check(env)?;
        let shapes = self.ready(py)?.shards[shard].world.draw(lane).map_err(|fault| PyRuntimeError::new_err(fault.to_string()))?;
        let shapes = shapes.into_iter().map(|shape| (shape.kind, shape.numbers, shape.text, shape.colour)).collect();
        Ok((self.kind.size.unwrap_or([10.0; 2]), shapes))
    }

    #[getter]
    fn threads(&self) -> usize {
        self.threads.count()
    }

    /// Number of environments whose episode has ended and for which the next episode's first observation has not been returned yet.
    #[getter]
    fn over(&self, py: Python) -> PyResult<usize> {
        Ok(over(&self.state_of(py)?.shards))
    }

    /// Restarts all environments from a seed.
    fn reset(&self, py: Python, number: &Bound<PyAny>) -> PyResult<()> {
        let seed = seed(number)?;
        self.threads.here("this vector of environments")?;
        let mut state = self.state_of(py)?;
        let State { shards, begun } = &mut *state;
        let threads = &self.threads;
        py.detach(|| {
            threads.run(|| {
                math::par::each_mut(shards, |i, shard| {
                    shard.world.reset(seed, (i * SHARD) as u32);
                    shard.over.clear();
                });
            });
        });
        *begun = true;
        self.show(py, shards, |_| true)
    }

    /// Starts the next episode of all environments, or of the environments for which `mask` is true.
    fn begin(&self, py: Python, mask: Option<&Bound<PyAny>>) -> PyResult<()> {
        let shards = &mut self.ready(py)?.shards;
        let mask = mask.map(|mask| arrays::read::<bool, Ix1>(mask, "mask")).transpose()?;
        let mask = mask.as_ref().map(|mask| mask.as_slice()).transpose()?;
        if mask.is_some_and(|mask| mask.len() != self.count) {
            return Err(PyValueError::new_err(format!("the mask does not match {} environments. Give one flag for each", self.count)));
        }
        let chosen = |env: usize| mask.is_none_or(|mask| mask[env]);
        for (i, shard) in shards.iter_mut().enumerate() {
            let over = std::mem::take(&mut shard.over);
            // For environments in `over`, the next episode has already started. This episode is kept, because its first observation has not
            // been returned yet.
            for env in (0..shard.world.count()).filter(|&env| chosen(i * SHARD + env) && !over.contains(&(env as u32))) {
                shard.world.begin(env);
            }
            shard.over = over.into_iter().filter(|&env| !chosen(i * SHARD + env as usize)).collect();
        }
        self.show(py, shards, chosen)
    }

    /// Steps all environments; returns true if an episode ended.
    fn step(&self, py: Python, actions: &Bound<PyAny>) -> PyResult<bool> {
        let shards = &mut self.ready(py)?.shards;
        if self.mode == Autoreset::Disabled && over(shards) > 0 {
            return Err(PyRuntimeError::new_err("episodes have ended. Reset those environments first"));
        }
        let (isa, mode, features) = (self.isa, self.mode, self.features());
        arrays::let_pass(py);
        self.take(shards, actions)?;
        let mut observations = arrays::write(self.observations.bind(py))?;
        let mut rewards = arrays::write(self.rewards.bind(py))?;
        let mut flags = arrays::write(self.flags.bind(py))?;
        let (observations, mut last) = observations.as_slice_mut()?.split_at_mut(self.count * features);
        let rewards = rewards.as_slice_mut()?;
        let (terminated, flags) = flags.as_slice_mut()?.split_at_mut(self.count);
        let (truncated, mut done) = flags.split_at_mut(self.count);
        let threads = &self.threads;
        let ended = py.detach(|| {
            let mut steps: Vec<(bool, &mut Shard, Out)> = Vec::with_capacity(shards.len());
            let flags = terminated.chunks_mut(SHARD).zip(truncated.chunks_mut(SHARD));
            let numbers = observations.chunks_mut(SHARD * features).zip(rewards.chunks_mut(SHARD));
            for ((shard, (observations, rewards)), (terminated, truncated)) in shards.iter_mut().zip(numbers).zip(flags) {
                let count = if done.is_empty() { 0 } else { rewards.len() };
                let out = Out {
                    observations,
                    rewards,
                    terminated,
                    truncated,
                    last: last.split_off_mut(..count * features).unwrap_or_default(),
                    done: done.split_off_mut(..count).unwrap_or_default(),
                };
                steps.push((false, shard, out));
            }
            threads.run(|| {
                math::par::each_mut(&mut steps, |_, (ended, shard, out)| *ended = shard.step(isa, mode, out));
            });
            steps.iter().any(|(ended, ..)| *ended)
        });
        match shards.iter().find_map(|shard| shard.world.fault()) {
            Some(fault) => Err(PyRuntimeError::new_err(fault.to_string())),
            None => Ok(ended),
        }
    }

    /// State values of an environment, and the number of steps in its current episode.
    fn state(&self, py: Python, env: usize) -> PyResult<(Vec<f32>, u32)> {
        let (shard, lane) = self.check(env)?;
        let world = &self.state_of(py)?.shards[shard].world;
        let mut state = vec![0.0; world.state_len()];
        let (steps, _) = world.environment(lane, &mut state);
        Ok((state, steps))
    }

    /// Sets the state of an environment and the number of steps in its current episode.
    fn set_state(&self, py: Python, env: usize, state: Vec<f32>, steps: u32) -> PyResult<()> {
        let shards = &mut self.ready(py)?.shards;
        let (at, lane) = self.check(env)?;
        let features = self.features();
        let shard = &mut shards[at];
        let mut now = vec![0.0; shard.world.state_len()];
        let (_, episodes) = shard.world.environment(lane, &mut now);
        shard.world.set_environment(lane, &state, steps, episodes).map_err(|_| {
            let spec = &self.kind.spec;
            PyValueError::new_err(format!(
                "invalid state of {} after {steps} steps. Give {} values ({}) within their bounds, and fewer steps than {}",
                spec.id,
                shard.world.state_len(),
                spec.state[..shard.world.state_len().min(4)].join(", "),
                spec.step_limit
            ))
        })?;
        shard.over.retain(|&over| over as usize != lane);
        let mut rows = arrays::write(self.observations.bind(py))?;
        let rows = &mut rows.as_slice_mut()?[at * SHARD * features..];
        show(shard.world.observations(), features, lane, rows);
        Ok(())
    }
}

/// Colours that shapes can have: red, green and blue, by name.
#[pyfunction]
fn colours(py: Python) -> PyResult<Bound<PyDict>> {
    let all = PyDict::new(py);
    COLOURS.iter().try_for_each(|&(name, [red, green, blue])| all.set_item(name, (red, green, blue)))?;
    Ok(all)
}

/// Names of the control environments.
#[pyfunction]
fn environments() -> Vec<&'static str> {
    worlds::control::ids()
}

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_class::<Envs>()?;
    module.add_function(wrap_pyfunction!(colours, module)?)?;
    module.add_function(wrap_pyfunction!(environments, module)?)
}
