//! A graph's plan as dispatches. What the processor does step by step is regrouped here: whatever works on the same
//! rows or elements is one kernel that keeps its numbers in registers, and only what another kernel or an output
//! needs is written to memory. Weights are read where they lie; nothing is packed.
//!
//! Sums are always added in the same order, so a plan gives the same bits at every run. Panels are refused.

mod groups;
mod rows;
mod text;
mod work;

use crate::product::{Halves, Passing, Precision, Product, Side, gives_halves, is_read_by_fours, products};
use crate::program::{Memory, Program, Region, Space, groups as groups_of};
use graph::Plan;
use groups::{Group, Groups, Kind, body, finish};
use learn::Fault;
use std::ops::Range;
use std::sync::Arc;
use text::Writer;
use work::{Home, Op, Work};

/// Values start at multiples of this many floats.
const ALIGN: usize = 64;

/// A plan as a part of a program.
pub struct Lowered {
    /// Its dispatches, to be replayed in one go.
    pub steps: Range<usize>,
    /// The same by what they compute.
    pub parts: Vec<Part>,
    inputs: Vec<(Arc<str>, Region)>,
    outputs: Vec<(Arc<str>, Region)>,
    constants: Vec<(Region, Vec<f32>)>,
}

/// Some dispatches that belong together: one matrix product, two that are alike, or one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub is_product: bool,
    /// Operations of the graph in it.
    pub nodes: usize,
    pub steps: Range<usize>,
}

impl Lowered {
    /// Appends a plan to a program. It reads the parameters from one region and leaves gradients, laid out the same,
    /// in the other; those of parameters that the loss does not depend on are not touched.
    pub fn new(
        plan: &Plan,
        params: Region,
        grads: Region,
        space: &mut Space,
        program: &mut Program,
    ) -> Result<Lowered, Fault> {
        Lowered::with(plan, [params, grads], space, program, true)
    }

    /// One kernel for each node: what the regrouped ones are tested against.
    pub fn one_by_one(
        plan: &Plan,
        params: Region,
        grads: Region,
        space: &mut Space,
        program: &mut Program,
    ) -> Result<Lowered, Fault> {
        Lowered::with(plan, [params, grads], space, program, false)
    }

    fn with(
        plan: &Plan,
        [params, grads]: [Region; 2],
        space: &mut Space,
        program: &mut Program,
        fuse: bool,
    ) -> Result<Lowered, Fault> {
        let mut work = Work::of(plan)?;
        if fuse {
            work.join_products(groups::WIDEST);
            work.sort();
        }
        let groups = groups::group(&work, fuse);
        let lives = lives(&work, &groups);
        let halves = match program.precision() {
            Precision::Half => Stored::in_halves(&work, params),
            Precision::Single => Stored::in_floats(&work),
        };
        let (offsets, len) = arrange(&work, &lives, &|v| !halves.values[v]);
        let (half_offsets, half_len) = arrange(&work, &lives, &|v| halves.values[v]);
        let arena = space.floats(len);
        let half_arena = space.words(half_len.div_ceil(2));
        let places = (0..work.values.len()).map(|v| match work.values[v].home {
            Home::Param(at) => params.part(at, work.len(v)).at,
            Home::Grad { at, .. } => grads.part(at, work.len(v)).at,
            _ if halves.values[v] => 2 * half_arena.at + half_offsets[v] as u32,
            _ => arena.at + offsets[v] as u32,
        });
        let places: Vec<u32> = places.collect();
        let stored: Vec<bool> = lives.iter().map(Option::is_some).collect();
        let first = program.len();
        let writer = Writer { work: &work, groups: &groups, places: &places, stored: &stored };
        let mut parts = Vec::new();
        let mut weights = 0;
        if halves.weights {
            let copy = space.words(params.len.div_ceil(2) as usize);
            weights = (2 * copy.at).wrapping_sub(params.at);
            store_halves(params, copy, program);
            parts.push(Part { is_product: false, nodes: 0, steps: first..program.len() });
        }
        for (index, group) in groups.groups.iter().enumerate() {
            let begin = program.len();
            if group.kind == Kind::Own {
                let from_floats = |v: usize| places[v].wrapping_add(weights);
                emit(&work, &group.nodes, &places, (&halves, &from_floats), space, program);
            } else {
                writer.emit(index, program, space);
            }
            let is_product = matches!(work.nodes[group.nodes[0]].op, Op::Product { .. });
            let then = group.finish.iter().filter(|n| !group.nodes.contains(n)).count();
            parts.push(Part { is_product, nodes: group.nodes.len() + then, steps: begin..program.len() });
        }
        let region = |value: usize| Region { at: places[value], len: work.len(value) as u32 };
        let named = |ports: &[(Arc<str>, usize)]| {
            ports.iter().map(|(name, value)| (name.clone(), region(*value))).collect()
        };
        let constants = work.values.iter().enumerate().filter_map(|(i, value)| match &value.home {
            Home::Constant(values) => Some((region(i), values.clone())),
            _ => None,
        });
        Ok(Lowered {
            steps: first..program.len(),
            parts,
            inputs: named(&work.inputs),
            outputs: named(&work.outputs),
            constants: constants.collect(),
        })
    }

    /// Where an input lies, row by row; to be filled before a replay.
    ///
    /// # Panics
    /// Where the plan reads no such input.
    #[track_caller]
    pub fn input(&self, name: &str) -> Region {
        find(&self.inputs, name)
    }

    /// Where an output lies, row by row, after a replay.
    ///
    /// # Panics
    /// Where the plan has no such output.
    #[track_caller]
    pub fn output(&self, name: &str) -> Region {
        find(&self.outputs, name)
    }

    /// To be called once, before the first replay.
    pub fn write_constants(&self, memory: &Memory) {
        for (region, values) in &self.constants {
            memory.write_floats(*region, values);
        }
    }
}

#[track_caller]
fn find(ports: &[(Arc<str>, Region)], name: &str) -> Region {
    match ports.iter().find(|port| *port.0 == *name) {
        Some(port) => port.1,
        None => {
            let names: Vec<&str> = ports.iter().map(|port| &*port.0).collect();
            panic!("the plan has no port {name}; there are {names:?}")
        }
    }
}

/// Products that go together, or one node with a kernel of its own.
fn emit(
    work: &Work,
    nodes: &[usize],
    places: &[u32],
    (halves, copied): (&Stored, &dyn Fn(usize) -> u32),
    space: &mut Space,
    program: &mut Program,
) {
    let places_of = |values: &[usize]| values.iter().map(|&v| places[v]).collect::<Vec<u32>>();
    let adds = |v: usize| matches!(work.values[v].home, Home::Grad { adds: true, .. });
    let mut all = Vec::new();
    for node in nodes.iter().map(|&n| &work.nodes[n]) {
        let (reads, writes) = (places_of(&node.reads), places_of(&node.writes));
        let Op::Product { shape: [m, n, k], a, b, bias, residual, act, slope } = node.op else {
            rows::emit(&node.op, &reads, &writes, adds(node.writes[0]), program);
            continue;
        };
        let side =
            |at: u32, [outer, inner]: [usize; 2]| Side { at, outer: outer as u32, inner: inner as u32 };
        let mut rest = reads[2..].iter().copied();
        let bias = if bias { rest.next() } else { None };
        let residual = if residual { rest.next() } else { None };
        let of_weight = halves.weights && halves.reads_weight(work, node);
        let weight = if of_weight { copied(node.reads[1]) } else { reads[1] };
        let (a, b) = (side(reads[0], a), side(weight, b));
        let is_half = |v: &usize| halves.values[*v];
        let passing = Passing {
            slope: slope.zip(rest.next()),
            row_sums: writes.get(1).map(|&at| (at, adds(node.writes[1]))),
            halves: Halves {
                a: is_half(&node.reads[0]),
                b: of_weight || is_half(&node.reads[1]),
                c: is_half(&node.writes[0]),
                slope: slope.is_some() && node.reads.last().is_some_and(is_half),
            },
        };
        let c = Product { m, n, k, a, b, c: writes[0], bias, residual, act, adds: adds(node.writes[0]) };
        all.push((c, passing));
    }
    products(program, space, &all);
}

/// What a plan keeps in 16 bits, where products round their factors to as many anyway: what one product gives and only
/// products take, and a copy of the weights, made anew at each replay. It halves what goes through memory and changes
/// no factor's bits. What other kernels read or write stays in floats: a norm's rows, inputs, sums, gradients of parameters.
struct Stored {
    values: Vec<bool>,
    weights: bool,
    params: Region,
}

impl Stored {
    /// Rows through which a weight is multiplied again and again: for fewer, copying it is not worth a dispatch.
    const MANY_ROWS: usize = 2048;

    fn in_floats(work: &Work) -> Stored {
        Stored { values: vec![false; work.values.len()], weights: false, params: Region::default() }
    }

    fn in_halves(work: &Work, params: Region) -> Stored {
        let mut stored = Stored::in_floats(work);
        stored.params = params;
        let mut can = vec![true; work.values.len()];
        let mut given = vec![false; work.values.len()];
        for node in &work.nodes {
            let Op::Product { shape: [m, n, k], a, b, act, slope, .. } = node.op else {
                node.reads.iter().chain(&node.writes).for_each(|&v| can[v] = false);
                continue;
            };
            let side = |[outer, inner]: [usize; 2]| Side { at: 0, outer: outer as u32, inner: inner as u32 };
            let (a, b) = (side(a), side(b));
            for (v, side, count) in [(node.reads[0], a, m), (node.reads[1], b, n)] {
                can[v] &= is_read_by_fours(side, count, k);
            }
            // Biases and residuals are added as they are.
            let others = 2..node.reads.len() - usize::from(slope.is_some());
            node.reads[others].iter().for_each(|&v| can[v] = false);
            node.writes[1..].iter().for_each(|&v| can[v] = false);
            let p = Product { m, n, k, a, b, c: 0, bias: None, residual: None, act, adds: false };
            given[node.writes[0]] = gives_halves(&p);
        }
        work.outputs.iter().for_each(|(_, v)| can[*v] = false);
        for v in 0..work.values.len() {
            stored.values[v] = can[v] && given[v] && work.values[v].home == Home::Arena;
        }
        stored.weights = work.nodes.iter().any(|node| stored.reads_weight(work, node));
        stored
    }

    /// Whether a product's second factor is a weight that is worth a copy.
    fn reads_weight(&self, work: &Work, node: &work::Node) -> bool {
        let Op::Product { shape: [m, n, k], b: [outer, inner], .. } = node.op else { return false };
        let Home::Param(at) = work.values[node.reads[1]].home else { return false };
        let at = self.params.part(at, 0).at;
        let b = Side { at, outer: outer as u32, inner: inner as u32 };
        m >= Stored::MANY_ROWS && is_read_by_fours(b, n, k)
    }
}

/// Copies floats to halves, two a word.
fn store_halves(from: Region, to: Region, program: &mut Program) {
    const TEXT: &str = "\
struct Args { x: u32, y: u32, len: u32 }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let i = group_index(group, many) * 256u + local;
    if (i >= args.len) { return; }
    // Beyond the last float lies the rest of its region.
    words[args.y + i] = pack2x16float(vec2<f32>(mem[args.x + 2u * i], mem[args.x + 2u * i + 1u]));
}
";
    let kernel = program.kernel("halves", TEXT);
    program.dispatch(&kernel, &[from.at, to.at, to.len], groups_of(to.len as usize, 256));
}

/// A group's sums may be written while some of its threads still read.
fn begins(time: usize) -> usize {
    if time > 0 && time.is_multiple_of(2) { time - 1 } else { time }
}

/// For each value that lies in memory, when it is first and last needed there.
fn lives(work: &Work, groups: &Groups) -> Vec<Option<[usize; 2]>> {
    let mut lives: Vec<Option<[usize; 2]>> = work
        .values
        .iter()
        .map(|value| match value.home {
            Home::Input | Home::Constant(_) => Some([0, usize::MAX]),
            Home::Param(_) | Home::Grad { .. } => Some([0, 0]),
            Home::Arena => None,
        })
        .collect();
    let mut read = |v: usize, time: usize| {
        let written = groups.time[v];
        // What the same threads go on with stays in registers.
        if work.values[v].home == Home::Arena && !groups.given[v] && written != time {
            let life = lives[v].get_or_insert([begins(written), time]);
            life[1] = life[1].max(time);
        }
    };
    for (index, Group { nodes, finish: then, .. }) in groups.groups.iter().enumerate() {
        for &n in nodes {
            work.nodes[n].reads.iter().for_each(|&v| read(v, body(index)));
        }
        for &n in then {
            if !nodes.contains(&n) {
                work.nodes[n].reads.iter().for_each(|&v| read(v, finish(index)));
            }
        }
    }
    for (_, v) in &work.outputs {
        if work.values[*v].home == Home::Arena {
            lives[*v] = Some([begins(groups.time[*v]), usize::MAX]);
        }
    }
    lives
}

/// Gives every value that is wanted in an arena its place: large ones first, each at the lowest that is free for all of its life.
fn arrange(work: &Work, lives: &[Option<[usize; 2]>], wanted: &dyn Fn(usize) -> bool) -> (Vec<usize>, usize) {
    let mut offsets = vec![0; work.values.len()];
    let in_arena = |v: &usize| {
        wanted(*v)
            && lives[*v].is_some()
            && !matches!(work.values[*v].home, Home::Param(_) | Home::Grad { .. })
    };
    let mut order: Vec<usize> = (0..work.values.len()).filter(in_arena).collect();
    order.sort_by_key(|&v| (usize::MAX - work.len(v), v));
    let mut placed: Vec<usize> = Vec::new();
    let mut end = 0;
    for v in order {
        let [first, last] = lives[v].unwrap_or_default();
        let mut start = 0;
        for &other in &placed {
            let [from, to] = lives[other].unwrap_or_default();
            let taken = offsets[other]..offsets[other] + work.len(other);
            if from <= last && first <= to && taken.start < start + work.len(v) && start < taken.end {
                start = taken.end.next_multiple_of(ALIGN);
            }
        }
        offsets[v] = start;
        end = end.max((start + work.len(v)).next_multiple_of(ALIGN));
        let at = placed.partition_point(|&other| offsets[other] <= start);
        placed.insert(at, v);
    }
    (offsets, end)
}
