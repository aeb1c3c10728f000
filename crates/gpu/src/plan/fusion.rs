//! Decides which nodes form one kernel, called a group. Each thread of a group of kind `Threads` holds some adjacent elements of every
//! value in registers: a row of a narrow matrix, or one element of a wide matrix.
//!
//! A node joins the first group that can process it. Each input of the node must be available before the group begins, or the same group
//! must compute the input. If the same group computes the input, each thread may read only the elements that it has computed itself. After
//! its sums, a group can compute single numbers, which may use the sums.
//!
//! Each value has a time: a number that gives the order in which values become available. An input of the plan has time 0. A result of
//! group i has time 2·i + 1. A sum of group i, or a single number that the group computes after its sums, has time 2·i + 2.

use super::dataflow::{Dataflow, Form, Location, Op};
use graph::{Call, NARROW, Sums};
use math::Span;
use std::collections::BTreeMap;

/// Maximum number of elements of one value that a thread holds.
const WIDEST: usize = NARROW;
/// Maximum number of columns that a group of kind `Threads` sums.
pub(super) const MOST_SUMS: usize = 16;
/// Maximum number of nodes in a group.
const MOST_NODES: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupKind {
    /// A group with this number of threads. Each thread computes its own elements of every value, except the sums and single numbers of the
    /// second pass.
    Threads(usize),
    /// Sums of the columns of wide matrices, and the operations that compute these matrices element by element. Each thread processes one
    /// column over a part of the rows, one element at a time.
    Walk { rows: usize, cols: usize },
    /// One node that has its own kernel, or two products of the same form in one kernel.
    Own,
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub kind: GroupKind,
    pub nodes: Vec<usize>,
    /// Nodes of the second pass of a [`GroupKind::Threads`] group. The pass runs after the group's sums are known. The nodes are the sums,
    /// and elementwise operations with a single number as result. These operations may read the sums, but need not.
    pub finish: Vec<usize>,
    /// Number of columns that the group sums; a sum over all elements counts as one column.
    pub sums: usize,
}

pub(super) struct Groups {
    pub groups: Vec<Group>,
    /// Time at which each value is available.
    pub time: Vec<usize>,
    /// Tells of each value whether it is a single number that depends only on inputs, constants and parameters. Every kernel that reads
    /// such a number computes it again.
    pub given: Vec<bool>,
}

pub(super) fn body(group: usize) -> usize {
    2 * group + 1
}

pub(super) fn finish(group: usize) -> usize {
    2 * group + 2
}

impl Op {
    pub fn is_elementwise(&self) -> bool {
        let Op::Call(call) = self else { return false };
        matches!(call, Call::Collect | Call::Affine { .. } | Call::Unary(_) | Call::UnaryGrad(_) | Call::Binary { .. })
    }

    /// Returns true if each element of the result depends only on the operands' elements at the same index, apart from broadcasting. With
    /// dropout, the element also depends on the index itself and a random key.
    fn is_flat(&self) -> bool {
        self.is_elementwise() || matches!(self, Op::Call(Call::Dropout { .. }))
    }

    /// Returns the number of rows and of columns of the operation; `None` if the shape of the operation does not matter.
    fn matrix(&self) -> Option<[usize; 2]> {
        match *self {
            Op::Call(Call::Binary { rows: 1, .. } | Call::Sum { of: Sums::All, .. }) => None,
            Op::Call(
                Call::Binary { rows, cols, .. }
                | Call::Sum { rows, cols, .. }
                | Call::Softmax { rows, cols, .. }
                | Call::SoftmaxGrad { rows, cols, .. }
                | Call::Take { rows, cols }
                | Call::TakeGrad { rows, cols }
                | Call::Columns { rows, cols, .. }
                | Call::EmbeddingBag { rows, cols, .. }
                | Call::Rotary { rows, cols, .. },
            )
            | Op::Norm { rows, cols, .. }
            | Op::NormGrad { rows, cols, .. } => Some([rows, cols]),
            Op::Product(Form { shape: [m, n, _], .. }) => Some([m, n]),
            _ => None,
        }
    }
}

/// Returns true if the given number of threads can process a node.
pub(super) fn fits(dataflow: &Dataflow, node: usize, threads: usize) -> bool {
    let node = &dataflow.nodes[node];
    let even = |len: usize| len.is_multiple_of(threads) && len / threads <= WIDEST;
    let by_row = |rows: usize, cols: usize| threads == rows && cols <= WIDEST;
    let call = match &node.op {
        Op::Call(call) => call,
        Op::Normed { .. } => return threads == dataflow.len(node.reads[0]),
        _ => return false,
    };
    match *call {
        Call::Binary { rows, cols, .. } if rows > 1 => by_row(rows, cols) || threads == rows * cols,
        Call::Sum { of: Sums::All, .. } => even(dataflow.len(node.reads[0])),
        Call::Sum { rows, cols, .. } | Call::Softmax { rows, cols, .. } | Call::SoftmaxGrad { rows, cols, .. } => by_row(rows, cols),
        Call::Take { rows, .. } => threads == rows,
        Call::TakeGrad { rows, cols } | Call::Columns { rows, cols, .. } | Call::EmbeddingBag { rows, cols, .. } => {
            by_row(rows, cols) || threads == rows * cols
        }
        Call::Rotary { .. } | Call::Windows { .. } => threads == dataflow.len(node.writes[0]),
        Call::EmbeddingBagGrad { .. } => false,
        _ => even(dataflow.len(node.writes[0])),
    }
}

/// Returns true if each thread reads only those elements of an operand that the thread itself has computed. `operand` is the index of the
/// operand.
pub(super) fn is_own(dataflow: &Dataflow, node: usize, operand: usize, threads: usize) -> bool {
    let node = &dataflow.nodes[node];
    match node.op {
        Op::Call(Call::Binary { a, b, rows, .. }) => match [a, b][operand].0 {
            Span::Full => true,
            Span::Column => threads == rows,
            Span::Row => false,
            Span::Scalar => threads == 1,
        },
        Op::Normed { .. } | Op::Call(Call::Dropout { .. }) => operand == 0,
        Op::Call(Call::Rotary { .. } | Call::Windows { .. } | Call::EmbeddingBag { .. }) => false,
        Op::Call(Call::TakeGrad { rows, .. } | Call::Columns { rows, .. }) => threads == rows,
        _ => true,
    }
}

/// Returns, for each value, true if the value is a single number that depends only on inputs, constants and parameters. A computed number
/// counts only if all of its readers are elementwise operations.
fn everywhere(dataflow: &Dataflow) -> Vec<bool> {
    let mut given: Vec<bool> =
        dataflow.values.iter().map(|v| v.len == 1 && !matches!(v.location, Location::Arena | Location::Grad { .. })).collect();
    let mut elsewhere = vec![false; dataflow.values.len()];
    for node in dataflow.nodes.iter().filter(|node| !node.op.is_elementwise()) {
        node.reads.iter().for_each(|v| elsewhere[*v] = true);
    }
    for node in &dataflow.nodes {
        let to = node.writes[0];
        given[to] |= node.op.is_elementwise()
            && dataflow.values[to].location == Location::Arena
            && dataflow.len(to) == 1
            && !elsewhere[to]
            && node.reads.iter().all(|&v| given[v]);
    }
    given
}

/// Returns the number of rows of each value; `None` if no node depends on the value's shape.
fn rows(dataflow: &Dataflow) -> Vec<Option<usize>> {
    let mut rows = vec![None; dataflow.values.len()];
    for node in &dataflow.nodes {
        let Some([r, c]) = node.op.matrix() else { continue };
        for &v in node.reads.iter().chain(&node.writes) {
            let len = dataflow.len(v);
            if len == r * c || len == r && len > 1 {
                rows[v] = Some(r);
            }
        }
    }
    // The operands and the result of a flat node have the same shape.
    for back in [false, true] {
        for i in 0..dataflow.nodes.len() {
            let node = &dataflow.nodes[if back { dataflow.nodes.len() - 1 - i } else { i }];
            if !node.op.is_flat() {
                continue;
            }
            let to = node.writes[0];
            let same = || node.reads.iter().chain([&to]).filter(|v| dataflow.len(**v) == dataflow.len(to));
            let known = same().find_map(|v| rows[*v]);
            same().for_each(|v| rows[*v] = rows[*v].or(known));
        }
    }
    rows
}

pub(super) fn group(dataflow: &Dataflow, fuse: bool) -> Groups {
    let mut grouping = Grouping {
        dataflow,
        rows: rows(dataflow),
        groups: Vec::new(),
        time: vec![0; dataflow.values.len()],
        gradients: BTreeMap::new(),
        fuse,
        given: if fuse { everywhere(dataflow) } else { vec![false; dataflow.values.len()] },
    };
    let (late, now): (Vec<usize>, Vec<usize>) = (0..dataflow.nodes.len()).partition(|&node| grouping.given[dataflow.nodes[node].writes[0]]);
    for node in now {
        grouping.place(node);
    }
    for node in late {
        let to = dataflow.nodes[node].writes[0];
        if dataflow.outputs.contains(&to) {
            grouping.place_given(node);
        }
    }
    Groups { groups: grouping.groups, time: grouping.time, given: grouping.given }
}

struct Grouping<'a> {
    dataflow: &'a Dataflow,
    rows: Vec<Option<usize>>,
    groups: Vec<Group>,
    time: Vec<usize>,
    /// Time of each gradient's last write. The key is the gradient's offset.
    gradients: BTreeMap<usize, usize>,
    fuse: bool,
    given: Vec<bool>,
}

impl Grouping<'_> {
    fn place(&mut self, n: usize) {
        let node = &self.dataflow.nodes[n];
        let gradients = node.writes.iter().filter_map(|&v| match self.dataflow.values[v].location {
            Location::Grad { at, .. } => Some(at),
            _ => None,
        });
        let gradients: Vec<usize> = gradients.collect();
        let after = gradients.iter().filter_map(|at| self.gradients.get(at)).copied().max().unwrap_or(0);
        let tried = if self.fuse { 0 } else { self.groups.len() };
        let time = (tried..self.groups.len()).find_map(|group| self.join(n, group, after));
        let time = time.unwrap_or_else(|| self.begin(n));
        node.writes.iter().for_each(|&v| self.time[v] = time);
        gradients.into_iter().for_each(|at| _ = self.gradients.insert(at, time));
    }

    /// Adds node `n` to group `index` if possible. Returns the time of the node's results, or `None` if the group cannot process the node.
    /// `after` is the time of the last write to the gradients that the node writes.
    fn join(&mut self, n: usize, index: usize, after: usize) -> Option<usize> {
        let (dataflow, node) = (self.dataflow, &self.dataflow.nodes[n]);
        let group = &self.groups[index];
        let there = |v: usize, by: usize| self.given[v] || self.time[v] < by;
        let count = match group.kind {
            GroupKind::Threads(count) => count,
            GroupKind::Walk { rows, cols } => rows * cols,
            GroupKind::Own => {
                let alone = group.nodes.len() == 1 && dataflow.are_alike(group.nodes[0], n);
                let ready = node.reads.iter().all(|&v| there(v, body(index)));
                if !alone || !ready || after >= body(index) {
                    return None;
                }
                self.groups[index].nodes.push(n);
                return Some(body(index));
            }
        };
        let ready = (0..node.reads.len()).all(|i| {
            let v = node.reads[i];
            there(v, body(index)) || self.time[v] == body(index) && is_own(dataflow, n, i, count)
        });
        let sums = match node.op {
            Op::Call(Call::Sum { of: Sums::Cols, cols, .. }) => cols,
            Op::Call(Call::Sum { of: Sums::All, .. }) => 1,
            _ => 0,
        };
        // A group stores its sums in order, so two of its sums may write the same gradient.
        let in_order = after < if sums > 0 { finish(index) + 1 } else { body(index) };
        if ready && in_order && group.nodes.len() < MOST_NODES {
            let kind = match (group.kind, &node.op) {
                (GroupKind::Threads(count), &Op::Call(Call::Sum { of: Sums::Cols, rows, cols })) if cols > WIDEST => {
                    (count == rows * cols && group.sums == 0).then_some(GroupKind::Walk { rows, cols })
                }
                (GroupKind::Walk { .. }, &Op::Call(Call::Sum { of: Sums::Cols, rows, cols })) => {
                    (group.kind == GroupKind::Walk { rows, cols }).then_some(group.kind)
                }
                (GroupKind::Walk { .. }, Op::Call(Call::Sum { of: Sums::All, .. })) => None,
                (kind, _) => (fits(dataflow, n, count) && group.sums + sums <= MOST_SUMS).then_some(kind),
            };
            if let Some(kind) = kind {
                let group = &mut self.groups[index];
                group.kind = kind;
                group.nodes.push(n);
                group.sums += sums;
                if sums > 0 && matches!(kind, GroupKind::Threads(_)) {
                    group.finish.push(n);
                }
                return Some(if sums > 0 { finish(index) } else { body(index) });
            }
        }
        let single = node.op.is_elementwise() && dataflow.len(node.writes[0]) == 1;
        let summed = matches!(group.kind, GroupKind::Threads(_)) && group.sums > 0;
        let ready = node.reads.iter().all(|&v| there(v, finish(index) + 1));
        if single && summed && ready && after <= finish(index) {
            self.groups[index].finish.push(n);
            return Some(finish(index));
        }
        None
    }

    /// Creates a group with node `n`. Returns the time from which the results of the node can be read.
    fn begin(&mut self, n: usize) -> usize {
        let (dataflow, node) = (self.dataflow, &self.dataflow.nodes[n]);
        let mut sums = 0;
        let try_rows = |rows: usize, other: usize| {
            [rows, other].into_iter().find(|&count| fits(dataflow, n, count)).map_or(GroupKind::Own, GroupKind::Threads)
        };
        let kind = match node.op {
            Op::Call(Call::Sum { of: Sums::Cols, rows, cols }) if cols > WIDEST => {
                sums = cols;
                GroupKind::Walk { rows, cols }
            }
            Op::Call(Call::Sum { of: Sums::All, .. }) => {
                sums = 1;
                let len = dataflow.len(node.reads[0]);
                try_rows(self.rows[node.reads[0]].unwrap_or(len), len)
            }
            _ => match node.op.matrix() {
                Some([rows, cols]) => {
                    if let Op::Call(Call::Sum { of: Sums::Cols, .. }) = node.op {
                        sums = cols;
                    }
                    try_rows(rows, rows * cols)
                }
                None => {
                    let len = dataflow.len(node.writes[0]);
                    try_rows(self.rows[node.writes[0]].unwrap_or(len), len)
                }
            },
        };
        let finish_nodes = if sums > 0 && matches!(kind, GroupKind::Threads(_)) { vec![n] } else { Vec::new() };
        self.groups.push(Group { kind, nodes: vec![n], finish: finish_nodes, sums });
        let index = self.groups.len() - 1;
        if sums > 0 { finish(index) } else { body(index) }
    }

    /// Adds a node whose result is an output of the plan and belongs to [`Groups::given`]. Only this node stores the result.
    fn place_given(&mut self, n: usize) {
        let summed = |group: &Group| matches!(group.kind, GroupKind::Threads(_)) && group.sums > 0;
        let index = self.groups.iter().rposition(summed);
        self.time[self.dataflow.nodes[n].writes[0]] = match index {
            Some(index) => {
                self.groups[index].finish.push(n);
                finish(index)
            }
            None => {
                self.groups.push(Group { kind: GroupKind::Threads(1), nodes: vec![n], finish: Vec::new(), sums: 0 });
                body(self.groups.len() - 1)
            }
        };
    }
}
