//! Reverse-mode differentiation: a transform that appends the backward nodes of a loss to its graph.

use crate::graph::{Graph, NodeId};
use crate::op::{Op, Wrt};
use crate::shape::Shape;
use math::{Binary, Unary};

/// Gradient of a scalar with respect to every parameter on which the scalar depends.
#[derive(Clone, Debug, Default)]
pub struct Gradients {
    /// Index of each parameter in the parameter table, and the node that computes the parameter's gradient.
    pub(crate) of: Vec<(usize, NodeId)>,
}

impl Gradients {
    /// Returns a pair for each parameter: its index in the parameter table, and the node that computes its gradient.
    pub fn iter(&self) -> impl Iterator<Item = (usize, NodeId)> {
        self.of.iter().copied()
    }
}

impl Graph {
    /// Appends the backward nodes of the scalar `loss`. Returns the gradient of `loss` with respect to every parameter on which `loss`
    /// depends.
    #[track_caller]
    pub fn gradients(&mut self, loss: NodeId) -> Gradients {
        let params: Vec<(usize, NodeId)> = (0..self.nodes.len())
            .filter_map(|i| match self.nodes[i].op {
                Op::Param(index) => Some((index, NodeId(i))),
                _ => None,
            })
            .collect();
        let wrt: Vec<NodeId> = params.iter().map(|p| p.1).collect();
        let nodes = self.grad(loss, &wrt);
        Gradients { of: params.iter().zip(nodes).filter_map(|(p, n)| Some((p.0, n?))).collect() }
    }

    /// Appends the nodes that compute the gradient of `loss`, a `[1, 1]` node, with respect to each node of `wrt`. The result is `None` for
    /// a node on which `loss` does not depend.
    #[track_caller]
    pub fn grad(&mut self, loss: NodeId, wrt: &[NodeId]) -> Vec<Option<NodeId>> {
        assert_eq!(self.shape(loss), [1, 1], "only a scalar has a gradient");
        let len = loss.0 + 1;
        let mut depends = vec![false; len];
        for id in 0..len {
            let node = &self.nodes[id];
            depends[id] = wrt.contains(&NodeId(id)) || node.op.passes_gradient() && node.inputs.iter().any(|i| depends[i.0]);
        }
        // Adjoint of each node: the gradient of the loss with respect to the node. An adjoint may be a row, a column or a scalar. It then
        // represents its broadcast to the node's shape.
        let mut adjoint: Vec<Option<NodeId>> = vec![None; len];
        adjoint[loss.0] = Some(self.scalar(1.0));
        for id in (0..len).rev() {
            let Some(dy) = adjoint[id].filter(|_| depends[id]) else { continue };
            let inputs = self.nodes[id].inputs.clone();
            if inputs.iter().all(|i| !depends[i.0]) {
                continue;
            }
            for (slot, part) in self.backward(NodeId(id), dy) {
                let to = inputs[slot];
                if depends[to.0] {
                    adjoint[to.0] = Some(match adjoint[to.0] {
                        Some(sum) => self.add(sum, part),
                        None => part,
                    });
                }
            }
        }
        wrt.iter()
            .map(|&to| {
                let dy = adjoint.get(to.0).copied().flatten()?;
                let shape = self.shape(to);
                Some(self.broadcast(dy, shape))
            })
            .collect()
    }

    /// Appends the nodes that pass the gradient from node `y` to its inputs. `dy` is the adjoint of `y`: the gradient of the loss with
    /// respect to `y`. Returns pairs of an input's index and the input's adjoint. An adjoint may be a row, a column or a scalar. It then
    /// represents its broadcast to the input's shape.
    fn backward(&mut self, y: NodeId, dy: NodeId) -> Vec<(usize, NodeId)> {
        let node = self.nodes[y.0].clone();
        let shape = node.shape;
        let input = |slot: usize| node.inputs[slot];
        match node.op {
            Op::Affine { scale, .. } => vec![(0, self.affine(dy, scale, 0.0))],
            Op::Unary(of) => vec![(0, self.unary_gradient(of, input(0), y, dy))],
            Op::Binary(of) => {
                let parts = self.binary_gradients(of, [input(0), input(1)], y, dy);
                [0, 1].map(|slot| (slot, self.reduce(parts[slot], shape, input(slot)))).to_vec()
            }
            Op::Sum(_) => vec![(0, dy)],
            Op::Broadcast => vec![(0, self.reduce(dy, shape, input(0)))],
            op => {
                let dy = self.broadcast(dy, shape);
                self.backward_full(&op, &node.inputs, y, dy)
            }
        }
    }

    fn unary_gradient(&mut self, of: Unary, x: NodeId, y: NodeId, dy: NodeId) -> NodeId {
        let at = match of {
            Unary::Relu | Unary::Tanh | Unary::Sigmoid => y,
            Unary::Gelu | Unary::Silu => x,
            Unary::Exp => return self.mul(y, dy),
            Unary::Ln => return self.div(dy, x),
            Unary::Square => {
                let half = self.mul(x, dy);
                return self.affine(half, 2.0, 0.0);
            }
            Unary::Sqrt => {
                let half = self.affine(dy, 0.5, 0.0);
                return self.div(half, y);
            }
        };
        let shape = self.shape(x);
        let dy = self.broadcast(dy, shape);
        self.push(Op::UnaryGrad(of), &[at, dy], shape)
    }

    /// Appends the gradients of the loss with respect to the two operands. The gradients are not yet summed to the shapes of the operands;
    /// [`Self::reduce`] sums them.
    fn binary_gradients(&mut self, of: Binary, [a, b]: [NodeId; 2], y: NodeId, dy: NodeId) -> [NodeId; 2] {
        match of {
            Binary::Add => [dy, dy],
            Binary::Sub => [dy, self.neg(dy)],
            Binary::Mul => [self.mul(b, dy), self.mul(a, dy)],
            Binary::Div => {
                let da = self.div(dy, b);
                let slope = self.mul(y, da);
                [da, self.neg(slope)]
            }
            Binary::Min | Binary::Max => {
                let takes_b = if of == Binary::Min { self.greater(a, b) } else { self.greater(b, a) };
                let db = self.mul(takes_b, dy);
                [self.sub(dy, db), db]
            }
            Binary::Greater => unreachable!("stops gradients"),
        }
    }

    /// Appends the backward nodes of an operation that needs `dy` in the full shape of the result `y`.
    fn backward_full(&mut self, op: &Op, inputs: &[NodeId], y: NodeId, dy: NodeId) -> Vec<(usize, NodeId)> {
        let width = |g: &Graph, slot: usize| g.shape(inputs[slot])[1];
        // Appends a node that is the gradient of one input.
        let mut of = |slot: usize, op: Op, reads: &[NodeId]| {
            let shape = self.shape(inputs[slot]);
            (slot, self.push(op, reads, shape))
        };
        match *op {
            Op::MatMul { ta, tb } => {
                let (a, b) = (inputs[0], inputs[1]);
                let da = if ta { self.matmul(b, dy, tb, true) } else { self.matmul(dy, b, false, !tb) };
                let db = if tb { self.matmul(dy, a, true, ta) } else { self.matmul(a, dy, !ta, false) };
                vec![(0, da), (1, db)]
            }
            Op::Norm { eps, centred } => {
                let wrts = [Wrt::X, Wrt::Gamma, Wrt::Beta].into_iter().take(inputs.len()).enumerate();
                let reads = [inputs[0], inputs[1], dy, y];
                wrts.map(|(slot, wrt)| of(slot, Op::NormGrad { eps, centred, wrt }, &reads)).collect()
            }
            Op::Rotary { back } => vec![of(0, Op::Rotary { back: !back }, &[dy, inputs[1]])],
            Op::CausalAttention { heads, len } => vec![of(0, Op::CausalAttentionGrad { heads, len }, &[inputs[0], y, dy])],
            Op::HeadLoss => {
                let reads = [inputs[0], inputs[1], inputs[2], dy, y];
                [true, false].map(|of_x| of(usize::from(!of_x), Op::HeadLossGrad { of_x }, &reads)).to_vec()
            }
            Op::Dropout { p, rng } => vec![of(0, Op::Dropout { p, rng }, &[dy, inputs[1]])],
            Op::Softmax { log } => vec![of(0, Op::SoftmaxGrad { log }, &[y, dy])],
            Op::Take => vec![of(0, Op::TakeGrad, &[inputs[1], dy])],
            Op::EmbeddingBag => vec![of(0, Op::EmbeddingBagGrad, &[inputs[1], dy])],
            Op::Concat => {
                let (left, right) = (width(self, 0), width(self, 1));
                vec![(0, self.slice_cols(dy, 0, left)), (1, self.slice_cols(dy, left, left + right))]
            }
            Op::SliceCols { from } => vec![of(0, Op::PadCols { from }, &[dy])],
            Op::PadCols { from } => {
                let cols = width(self, 0);
                vec![(0, self.slice_cols(dy, from, from + cols))]
            }
            ref op => panic!("{} is not differentiated again", op.text()),
        }
    }

    /// Sums the adjoint `dy` to the shape of the operand. `shape` is the shape of the operation's result, to which `dy` and the operand
    /// broadcast.
    fn reduce(&mut self, dy: NodeId, shape: Shape, operand: NodeId) -> NodeId {
        let to = self.shape(operand);
        let mut repeats = 1;
        let mut sum = dy;
        for axis in 0..2 {
            if to[axis] == 1 && shape[axis] > 1 {
                match (self.shape(sum)[axis], axis) {
                    (1, _) => repeats *= shape[axis],
                    (_, 0) => sum = self.sum_cols(sum),
                    _ => sum = self.sum_rows(sum),
                }
            }
        }
        self.affine(sum, repeats as f32, 0.0)
    }
}
