//! Tests of the structure of plans: fused kernels and descriptions.

use crate::nets;
use graph::{Act, Graph, Init, Isa, Layout, Plan, PlanNode, models};
use testkit::test;

/// Returns the name and the operation of each kernel.
fn kernels(plan: &Plan) -> Vec<(&str, &str)> {
    plan.describe().iter().map(|node| (&*node.name, &*node.op)).collect()
}

#[test]
fn a_layer_is_one_kernel() {
    let mut g = Graph::new();
    let x = g.input("obs", [64, 4]);
    let y = models::mlp(&mut g, x, "policy", &[16, 2], Act::Tanh);
    let p = g.softmax(y);
    for layout in [Layout::Rows, Layout::Panels] {
        let plan = Plan::new(&g, &[("p", p)], layout, Isa::best()).unwrap();
        let node = |name: &str, op: &str, shape, parameters, reads: &[usize]| PlanNode {
            name: name.into(),
            op: op.into(),
            shape,
            parameters,
            reads: reads.to_vec(),
        };
        let expected = [
            node("obs", "input", [64, 4], 0, &[]),
            node("policy.0", "linear + bias + tanh", [64, 16], 80, &[0]),
            node("policy.1", "linear + bias", [64, 2], 34, &[1]),
            node("p", "softmax", [64, 2], 0, &[2]),
        ];
        assert_eq!(plan.describe(), expected);
    }
}

#[test]
fn a_layer_over_indices_is_one_kernel() {
    let mut g = Graph::new();
    let (index, table) = (g.input("index", [64, 5]), g.param("cube.weight", [30, 16], Init::Zeros));
    let bias = g.vector("cube.bias", 16, Init::Zeros);
    let y = g.embedding_bag(table, index);
    let y = g.add(y, bias);
    let y = g.relu(y);
    let plan = Plan::new(&g, &[("y", y)], Layout::Rows, Isa::best()).unwrap();
    assert_eq!(kernels(&plan), [("index", "input"), ("cube", "embedding bag + bias + relu")]);
    assert!(Plan::new(&g, &[("y", y)], Layout::Panels, Isa::best()).is_err());
}

#[test]
fn a_residual_block_is_two_kernels() {
    let mut g = Graph::new();
    let x = g.input("x", [64, 8]);
    let y = models::residual_net(&mut g, x, 16, 1, 3);
    let plan = Plan::new(&g, &[("y", y)], Layout::Panels, Isa::best()).unwrap();
    let expected = [
        ("x", "input"),
        ("stem", "linear + bias + layer norm + relu"),
        ("block.0.0", "linear + bias + layer norm + relu"),
        ("block.0.1", "linear + bias + layer norm + residual + relu"),
        ("head", "linear + bias"),
    ];
    assert_eq!(kernels(&plan), expected);
    assert_eq!(plan.describe()[3].reads, [1, 2]);

    // A training plan keeps the fused forward kernels and adds backward kernels.
    let loss = nets::cross_entropy(&mut g, y);
    let gradients = g.gradients(loss);
    let training = Plan::training(&g, &[("loss", loss)], &gradients, Isa::best()).unwrap();
    assert_eq!(kernels(&training)[..5], expected);
    let count = |op: &str| kernels(&training).iter().filter(|kernel| kernel.1 == op).count();
    assert_eq!((count("layer norm"), count("layer norm gradient")), (0, 3));
}

/// Tests two fusions of a training plan. The kernel of a layer also saves the gelu's input, which the gelu's gradient needs. One kernel
/// computes a head's losses and their gradients.
#[test]
fn training_fuses_gelu_and_a_head() {
    let mut g = Graph::new();
    let x = g.input("x", [64, 8]);
    let y = models::mlp(&mut g, x, "mlp", &[16, 8], Act::Gelu);
    let (w, target) = (g.param("head.weight", [30, 8], Init::Zeros), g.input("target", [64, 1]));
    let losses = g.head_loss(y, w, target);
    let loss = g.mean_all(losses);
    let gradients = g.gradients(loss);
    let training = Plan::training(&g, &[("loss", loss)], &gradients, Isa::best()).unwrap();
    let expected =
        [("x", "input"), ("mlp.0", "linear + bias + gelu"), ("mlp.1", "linear + bias"), ("target", "input"), ("head", "head loss")];
    assert_eq!(kernels(&training)[..5], expected);
    let all = kernels(&training);
    assert!(all.iter().all(|(_, op)| !["gelu", "head loss gradient", "broadcast"].contains(op)), "{all:?}");
}

#[test]
fn only_requested_nodes_are_planned() {
    let mut g = Graph::new();
    let loss = nets::ppo_loss(&mut g, 32).0;
    let entropy_only = Plan::new(&g, &[("loss", loss)], Layout::Rows, Isa::best()).unwrap();
    let gradients = g.gradients(loss);
    let still = Plan::new(&g, &[("loss", loss)], Layout::Rows, Isa::best()).unwrap();
    assert_eq!(kernels(&entropy_only), kernels(&still));
    let training = Plan::training(&g, &[("loss", loss)], &gradients, Isa::best()).unwrap();
    assert!(training.describe().len() > still.describe().len());
}
