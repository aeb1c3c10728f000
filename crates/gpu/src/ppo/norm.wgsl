// After a minibatch's gradient: its squares, summed a workgroup each, and the books. Once the policy has moved far
// enough, what follows in this iteration changes nothing.

struct Args {
    len: u32, groups: u32, grads: u32, partial: u32, turn: u32, tally: u32,
    metric_0: u32, metric_1: u32, metric_2: u32, metric_3: u32, metric_4: u32,
}

var<workgroup> parts: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var mine = 0.0;
    for (var i = group.x * THREADS + local; i < args.len; i += args.groups * THREADS) {
        let grad = mem[args.grads + i];
        mine = fma(grad, grad, mine);
    }
    parts[local] = mine;
    for (var width = THREADS / 2u; width > 0u; width /= 2u) {
        workgroupBarrier();
        if (local < width) { parts[local] += parts[local + width]; }
    }
    if (local == 0u) { mem[args.partial + group.x] = parts[0]; }
    if (local != 0u || group.x != 0u) { return; }

    words[args.tally + UPDATE] += 1u;
    let goes_on = words[args.tally + STOPPED] == 0u;
    words[args.tally + GOES_ON] = select(0u, 1u, goes_on);
    if (!goes_on) { return; }
    words[args.tally + UPDATES] += 1u;
    let sums = args.turn + SUMS;
    mem[sums] += mem[args.metric_0];
    mem[sums + 1u] += mem[args.metric_1];
    mem[sums + 2u] += mem[args.metric_2];
    mem[sums + 3u] += mem[args.metric_3];
    mem[sums + 4u] += mem[args.metric_4];
    let limit = mem[args.turn + KL_LIMIT];
    if (limit > 0.0 && mem[args.metric_3] > limit) { words[args.tally + STOPPED] = 1u; }
    // 1 - β to the power of one step more.
    let first = args.turn + CORRECTION_1;
    let second = args.turn + CORRECTION_2;
    mem[first] = fma(mem[first], BETA_1, 1.0 - BETA_1);
    mem[second] = fma(mem[second], BETA_2, 1.0 - BETA_2);
}
