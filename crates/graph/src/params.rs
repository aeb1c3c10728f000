//! What is trained, as one contiguous slice: names, shapes, offsets, first values, files.
//!
//! Every tensor starts at a cache line; the few floats between tensors stay zero. Gradients and
//! optimiser moments are slices of the same length and layout.

use crate::buffer::{Buffer, LINE};
use crate::graph::Shape;
use math::Rng;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::sync::Arc;

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    Zeros,
    Ones,
    /// Even in `-bound..bound`.
    Uniform(f32),
    /// Even in `±1/√cols`, as PyTorch's `Linear` starts its weights.
    FanIn,
    /// Even in `±√(6/cols)`, for relu nets (He et al. 2015).
    Kaiming,
    /// Rows (or columns, where there are fewer) orthogonal and of this length (Saxe et al. 2013).
    Orthogonal(f32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ParamSpec {
    pub name: Arc<str>,
    pub shape: Shape,
    /// One-dimensional in files: `[cols]`.
    pub vector: bool,
    /// Place of the first value in the slice.
    pub offset: usize,
    pub init: Init,
}

impl ParamSpec {
    pub fn len(&self) -> usize {
        self.shape[0] * self.shape[1]
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len()
    }
    /// The shape in files.
    pub fn file_shape(&self) -> &[usize] {
        if self.vector { &self.shape[1..] } else { &self.shape }
    }
}

/// All parameters of a graph, in the order they were first named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    specs: Vec<ParamSpec>,
}

impl Table {
    pub fn specs(&self) -> &[ParamSpec] {
        &self.specs
    }

    pub fn index(&self, name: &str) -> Option<usize> {
        self.specs.iter().position(|s| *s.name == *name)
    }

    /// Floats of the whole slice.
    pub fn len(&self) -> usize {
        self.specs.last().map_or(0, |s| (s.offset + s.len()).next_multiple_of(LINE))
    }

    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Trained values, without the gaps between tensors.
    pub fn count(&self) -> usize {
        self.specs.iter().map(ParamSpec::len).sum()
    }

    #[track_caller]
    pub(crate) fn add(&mut self, mut spec: ParamSpec) -> usize {
        if let Some(index) = self.index(&spec.name) {
            let known = &self.specs[index];
            assert_eq!(
                (known.shape, known.vector),
                (spec.shape, spec.vector),
                "parameter {} has two shapes",
                spec.name
            );
            return index;
        }
        spec.offset = self.len();
        self.specs.push(spec);
        self.specs.len() - 1
    }
}

/// A file that does not fit.
#[derive(Debug, thiserror::Error)]
pub enum ParamsError {
    #[error("this is not a whole safetensors file ({0}); save it again and copy all of it")]
    File(#[from] safetensors::SafeTensorError),
    #[error("the file has no tensor {name}; load a file saved from the same network")]
    Missing { name: String },
    #[error("tensor {name} has shape {found:?}, not {expected:?}; load a file saved from the same network")]
    Shape { name: String, found: Vec<usize>, expected: Vec<usize> },
    #[error("tensor {name} holds {found:?}, not F32; convert it first")]
    Dtype { name: String, found: Dtype },
    #[error("tensor {name} holds a value that is not finite; load an earlier file")]
    NotFinite { name: String },
}

#[derive(Clone, Debug)]
pub struct Params {
    table: Table,
    values: Buffer,
}

impl Params {
    /// First values, a function of the seed and each parameter's name alone, the same on every machine.
    pub fn new(table: &Table, seed: u32) -> Params {
        let mut values = Buffer::zeros(table.len());
        for spec in &table.specs {
            fill(&mut values[spec.range()], spec, seed);
        }
        Params { table: table.clone(), values }
    }

    pub fn table(&self) -> &Table {
        &self.table
    }
    /// All tensors and the zeros between them.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        Some(&self.values[self.table.specs[self.table.index(name)?].range()])
    }
    pub fn get_mut(&mut self, name: &str) -> Option<&mut [f32]> {
        Some(&mut self.values[self.table.specs[self.table.index(name)?].range()])
    }
    /// Trained values.
    pub fn count(&self) -> usize {
        self.table.count()
    }

    /// A safetensors file: every parameter in f32 by name and shape.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, ParamsError> {
        let bytes: Vec<Vec<u8>> = self
            .table
            .specs
            .iter()
            .map(|s| self.values[s.range()].iter().flat_map(|v| v.to_le_bytes()).collect())
            .collect();
        let views = self.table.specs.iter().zip(&bytes).map(|(spec, data)| {
            TensorView::new(Dtype::F32, spec.file_shape().to_vec(), data).map(|view| (&*spec.name, view))
        });
        Ok(safetensors::serialize(views.collect::<Result<Vec<_>, _>>()?, None)?)
    }

    /// Takes every parameter from a safetensors file; other tensors in it are left alone. Changes
    /// nothing unless all of them fit.
    pub fn load_safetensors(&mut self, file: &[u8]) -> Result<(), ParamsError> {
        let file = SafeTensors::deserialize(file)?;
        let mut values = Buffer::zeros(self.values.len());
        for spec in &self.table.specs {
            let name = spec.name.to_string();
            let Ok(view) = file.tensor(&name) else { return Err(ParamsError::Missing { name }) };
            if view.dtype() != Dtype::F32 {
                return Err(ParamsError::Dtype { name, found: view.dtype() });
            }
            if view.shape() != spec.file_shape() {
                let (found, expected) = (view.shape().to_vec(), spec.file_shape().to_vec());
                return Err(ParamsError::Shape { name, found, expected });
            }
            for (value, bytes) in values[spec.range()].iter_mut().zip(view.data().as_chunks::<4>().0) {
                *value = f32::from_le_bytes(*bytes);
                if !value.is_finite() {
                    return Err(ParamsError::NotFinite { name });
                }
            }
        }
        self.values.copy_from_slice(&values);
        Ok(())
    }
}

/// A stream of its own for each name, so that adding a parameter changes no other (FNV-1a).
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
        Init::FanIn => even(1.0 / fan_in.sqrt()),
        Init::Kaiming => even((6.0 / fan_in).sqrt()),
        Init::Orthogonal(gain) => orthogonal(values, spec.shape, gain, || numbers.uniform()),
    }
}

/// Gram-Schmidt on rows of near-normal numbers, in f64 with operations that are exactly rounded
/// everywhere, so that a seed means the same weights on every machine.
fn orthogonal(values: &mut [f32], [rows, cols]: Shape, gain: f32, mut uniform: impl FnMut() -> f32) {
    // The sum of twelve uniforms less 6 has mean 0, variance 1 and needs no logarithm.
    let mut normal = || (0..12).map(|_| f64::from(uniform())).sum::<f64>() - 6.0;
    let (count, len) = (rows.min(cols), rows.max(cols));
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut v: Vec<f64> = (0..len).map(|_| normal()).collect();
        // Twice: the second pass removes what rounding left.
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
