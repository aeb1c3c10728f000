//! Adam over a region of parameters, with the formulas of `graph::Optimizer`. Gradients whose norm exceeds the maximum are scaled down. A
//! step is skipped if the norm is not finite. The settings are in GPU memory (`mem`), so that all steps use the same dispatches. A kernel
//! counts the steps that were not skipped.

use crate::program::{Memory, Program, Region, Space};
use crate::shader::include_wgsl;
use graph::{Adam, Table};
use learn::Fault;
use math::AdamStep;
use std::ops::Range;

const TEXT: &str = include_wgsl!("optimizer.wgsl");
const SIZE: usize = 256;
/// Number of floats of an element, which is a `vec4<f32>` in the kernel.
const FOUR: usize = 4;
/// Alignment of a parameter tensor, in floats.
const LINE: usize = 16;
/// Maximum number of elements per thread. A thread has more elements only if there would otherwise be more than `MOST_PARTS` workgroups.
const SHARE: usize = 4;
const MOST_PARTS: usize = 1024;

/// Regions of the optimiser state: two moments per parameter, and the settings.
#[derive(Clone, Copy, Debug)]
pub struct Optimizer {
    pub m: Region,
    pub v: Region,
    /// Four floats; the first is the gradient norm of the latest step, before clipping.
    pub norm: Region,
    /// Two words, whose sum is the number of steps since the last reset. Skipped steps do not count.
    pub taken: Region,
    /// One word; if it is nonzero, all steps are skipped until the next reset.
    pub hold: Region,
    /// One bit per 16 adjacent parameters: 1 if the parameters belong to a vector (a one-dimensional tensor), else 0.
    vectors: Region,
    knobs: Region,
    /// 1 - β1ᵗ and 1 - β2ᵗ, where t is the number of steps before the latest step, without skipped steps.
    corrections: Region,
}

impl Optimizer {
    /// Reserves the regions for a number of parameters.
    pub fn new(parameters: usize, space: &mut Space) -> Optimizer {
        let counts = space.words(3);
        Optimizer {
            m: space.floats(parameters),
            v: space.floats(parameters),
            norm: space.floats(FOUR),
            taken: counts.part(0, 2),
            hold: counts.part(2, 1),
            vectors: space.words(parameters.div_ceil(32 * LINE)),
            knobs: space.floats(2 * FOUR),
            corrections: space.floats(FOUR),
        }
    }

    /// Appends the dispatches of one step; returns their range.
    pub fn step(&self, params: Region, grads: Region, space: &mut Space, program: &mut Program) -> Range<usize> {
        assert!(params.len == self.m.len && grads.len == self.m.len, "parameters, gradients and moments must have the same length");
        let len = (self.m.len as usize).div_ceil(FOUR);
        let parts = len.div_ceil(SIZE * SHARE).clamp(1, MOST_PARTS);
        let squares = space.floats(parts * FOUR);
        let first = program.len();
        let four = |region: Region| region.at / FOUR as u32;
        let [params, grads, m, v] = [params, grads, self.m, self.v].map(four);
        let [knobs, corrections, squares, norm] = [self.knobs, self.corrections, squares, self.norm].map(four);
        let (len, parts) = (len as u32, parts as u32);
        let counts = [self.taken.at, self.vectors.at];
        let args = [params, grads, m, v, len, knobs, corrections, squares, norm, parts, counts[0], counts[1]];
        let reduce = program.gpu().shared.reduce;
        let text = TEXT.replace("#BUILTINS", reduce.builtins()).replace("#PLACE", reduce.place());
        let reductions = reduce.across(SIZE, &[("whole_sum", "+")]);
        for length in [true, false] {
            let text = format!("const LENGTH = {length};\n{reductions}{text}");
            let kernel = program.kernel_with("adam", reduce.directives(), true, &text);
            program.dispatch(&kernel, &args, [parts, 1, 1]);
        }
        first..program.len()
    }

    /// Resets the settings, the corrections and the count to the state after `steps` steps. Takes effect with the next submit.
    pub fn reset_to(&self, adam: &Adam, steps: u64, memory: &Memory) {
        self.write(adam, memory);
        let last = AdamStep::new(steps, adam.lr, adam.beta1, adam.beta2, adam.eps);
        memory.write_floats(self.corrections, &[last.correction1, last.correction2]);
        memory.write_words(self.taken, &[0, 0]);
        memory.write_words(self.hold, &[0]);
    }

    /// Marks the parameters that belong to vectors, so that weight decay can exclude them. Before this call, no parameter is marked.
    pub fn write_vectors(&self, table: &Table, memory: &Memory) {
        let mut vectors = vec![0u32; self.vectors.len as usize];
        for spec in table.specs().iter().filter(|spec| spec.vector) {
            let lines = spec.offset / LINE..spec.range().end.div_ceil(LINE);
            lines.for_each(|line| vectors[line / 32] |= 1 << (line % 32));
        }
        memory.write_words(self.vectors, &vectors);
    }

    /// Changes the settings; the count of steps continues. The betas must not change.
    pub fn write(&self, adam: &Adam, memory: &Memory) {
        let longest = adam.max_grad_norm.min(f32::MAX);
        let of_vectors = if adam.matrices_only { 0.0 } else { adam.weight_decay };
        let knobs = [adam.lr, adam.beta1, adam.beta2, adam.eps, adam.weight_decay, longest, of_vectors];
        memory.write_floats(self.knobs, &knobs);
    }
}

/// Optimiser with a copy on the CPU of the settings that the GPU has. A caller can therefore write the settings only when they change,
/// without a readback.
pub(crate) struct Following {
    pub optimizer: Optimizer,
    /// Number of steps at the last reset.
    steps_before: u64,
    /// Settings on the GPU; `None` if no settings have been written since the last reset.
    sent: Option<Adam>,
}

impl Following {
    pub fn new(optimizer: Optimizer) -> Following {
        Following { optimizer, steps_before: 0, sent: None }
    }

    /// Resets the optimiser. `m` and `v` are the new moments, and `steps` is the new number of steps.
    pub fn reset(&mut self, [m, v]: [&[f32]; 2], steps: u64, memory: &Memory) {
        memory.write_floats(self.optimizer.m, m);
        memory.write_floats(self.optimizer.v, v);
        (self.steps_before, self.sent) = (steps, None);
    }

    pub fn has_settings(&self, adam: &Adam) -> bool {
        self.sent == Some(*adam)
    }

    /// Writes the settings of the next steps to the GPU. Returns an error if `adam` changes the betas.
    pub fn follow(&mut self, adam: &Adam, memory: &Memory) -> Result<(), Fault> {
        match self.sent {
            None => self.optimizer.reset_to(adam, self.steps_before, memory),
            Some(sent) if [sent.beta1, sent.beta2] != [adam.beta1, adam.beta2] => {
                return Err(Fault::Unknown { what: "an Adam whose betas change".into() });
            }
            Some(_) => self.optimizer.write(adam, memory),
        }
        self.sent = Some(*adam);
        Ok(())
    }

    /// Makes the count of steps valid for a readback: if no step has run since a reset, writes this reset to the GPU.
    pub fn begin_count(&self, memory: &Memory) {
        if self.sent.is_none() {
            self.optimizer.reset_to(&Adam::default(), self.steps_before, memory);
        }
    }

    /// Returns the total number of steps; `counted` is the number of steps since the last reset.
    pub fn steps(&self, counted: u64) -> u64 {
        self.steps_before + counted
    }
}
