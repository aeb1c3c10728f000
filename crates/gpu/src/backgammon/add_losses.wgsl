// Adds the losses and the gradient norm of an optimiser step to their sums over several steps.

struct Args { policy_loss: u32, value_loss: u32, norm: u32, sums: u32 }

@compute @workgroup_size(1)
fn main() {
    mem[args.sums] += mem[args.policy_loss];
    mem[args.sums + 1u] += mem[args.value_loss];
    mem[args.sums + 2u] += mem[args.norm];
}
