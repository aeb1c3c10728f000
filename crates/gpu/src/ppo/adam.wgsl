// Adam (Kingma & Ba 2015) on a gradient that is no longer than a limit, a thread a parameter. Nothing changes where the
// iteration has stopped learning or the gradient is not finite.

struct Args {
    len: u32, groups: u32, params: u32, grads: u32, m: u32, v: u32, partial: u32, turn: u32, tally: u32,
}

var<workgroup> parts: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    // Every workgroup adds the same numbers in the same order.
    var mine = 0.0;
    if (local < args.groups) { mine = mem[args.partial + local]; }
    parts[local] = mine;
    for (var width = THREADS / 2u; width > 0u; width /= 2u) {
        workgroupBarrier();
        if (local < width) { parts[local] += parts[local + width]; }
    }
    workgroupBarrier();
    let norm = sqrt(parts[0]);
    if (words[args.tally + GOES_ON] == 0u) { return; }
    let block = group_index(group, many);
    if (block == 0u && local == 0u) { mem[args.turn + SUMS + 5u] += norm; }
    let finite = (bitcast<u32>(norm) & 0x7f800000u) != 0x7f800000u;
    let i = block * THREADS + local;
    if (i >= args.len || !finite) { return; }

    // The small term keeps a norm of 0 harmless, as in PyTorch's clip.
    let grad = mem[args.grads + i] * min(mem[args.turn + MOST_NORM] / (norm + 1e-6), 1.0);
    let m = fma(BETA_1, mem[args.m + i], (1.0 - BETA_1) * grad);
    let v = fma(BETA_2, mem[args.v + i], (1.0 - BETA_2) * grad * grad);
    mem[args.m + i] = m;
    mem[args.v + i] = v;
    let change = m / mem[args.turn + CORRECTION_1] / (sqrt(v / mem[args.turn + CORRECTION_2]) + EPS);
    mem[args.params + i] = fma(-mem[args.turn + RATE], change, mem[args.params + i]);
}
