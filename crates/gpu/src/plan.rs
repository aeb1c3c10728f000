//! Translates a plan of the crate `graph` into dispatches. Nodes that process the same rows or elements form one kernel. Such a kernel
//! keeps its intermediate values in registers. A computed value is in memory only if it is an output, if another kernel reads it, or if
//! a node with its own kernel computes it. Unlike on the CPU, weights are not packed.
//!
//! The terms of a sum are always added in the same order, so a plan gives the same bits at every run. Plans in panels (a layout for the
//! CPU) are not supported.

mod attention;
mod by_row;
mod codegen;
mod dataflow;
mod fusion;
mod head;
mod rows;

use crate::product::{Product, Side, products};
use crate::program::{Memory, Program, Region, Space};
use codegen::Writer;
use dataflow::{Dataflow, Form, Location, Op, Value};
use fusion::{Group, GroupKind, Groups, body, finish};
use graph::{Call, Life, Plan, Port};
use learn::Fault;
use std::ops::Range;
use std::sync::Arc;

/// Alignment of a value in the arena, in floats.
const ALIGN: u64 = 64;

/// A plan whose dispatches are part of a program.
pub struct Lowered {
    /// Range of the plan's dispatches in the program.
    pub steps: Range<usize>,
    /// Groups that make up `steps`.
    pub parts: Vec<DispatchGroup>,
    inputs: Vec<(Arc<str>, Region)>,
    outputs: Vec<(Arc<str>, Region)>,
    constants: Vec<(Region, Vec<f32>)>,
}

/// Dispatches that belong together: one matrix product, two products of the same form, one head (the output layer with its cross-entropy),
/// or one group of other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchGroup {
    pub is_product: bool,
    /// Number of operations of the plan that the group computes.
    pub nodes: usize,
    pub steps: Range<usize>,
}

impl Lowered {
    /// Appends a plan to a program. The plan reads the parameters from `params` and writes gradients of the same layout to `grads`. The
    /// plan does not write gradients of parameters that the loss does not depend on.
    pub fn new(plan: &Plan, params: Region, grads: Region, space: &mut Space, program: &mut Program) -> Result<Lowered, Fault> {
        Lowered::with(plan, [params, grads], space, program, true)
    }

    /// Does the same as [`Lowered::new`]. If `fuse` is false, each node has its own kernel, as a reference for tests.
    pub fn with(plan: &Plan, [params, grads]: [Region; 2], space: &mut Space, program: &mut Program, fuse: bool) -> Result<Lowered, Fault> {
        if plan.half() && !program.gpu().about().half {
            return Err(Fault::NoF16);
        }
        let mut dataflow = Dataflow::of(plan)?;
        if fuse {
            dataflow.sort();
        }
        let groups = fusion::group(&dataflow, fuse);
        let lives = lives(&dataflow, &groups);
        let (offsets, len) = graph::arrange(&in_arena(&dataflow, &lives), ALIGN);
        let arena = space.floats(usize::try_from(len).unwrap_or(usize::MAX));
        let places = (0..dataflow.values.len()).map(|v| match dataflow.values[v].location {
            Location::Param(at) => params.part(at, dataflow.len(v)).at,
            Location::Grad { at, .. } => grads.part(at, dataflow.len(v)).at,
            _ => arena.at + offsets[v] as u32,
        });
        let places: Vec<u32> = places.collect();
        let stored: Vec<bool> = lives.iter().map(Option::is_some).collect();
        let first = program.len();
        let writer = Writer { dataflow: &dataflow, groups: &groups, places: &places, stored: &stored };
        let mut parts = Vec::new();
        for (index, group) in groups.groups.iter().enumerate() {
            let begin = program.len();
            if group.kind == GroupKind::Own {
                emit(&dataflow, &group.nodes, &places, space, program);
            } else {
                writer.emit(index, program, space);
            }
            let is_product = matches!(dataflow.nodes[group.nodes[0]].op, Op::Product(_) | Op::Head(_));
            let then = group.finish.iter().filter(|n| !group.nodes.contains(n)).count();
            parts.push(DispatchGroup { is_product, nodes: group.nodes.len() + then, steps: begin..program.len() });
        }
        let region = |value: usize| Region { at: places[value], len: dataflow.len(value) as u32 };
        let named = |ports: &[Port]| ports.iter().map(|port| (port.name.clone(), region(port.slot))).collect();
        let constants = dataflow.values.iter().enumerate().filter_map(|(i, value)| match &value.location {
            Location::Constant(values) => Some((region(i), values.clone())),
            _ => None,
        });
        Ok(Lowered {
            steps: first..program.len(),
            parts,
            inputs: named(plan.inputs()),
            outputs: named(plan.outputs()),
            constants: constants.collect(),
        })
    }

    /// Returns the region of an input, in row-major layout. The caller writes the input before a replay.
    ///
    /// # Panics
    /// If the plan has no such input.
    #[track_caller]
    pub fn input(&self, name: &str) -> Region {
        find(&self.inputs, name)
    }

    /// Returns the region of an output, in row-major layout. The output is valid after a replay.
    ///
    /// # Panics
    /// If the plan has no such output.
    #[track_caller]
    pub fn output(&self, name: &str) -> Region {
        find(&self.outputs, name)
    }

    /// Writes the plan's constants; call once before the first replay.
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

/// Appends the dispatches of a group of kind [`GroupKind::Own`]: products that share a dispatch, or one node with its own kernel.
fn emit(dataflow: &Dataflow, nodes: &[usize], places: &[u32], space: &mut Space, program: &mut Program) {
    let places_of = |values: &[usize]| values.iter().map(|&v| places[v]).collect::<Vec<u32>>();
    let adds = |v: usize| matches!(dataflow.values[v].location, Location::Grad { adds: true, .. });
    let mut all = Vec::new();
    for node in nodes.iter().map(|&n| &dataflow.nodes[n]) {
        let (reads, writes) = (places_of(&node.reads), places_of(&node.writes));
        let Op::Product(Form { shape, a, b, bias, residual, act, slope, saves, half }) = node.op else {
            match &node.op {
                Op::Attention(shape) => attention::emit(shape, &reads, &writes, program),
                Op::AttentionGrad(shape) => attention::emit_grad(shape, &reads, &writes, program),
                Op::Head(head) => {
                    // If the head computes dw, the gradient of the weights, then dw is the last write.
                    let adds = node.writes.last().is_some_and(|&v| adds(v));
                    head.emit(&reads, &writes, adds, space, program);
                }
                &Op::Call(Call::EmbeddingBagGrad { rows, cols, k }) => {
                    let (to, table) = (node.writes[0], dataflow.len(node.writes[0]) / cols);
                    let at = [reads[0], reads[1], writes[0]];
                    rows::embedding_bag_grad([rows, cols, table, k], at, adds(to), program);
                }
                op => rows::emit(op, &reads, &writes, program),
            }
            continue;
        };
        let mut rest = reads[2..].iter().copied();
        let bias = if bias { rest.next() } else { None };
        let residual = if residual { rest.next() } else { None };
        let second = writes.get(1).copied();
        let row_sums = second.filter(|_| !saves).map(|at| (at, adds(node.writes[1])));
        let (slope, save, adds) = (slope.zip(rest.next()), second.filter(|_| saves), adds(node.writes[0]));
        let product = Product::new(shape, Side::new(reads[0], a[0], a[1]), Side::new(reads[1], b[0], b[1]), writes[0]);
        all.push(Product { bias, residual, act, adds, half, slope, row_sums, save, ..product });
    }
    products(program, space, &all);
}

/// Returns the earliest time at which a value needs memory. `time` is the time at which the value is available; `fusion.rs` explains these
/// times. The sums of a group need memory from the start of the group, because some threads write sums while others still read the inputs
/// of the group.
fn begins(time: usize) -> usize {
    if time > 0 && time.is_multiple_of(2) { time - 1 } else { time }
}

/// Returns the times of the first and the last use of each value; `None` if the value stays in registers.
fn lives(dataflow: &Dataflow, groups: &Groups) -> Vec<Option<[usize; 2]>> {
    let mut lives: Vec<Option<[usize; 2]>> = dataflow
        .values
        .iter()
        .map(|value| match value.location {
            Location::Input | Location::Constant(_) => Some([0, usize::MAX]),
            Location::Param(_) | Location::Grad { .. } => Some([0, 0]),
            Location::Arena => None,
        })
        .collect();
    let mut read = |v: usize, time: usize| {
        let written = groups.time[v];
        // Values that the same threads reuse stay in registers.
        if dataflow.values[v].location == Location::Arena && !groups.given[v] && written != time {
            let life = lives[v].get_or_insert([begins(written), time]);
            life[1] = life[1].max(time);
        }
    };
    for (index, Group { nodes, finish: then, .. }) in groups.groups.iter().enumerate() {
        for &n in nodes {
            dataflow.nodes[n].reads.iter().for_each(|&v| read(v, body(index)));
        }
        for &n in then {
            if !nodes.contains(&n) {
                dataflow.nodes[n].reads.iter().for_each(|&v| read(v, finish(index)));
            }
        }
    }
    // A node with its own kernel writes all of its results, even if nothing reads them.
    for (index, group) in groups.groups.iter().enumerate().filter(|(_, group)| group.kind == GroupKind::Own) {
        for &v in group.nodes.iter().flat_map(|&n| &dataflow.nodes[n].writes) {
            if dataflow.values[v].location == Location::Arena {
                lives[v].get_or_insert([body(index); 2]);
            }
        }
    }
    for &v in &dataflow.outputs {
        if dataflow.values[v].location == Location::Arena {
            lives[v] = Some([begins(groups.time[v]), usize::MAX]);
        }
    }
    lives
}

/// Returns, for each value, its length in the arena and the times of its first and last use. The length is 0 for parameters, gradients, and
/// values in registers.
fn in_arena(dataflow: &Dataflow, lives: &[Option<[usize; 2]>]) -> Vec<Life> {
    let life = |(value, life): (&Value, &Option<[usize; 2]>)| match (&value.location, life) {
        (Location::Param(_) | Location::Grad { .. }, _) | (_, None) => Life::default(),
        (_, &Some([first, last])) => Life { len: value.len as u64, first, last },
    };
    dataflow.values.iter().zip(lives).map(life).collect()
}
