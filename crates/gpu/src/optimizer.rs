//! Adam over a region of parameters, as graph's `Optimizer` does it: gradients that are together longer than allowed
//! are scaled down, and where their length is not finite nothing changes. What it is told stands in `mem`, so the same
//! dispatches serve every step; how many steps it took it counts itself, since one that is left out does not count.

use crate::program::{Memory, Program, Region, Space};
use graph::{Adam, Table};
use learn::Fault;
use math::AdamStep;
use std::ops::Range;

const TEXT: &str = include_str!("optimizer.wgsl");
const SIZE: usize = 256;
/// Floats in an element.
const FOUR: usize = 4;
/// A parameter begins at a multiple of so many floats.
const LINE: usize = 16;
/// Elements that a thread takes at least, where there are as many.
const SHARE: usize = 4;
const MOST_PARTS: usize = 1024;

/// The optimiser's memory: two moments of every parameter, and what it is told.
#[derive(Clone, Copy, Debug)]
pub struct Optimizer {
    pub m: Region,
    pub v: Region,
    /// The first of these is the gradient's length at the newest step, before it was clipped.
    pub norm: Region,
    /// The sum of these is the number of steps taken since it was told.
    pub taken: Region,
    /// Whoever writes something else than 0 there holds back all steps until it is told again.
    pub hold: Region,
    /// A bit for each line of the parameters: whether it is a vector's.
    vectors: Region,
    knobs: Region,
    /// 1 - β1ᵗ and 1 - β2ᵗ of the steps taken so far.
    corrections: Region,
}

impl Optimizer {
    /// For so many parameters.
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
        assert!(params.len == self.m.len && grads.len == self.m.len, "as many of all as parameters");
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

    /// Tells it how to go on after so many steps; in force from the next submit on.
    pub fn tell(&self, adam: &Adam, steps: u64, memory: &Memory) {
        self.write(adam, memory);
        let last = AdamStep::new(steps, adam.lr, adam.beta1, adam.beta2, adam.eps);
        memory.write_floats(self.corrections, &[last.correction1, last.correction2]);
        memory.write_words(self.taken, &[0, 0]);
        memory.write_words(self.hold, &[0]);
    }

    /// Says which parameters are vectors, for a decay of matrices alone; before, none is.
    pub fn write_vectors(&self, table: &Table, memory: &Memory) {
        let mut vectors = vec![0u32; self.vectors.len as usize];
        for spec in table.specs().iter().filter(|spec| spec.vector) {
            let lines = spec.offset / LINE..spec.range().end.div_ceil(LINE);
            lines.for_each(|line| vectors[line / 32] |= 1 << (line % 32));
        }
        memory.write_words(self.vectors, &vectors);
    }

    /// Changes its settings while it goes on counting; its betas have to stay as they are.
    pub fn write(&self, adam: &Adam, memory: &Memory) {
        let longest = adam.max_grad_norm.min(f32::MAX);
        let of_vectors = if adam.matrices_only { 0.0 } else { adam.weight_decay };
        let knobs = [adam.lr, adam.beta1, adam.beta2, adam.eps, adam.weight_decay, longest, of_vectors];
        memory.write_floats(self.knobs, &knobs);
    }
}

/// An optimiser that knows where it stands and is told only what changes: for steps without an answer in between.
pub(crate) struct Following {
    pub optimizer: Optimizer,
    /// Steps when it was set to where it stands, and what it was told since.
    steps_before: u64,
    told: Option<Adam>,
}

impl Following {
    pub fn new(optimizer: Optimizer) -> Following {
        Following { optimizer, steps_before: 0, told: None }
    }

    /// From here on it goes on after so many steps with these moments.
    pub fn stand(&mut self, [m, v]: [&[f32]; 2], steps: u64, memory: &Memory) {
        memory.write_floats(self.optimizer.m, m);
        memory.write_floats(self.optimizer.v, v);
        (self.steps_before, self.told) = (steps, None);
    }

    pub fn knows(&self, adam: &Adam) -> bool {
        self.told == Some(*adam)
    }

    /// Steps that follow are by these settings.
    pub fn follow(&mut self, adam: &Adam, memory: &Memory) -> Result<(), Fault> {
        match self.told {
            None => self.optimizer.tell(adam, self.steps_before, memory),
            Some(told) if [told.beta1, told.beta2] != [adam.beta1, adam.beta2] => {
                return Err(Fault::Unknown { what: "an Adam whose betas change".into() });
            }
            Some(_) => self.optimizer.write(adam, memory),
        }
        self.told = Some(*adam);
        Ok(())
    }

    /// Before its count is read: without a step since it stood here, counting has not begun.
    pub fn begin_count(&self, memory: &Memory) {
        if self.told.is_none() {
            self.optimizer.tell(&Adam::default(), self.steps_before, memory);
        }
    }

    /// Steps in all, of which it counted so many.
    pub fn steps(&self, counted: u64) -> u64 {
        self.steps_before + counted
    }
}
