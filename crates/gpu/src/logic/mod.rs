//! Populations of logic automata on a GPU. One submit performs a whole update of all members (automata), from the gates' parameters to
//! AdamW.
//!
//! A row holds one number of the computation (an input or the output of a gate) for each cell of each sample (`common.wgsl`). One dispatch
//! computes one layer of rows for all members of a group. The states of every step are stored, but only the rows of the last step. The
//! backward pass computes the rows of the earlier steps again.
//!
//! A slope is the derivative of the loss with respect to a number. For each number, one thread adds up the slopes from the gates that read
//! the number. For each gate, one workgroup adds up the slopes of the gate's coefficients. No sum therefore depends on the execution order.
//!
//! Parameters, moments and wires (the inputs of each gate) stay on the GPU. Initial states and target states are uploaded for each update,
//! and the members' state is read back on request. All members are one group if their rows fit into memory. Otherwise, there are several
//! groups, which are processed one after another.

mod rows;

use crate::device::{Gpu, InFlight, Submitted};
use crate::program::{Arrived, Memory, Program, Readback, Region, Space};
use crate::shader::include_wgsl;
use crate::text::Text;
use learn::Fault;
use learn::logic::automaton::GateForm;
use learn::logic::offload::{Accelerator, OffloadSpec, Trained};
use learn::logic::train::{Optimiser, StepStats, Trainer};
use learn::logic::{PURPOSE_FIRE, PURPOSE_GUMBEL};
use learn::offload::serve;
use math::AdamStep;
use rows::Rows;
use std::any::Any;

/// Number of threads of most workgroups.
const SIZE: usize = 64;
/// Number of lanes (cells of samples) that one workgroup of a layer computes: four per thread.
const BLOCK: usize = 4 * SIZE;
/// Maximum size of the memory for rows in bytes, small enough for devices with little memory. A single member may need more.
const MOST_BYTES: u64 = 1 << 30;
/// Maximum number of pending submits. At this limit, the next submit waits until the oldest submit is done, if the platform can wait.
const IN_FLIGHT: usize = 8;
/// Number of words per member in `Words::standing`: the seed, the number of updates, 1 if the member trains (else 0), and 0.
const STANDING: usize = 4;
/// Number of floats of the optimiser's settings.
const KNOBS: usize = 6;
/// Maximum number of workgroups in one dimension. This limit also applies to rows, because row indices have 16 bits.
const MOST: usize = 65_535;

/// Creates a population of logic automata if `request` is an [`OffloadSpec`]; else returns `None`.
pub fn special(gpu: &Gpu, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
    serve(request, |spec: &OffloadSpec| Ok(Box::new(GpuPopulation::new(gpu, spec)?) as Box<dyn Accelerator>))
}

/// Regions of floats. Some persist between updates; the others hold the inputs or results of one update. `common.wgsl` defines their
/// layouts.
struct Floats {
    params: Region,
    m: Region,
    v: Region,
    coefficients: Region,
    slopes: Region,
    states: Region,
    d_state: Region,
    targets: Region,
    squares: Region,
    sums: Region,
    knobs: Region,
    corrections: Region,
}

struct Words {
    standing: Region,
    wires: Region,
    readers_begin: Region,
    readers: Region,
    gate_of: Region,
    rows_of: Region,
}

pub struct GpuPopulation {
    gpu: Gpu,
    spec: OffloadSpec,
    rows: Rows,
    memory: Memory,
    program: Program,
    floats: Floats,
    words: Words,
    readback: Readback,
    /// Seed and number of updates of each member.
    standing: Vec<(u32, u64)>,
    in_flight: InFlight,
    asked: Option<Submitted>,
}

impl GpuPopulation {
    pub fn new(gpu: &Gpu, spec: &OffloadSpec) -> Result<GpuPopulation, Fault> {
        gpu.check()?;
        let rows = Rows::new(&spec.architecture);
        let (members, gates) = (spec.members, spec.architecture.gates());
        if rows.count > MOST || gates > MOST || members > MOST {
            let what = format!("a population of {members} automata with {} numbers a cell", rows.count);
            return Err(Fault::Unknown { what: format!("{what}, where at most {MOST} of each") });
        }
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let [state, target] = spec.sizes();
        let params = members * spec.params();
        let floats = Floats {
            params: space.floats(params),
            m: space.floats(params),
            v: space.floats(params),
            coefficients: space.floats(4 * members * gates),
            slopes: space.floats(4 * members * gates),
            states: space.floats((spec.rollout.steps + 1) * members * state),
            d_state: space.floats(members * state),
            targets: space.floats(members * target),
            squares: space.floats(members * gates),
            sums: space.floats(2 * members),
            knobs: space.floats(KNOBS),
            corrections: space.floats(2 * members),
        };
        let words = Words {
            standing: space.words(STANDING * members),
            wires: space.words(members * rows.gates()),
            readers_begin: space.words(members * (rows.count + 1)),
            readers: space.words(2 * members * rows.gates()),
            gate_of: space.words(rows.gates()),
            rows_of: space.words(3 * gates),
        };
        let padded = (state / spec.architecture.channels).next_multiple_of(BLOCK);
        let a_member = rows.count * padded;
        // Maximum number of floats in each of `x` (values of the rows) and `d` (slopes of these values).
        let room = gpu.largest_buffer().saturating_sub(space.float_bytes()).min(MOST_BYTES) / 8;
        let fit = ((room / a_member as u64) as usize).clamp(1, members);
        let together = members.div_ceil(members.div_ceil(fit));
        let x = space.floats(together * a_member);
        let d = space.floats(together * a_member);

        let mut build = Build { spec, rows: &rows, floats: &floats, words: &words, x, d, padded, program: &mut program };
        for first in (0..members).step_by(together) {
            build.update(first, together.min(members - first));
        }
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        memory.write_words(words.gate_of, &rows.gate_of);
        memory.write_words(words.rows_of, rows.rows_of.as_flattened());
        let readback = Readback::new(&memory, &[floats.sums, floats.params, floats.m, floats.v], &[]);
        gpu.check()?;
        Ok(GpuPopulation {
            gpu: gpu.clone(),
            spec: spec.clone(),
            rows,
            memory,
            program,
            floats,
            words,
            readback,
            standing: vec![(0, 0); members],
            in_flight: InFlight::new(IN_FLIGHT),
            asked: None,
        })
    }

    /// Returns the number of dispatches of one update.
    pub fn dispatches(&self) -> usize {
        self.program.len()
    }

    /// Returns the size of all buffers on the GPU, in bytes.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    fn submit(&mut self, encoder: wgpu::CommandEncoder) -> Result<Submitted, Fault> {
        let submitted = self.in_flight.submit(&self.gpu, encoder);
        self.gpu.check()?;
        Ok(submitted)
    }
}

impl Accelerator for GpuPopulation {
    fn set_member(&mut self, member: usize, trainer: &Trainer) -> Result<(), Fault> {
        let state = trainer.state();
        let floats = &self.floats;
        for (region, values) in [(floats.params, state.weights), (floats.m, state.m), (floats.v, state.v)] {
            self.memory.write_floats(region.part(member * values.len(), values.len()), values);
        }
        let wires = self.rows.wires(&trainer.automaton().wirings);
        let (begins, readers) = self.rows.readers(&wires);
        let packed: Vec<u32> = wires.iter().map(|&[a, b]| a | b << 16).collect();
        let words = &self.words;
        for (region, values) in [(words.wires, packed), (words.readers_begin, begins), (words.readers, readers)] {
            self.memory.write_words(region.part(member * values.len(), values.len()), &values);
        }
        self.standing[member] = (trainer.seed(), state.steps);
        self.gpu.check()
    }

    fn step(&mut self, optimiser: &Optimiser, learns: &[bool], starts: &[f32], targets: &[f32]) -> Result<(), Fault> {
        let Optimiser { lr, beta1, beta2, eps, weight_decay, clip } = *optimiser;
        let (mut standing, mut corrections) = (Vec::new(), Vec::new());
        for ((seed, updates), &learns) in self.standing.iter_mut().zip(learns) {
            standing.extend([*seed, *updates as u32, u32::from(learns), 0]);
            *updates += u64::from(learns);
            let step = AdamStep::new((*updates).max(1), lr, beta1, beta2, eps);
            corrections.extend([1.0 / step.correction1, 1.0 / step.correction2]);
        }
        let [state, _] = self.spec.sizes();
        let begin = self.floats.states.part(0, self.spec.members * state);
        // The GPU executes these writes after the pending updates.
        self.memory.write_words(self.words.standing, &standing);
        self.memory.write_floats(self.floats.corrections, &corrections);
        self.memory.write_floats(self.floats.knobs, &[lr, beta1, beta2, eps, weight_decay, clip]);
        self.memory.write_floats(begin, starts);
        self.memory.write_floats(self.floats.targets, targets);
        let mut encoder = self.gpu.encoder();
        self.program.encode(&mut encoder, 0..self.program.len());
        self.submit(encoder).map(|_| ())
    }

    fn ask(&mut self) -> Result<(), Fault> {
        if self.asked.is_some() {
            return Err(Fault::Refused { why: "a result was requested while another is pending".into() });
        }
        let mut encoder = self.gpu.encoder();
        self.readback.encode(&mut encoder);
        self.asked = Some(self.submit(encoder)?);
        self.readback.ask();
        self.memory.write_floats(self.floats.sums, &vec![0.0; 2 * self.spec.members]);
        Ok(())
    }

    fn poll(&mut self, trained: &mut Trained) -> Result<bool, Fault> {
        let Trained { sums, params, m, v } = trained;
        let mut floats = |region: usize, arrived: Arrived| match region {
            0 => {
                let pairs: Vec<f32> = arrived.floats().collect();
                sums.clear();
                sums.extend(pairs.as_chunks::<2>().0.iter().map(|&[loss, grad_norm]| StepStats { loss, grad_norm }));
            }
            1 => arrived.replace(params),
            2 => arrived.replace(m),
            _ => arrived.replace(v),
        };
        self.readback.poll(&mut self.asked, &mut floats, &mut |_, _| {})
    }
}

/// Builder of the list of dispatches.
struct Build<'a> {
    spec: &'a OffloadSpec,
    rows: &'a Rows,
    floats: &'a Floats,
    words: &'a Words,
    x: Region,
    d: Region,
    /// Number of lanes of a row, rounded up to whole workgroups.
    padded: usize,
    program: &'a mut Program,
}

impl Build<'_> {
    /// Appends the dispatches that update `members` members, beginning with member `first`.
    fn update(&mut self, first: usize, members: usize) {
        let (steps, channels) = (self.spec.rollout.steps, self.spec.architecture.channels);
        let lanes = self.spec.sizes()[0] / channels;
        let (of_lanes, blocks) = (lanes.div_ceil(SIZE), self.padded / BLOCK);
        let (gates, layers) = (self.spec.architecture.gates(), self.rows.layers.clone());
        let of_gates = gates.div_ceil(SIZE);
        let make = |learn| format!("const LEARN = {learn};\n{}", include_wgsl!("gates.wgsl"));
        let states = |what| format!("const WHAT = {what}u;\n{}", include_wgsl!("states.wgsl"));
        let [see, go_on, go_back, unsee] = [0, 1, 2, 3].map(states);
        let sums = |length| format!("const LENGTH = {length};\n{}", include_wgsl!("sums.wgsl"));
        let [forward, backward] = [include_wgsl!("forward.wgsl"), include_wgsl!("backward.wgsl")];
        type Add<'a> = dyn FnMut(&str, &str, usize, usize, [usize; 2]) + 'a;
        let mut add = |label: &str, text: &str, row: usize, step: usize, [x, y]: [usize; 2]| {
            self.add(label, text, [first, row, step], [x, y, members]);
        };

        add("gates", &make(false), 0, 0, [of_gates, 1]);
        let rows_of_step = |add: &mut Add, step| {
            add("see", &see, 0, step, [of_lanes, 9 * channels]);
            for layer in &layers {
                add("forward", forward, layer.start, step, [blocks, layer.len()]);
            }
        };
        for step in 0..steps {
            rows_of_step(&mut add, step);
            add("next state", &go_on, 0, step, [of_lanes, 1]);
        }
        add("loss", &sums(false), 0, steps, [1, 1]);
        for step in (0..steps).rev() {
            // The rows of the last step are still in memory.
            if step + 1 < steps {
                rows_of_step(&mut add, step);
            }
            add("back from a state", &go_back, 0, step, [of_lanes, 1]);
            for layer in layers[..layers.len() - 1].iter().rev() {
                add("backward", backward, layer.start, step, [blocks, layer.len()]);
            }
            add("slopes", include_wgsl!("slopes.wgsl"), 0, step, [gates, 1]);
            if step > 0 {
                add("backward", backward, 0, step, [blocks, 9 * channels]);
                add("back to a state", &unsee, 0, step, [of_lanes, channels]);
            }
        }
        add("learn", &make(true), 0, 0, [of_gates, 1]);
        add("length", &sums(true), 0, 0, [1, 1]);
    }

    /// Appends a dispatch. `from` is the first member, the first row, and the step.
    fn add(&mut self, label: &str, text: &str, from: [usize; 3], groups: [usize; 3]) {
        let Floats { params, m, v, coefficients, slopes, states, d_state, targets, .. } = self.floats;
        let Floats { squares, sums, knobs, corrections, .. } = self.floats;
        let Words { standing, wires, readers_begin, readers, gate_of, rows_of } = self.words;
        let regions = [params, m, v, coefficients, slopes, states, d_state, targets, &self.x, &self.d];
        let others = [squares, sums, knobs, corrections, standing, wires, readers_begin, readers, gate_of, rows_of];
        let args: Vec<u32> = regions.into_iter().chain(others).map(|region| region.at).chain(from.map(|x| x as u32)).collect();
        let text = [include_wgsl!("../poly.wgsl"), include_wgsl!("../rng.wgsl"), include_wgsl!("common.wgsl"), text];
        let text = text.into_iter().fold(self.constants(), Text::add);
        let kernel = self.program.kernel(label, &text.text);
        self.program.dispatch(&kernel, &args, groups.map(|x| x as u32));
    }

    /// Returns kernel text with the constants of the population, such as shapes.
    fn constants(&self) -> Text {
        let OffloadSpec { architecture, form, rollout, loss_channels, members } = self.spec;
        let channels = architecture.channels;
        let plane = rollout.width * rollout.height;
        let (gumbel, temperature) = match form {
            GateForm::Gumbel { temperature } => (true, *temperature),
            _ => (false, 1.0),
        };
        Text::default()
            .words(&[
                ("SIZE", SIZE),
                ("MEMBERS", *members),
                ("CHANNELS", channels),
                ("LOSS_CHANNELS", *loss_channels),
                ("PLANE", plane),
                ("BATCH", rollout.batch),
                ("LANES", rollout.batch * plane),
                ("ROW", self.padded),
                ("ROWS", self.rows.count),
                ("INPUTS", 9 * channels),
                ("GATES", architecture.gates()),
                ("PURPOSE_FIRE", PURPOSE_FIRE as usize),
                ("PURPOSE_GUMBEL", PURPOSE_GUMBEL as usize),
            ])
            .constant("WIDTH", "i32", rollout.width)
            .constant("HEIGHT", "i32", rollout.height)
            .flag("FOUR", *form == GateForm::Four)
            .flag("GUMBEL", gumbel)
            .flag("PERIODIC", rollout.periodic)
            .flag("ASYNCHRONOUS", rollout.fire_rate.is_some())
            .float("TEMPERATURE", temperature)
            .float("RATE", rollout.fire_rate.unwrap_or(1.0))
    }
}
