// Adds the metrics of a minibatch to their sums, unless the optimiser skipped the minibatch. If the KL divergence exceeds its limit, makes
// the optimiser skip the rest of the iteration.

struct Args {
    input: u32, counters: u32, norm: u32, hold: u32,
    metric_0: u32, metric_1: u32, metric_2: u32, metric_3: u32, metric_4: u32,
}

@compute @workgroup_size(1)
fn main() {
    words[args.counters + UPDATE] += 1u;
    if (words[args.hold] != 0u) { return; }
    words[args.counters + UPDATES] += 1u;
    let sums = args.input + SUMS;
    mem[sums] += mem[args.metric_0];
    mem[sums + 1u] += mem[args.metric_1];
    mem[sums + 2u] += mem[args.metric_2];
    mem[sums + 3u] += mem[args.metric_3];
    mem[sums + 4u] += mem[args.metric_4];
    mem[sums + 5u] += mem[args.norm];
    let limit = mem[args.input + KL_LIMIT];
    if (limit > 0.0 && mem[args.metric_3] > limit) { words[args.hold] = 1u; }
}
