// Computes the inputs of consecutive decisions, one thread per input.

struct Args { decisions: u32, inputs: u32, rows: u32 }

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let t = group_index(group, many) * 256u + local;
    let row = t / INPUTS;
    if (row >= args.rows) { return; }
    mem[args.inputs + t] = input(args.decisions + row * DECISION_WORDS, t % INPUTS);
}
