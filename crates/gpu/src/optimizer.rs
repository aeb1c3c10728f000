//! Adam over a region of parameters, as graph's `Optimizer` computes it: gradients beyond the maximum norm are scaled down, and a step with
//! a norm that is not finite changes nothing. Its settings are in `mem`, so the same dispatches serve every step. It counts its steps
//! itself, because a skipped step does not count.

use crate::program::{Memory, Program, Region, Space};
use graph::{Adam, Table};
use learn::Fault;
use math::AdamStep;
use std::ops::Range;

const TEXT: &str = include_str!("optimizer.wgsl");
const SIZE: usize = 256;
/// Floats per element.
const FOUR: usize = 4;
/// Alignment of a parameter in floats.
const LINE: usize = 16;
/// Minimum number of elements per thread if there are enough.
const SHARE: usize = 4;
const MOST_PARTS: usize = 1024;

/// Optimiser state: two moments per parameter, and the settings.
#[derive(Clone, Copy, Debug)]
pub struct Optimizer {
    pub m: Region,
    pub v: Region,
    /// The first float is the gradient norm of the newest step, before the clip.
    pub norm: Region,
    /// The sum of these words is the number of steps since the last reset.
    pub taken: Region,
    /// A nonzero value suppresses all steps until the next reset.
    pub hold: Region,
    /// One bit per line of the parameters: whether it belongs to a vector.
    vectors: Region,
    knobs: Region,
    /// 1 - β1ᵗ and 1 - β2ᵗ of the steps so far.
    corrections: Region,
}

impl Optimizer {
    /// Allocates the state for a number of parameters.
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

    /// Appends one step.
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

    /// Resets settings, corrections and count to the state after the given number of steps; takes effect with the next submit.
    pub fn reset_to(&self, adam: &Adam, steps: u64, memory: &Memory) {
        self.write(adam, memory);
        let last = AdamStep::new(steps, adam.lr, adam.beta1, adam.beta2, adam.eps);
        memory.write_floats(self.corrections, &[last.correction1, last.correction2]);
        memory.write_words(self.taken, &[0, 0]);
        memory.write_words(self.hold, &[0]);
    }

    /// Marks the parameters that are vectors, for a weight decay of matrices only. Initially none is marked.
    pub fn write_vectors(&self, table: &Table, memory: &Memory) {
        let mut vectors = vec![0u32; self.vectors.len as usize];
        for spec in table.specs().iter().filter(|spec| spec.vector) {
            let lines = spec.offset / LINE..spec.range().end.div_ceil(LINE);
            lines.for_each(|line| vectors[line / 32] |= 1 << (line % 32));
        }
        memory.write_words(self.vectors, &vectors);
    }

    /// Changes the settings and keeps the count. The betas must not change.
    pub fn write(&self, adam: &Adam, memory: &Memory) {
        let longest = adam.max_grad_norm.min(f32::MAX);
        let of_vectors = if adam.matrices_only { 0.0 } else { adam.weight_decay };
        let knobs = [adam.lr, adam.beta1, adam.beta2, adam.eps, adam.weight_decay, longest, of_vectors];
        memory.write_floats(self.knobs, &knobs);
    }
}

/// An optimiser that tracks the written state and writes only changes, for steps without an answer in between.
pub(crate) struct Following {
    pub optimizer: Optimizer,
    /// Number of steps at the last reset, and the settings written since.
    steps_before: u64,
    sent: Option<Adam>,
}

impl Following {
    pub fn new(optimizer: Optimizer) -> Following {
        Following { optimizer, steps_before: 0, sent: None }
    }

    /// Resets the optimiser to these moments and this number of steps.
    pub fn reset(&mut self, [m, v]: [&[f32]; 2], steps: u64, memory: &Memory) {
        memory.write_floats(self.optimizer.m, m);
        memory.write_floats(self.optimizer.v, v);
        (self.steps_before, self.sent) = (steps, None);
    }

    pub fn has_settings(&self, adam: &Adam) -> bool {
        self.sent == Some(*adam)
    }

    /// Applies these settings to the following steps.
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

    /// Prepares the count for reading. If no step has followed the reset, the reset has not been written yet.
    pub fn begin_count(&self, memory: &Memory) {
        if self.sent.is_none() {
            self.optimizer.reset_to(&Adam::default(), self.steps_before, memory);
        }
    }

    /// Total number of steps, given the number since the reset.
    pub fn steps(&self, counted: u64) -> u64 {
        self.steps_before + counted
    }
}
