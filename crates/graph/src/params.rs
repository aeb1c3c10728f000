//! Trainable parameters as one contiguous slice, and a table of their names, shapes, offsets and initial values.
//!
//! Every tensor starts at a cache line; the floats between tensors stay zero. Gradients and optimiser moments are slices of the same length
//! and layout.

use crate::shape::{Shape, bytes, product};
use math::{Buffer, Isa, LINE, Rng};
use std::sync::Arc;

/// Initialisation of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    Zeros,
    Ones,
    /// Uniform in `-bound..bound`.
    Uniform(f32),
    /// Near-normal with mean 0 and this standard deviation.
    Normal(f32),
    /// Uniform in `±1/√cols`, as PyTorch's `Linear` initialises its weights.
    FanIn,
    /// Uniform in `±√(6/cols)`, for relu nets (He et al. 2015).
    Kaiming,
    /// Orthogonal rows, each with this Euclidean norm. If there are fewer columns than rows, the columns are orthogonal instead (Saxe et
    /// al. 2013).
    Orthogonal(f32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ParamSpec {
    pub name: Arc<str>,
    pub shape: Shape,
    /// True if files store the parameter as one dimension, `[cols]`.
    pub vector: bool,
    /// Offset of the first value in the slice of all parameters.
    pub offset: usize,
    pub init: Init,
}

impl ParamSpec {
    /// Returns the number of values, or `usize::MAX` if the number does not fit. A plan with such a parameter can report its memory needs,
    /// but cannot be executed.
    pub fn len(&self) -> usize {
        self.shape[0].saturating_mul(self.shape[1])
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset.saturating_add(self.len())
    }
    /// Returns the shape of the parameter in files.
    pub fn file_shape(&self) -> &[usize] {
        if self.vector { &self.shape[1..] } else { &self.shape }
    }
}

/// All parameters of a graph, in the order of their first use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    specs: Vec<ParamSpec>,
    /// Number of floats of all parameters and the gaps between them. On a 32-bit platform, the number may exceed `usize::MAX`.
    floats: u64,
}

impl Table {
    pub fn specs(&self) -> &[ParamSpec] {
        &self.specs
    }

    pub fn index(&self, name: &str) -> Option<usize> {
        self.specs.iter().position(|s| *s.name == *name)
    }

    /// Returns the number of floats of all parameters and the gaps between them, or `usize::MAX` if the number does not fit.
    pub fn len(&self) -> usize {
        usize::try_from(self.floats).unwrap_or(usize::MAX)
    }

    /// Returns the size of all parameters and the gaps between them, in bytes. [`Params::new`] panics if the size exceeds the address
    /// range, which is 32 bits in a browser.
    pub fn bytes(&self) -> u64 {
        bytes(self.floats)
    }

    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Returns the number of trained values, without the zeros between tensors.
    pub fn count(&self) -> usize {
        self.specs.iter().map(ParamSpec::len).fold(0, usize::saturating_add)
    }

    #[track_caller]
    pub(crate) fn add(&mut self, mut spec: ParamSpec) -> usize {
        if let Some(index) = self.index(&spec.name) {
            let known = &self.specs[index];
            assert_eq!((known.shape, known.vector), (spec.shape, spec.vector), "parameter {} has two shapes", spec.name);
            return index;
        }
        spec.offset = self.len();
        self.floats += product(spec.shape[0], spec.shape[1]).next_multiple_of(LINE as u64);
        self.specs.push(spec);
        self.specs.len() - 1
    }
}

#[derive(Clone, Debug)]
pub struct Params {
    table: Table,
    values: Buffer,
}

impl Params {
    /// Creates the initial values, which are the same on every machine. The values of a parameter depend only on the seed and on the
    /// parameter's name, shape and [`Init`].
    ///
    /// # Panics
    /// If this machine cannot address the parameters.
    pub fn new(table: &Table, seed: u32) -> Params {
        assert!(usize::try_from(table.bytes()).is_ok(), "this machine cannot address the parameters; check Table::bytes first");
        let mut values = Buffer::zeros(table.len());
        for spec in &table.specs {
            fill(&mut values[spec.range()], spec, seed);
        }
        Params { table: table.clone(), values }
    }

    pub fn table(&self) -> &Table {
        &self.table
    }
    /// Returns all tensors and the zeros between them.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
    pub(crate) fn parts(&mut self) -> (&[ParamSpec], &mut [f32]) {
        (&self.table.specs, &mut self.values)
    }
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        Some(&self.values[self.table.specs[self.table.index(name)?].range()])
    }
    pub fn get_mut(&mut self, name: &str) -> Option<&mut [f32]> {
        Some(&mut self.values[self.table.specs[self.table.index(name)?].range()])
    }
    /// Returns the number of trained values, without the zeros between tensors.
    pub fn count(&self) -> usize {
        self.table.count()
    }
}

/// Returns the index of a parameter's random stream: the FNV-1a hash of the parameter's name. A new parameter therefore does not change the
/// initial values of other parameters.
fn stream(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn fill(values: &mut [f32], spec: &ParamSpec, seed: u32) {
    let mut numbers = Rng::new(seed, stream(&spec.name)).sequence(0);
    let mut even = |bound: f32| values.iter_mut().for_each(|v| *v = (2.0 * numbers.uniform() - 1.0) * bound);
    let fan_in = spec.shape[1] as f32;
    match spec.init {
        Init::Zeros => values.fill(0.0),
        Init::Ones => values.fill(1.0),
        Init::Uniform(bound) => even(bound),
        Init::Normal(spread) => normal(values, spread, Rng::new(seed, stream(&spec.name))),
        Init::FanIn => even(1.0 / fan_in.sqrt()),
        Init::Kaiming => even((6.0 / fan_in).sqrt()),
        Init::Orthogonal(gain) => orthogonal(values, spec.shape, gain, || numbers.uniform()),
    }
}

/// Fills `values` with near-normal numbers of standard deviation `spread`. Each number is a scaled sum of six uniforms minus 3, which has
/// mean 0 and variance 1/2. The sum needs no logarithm, so a seed gives the same weights on every machine, and the loop vectorises.
fn normal(values: &mut [f32], spread: f32, rng: Rng) {
    const AT_ONCE: usize = 512;
    let mut uniforms = [0.0; 6 * AT_ONCE];
    let scale = spread * std::f32::consts::SQRT_2;
    for (fill, values) in values.chunks_mut(AT_ONCE).enumerate() {
        rng.fill_uniform(Isa::best(), fill as u32, &mut uniforms);
        for (value, six) in values.iter_mut().zip(uniforms.as_chunks::<6>().0) {
            *value = (six.iter().sum::<f32>() - 3.0) * scale;
        }
    }
}

/// Fills `values` with orthogonal rows or columns of norm `gain`. Orthogonalises near-normal numbers by Gram-Schmidt in f64. Every
/// operation is correctly rounded, so a seed gives the same weights on every machine.
fn orthogonal(values: &mut [f32], [rows, cols]: Shape, gain: f32, mut uniform: impl FnMut() -> f32) {
    // The sum of twelve uniforms minus 6 has mean 0 and variance 1, and needs no logarithm.
    let mut normal = || (0..12).map(|_| f64::from(uniform())).sum::<f64>() - 6.0;
    let (count, len) = (rows.min(cols), rows.max(cols));
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut v: Vec<f64> = (0..len).map(|_| normal()).collect();
        // The loop runs twice, because the second pass removes the rounding error of the first.
        for _ in 0..2 {
            for u in &basis {
                let dot: f64 = v.iter().zip(u).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(u).for_each(|(a, b)| *a -= dot * b);
            }
            let norm = v.iter().map(|a| a * a).sum::<f64>().sqrt();
            v.iter_mut().for_each(|a| *a /= norm);
        }
        basis.push(v);
    }
    for i in 0..rows {
        for j in 0..cols {
            let unit = if rows <= cols { basis[i][j] } else { basis[j][i] };
            values[i * cols + j] = (unit * f64::from(gain)) as f32;
        }
    }
}
