// Sums `count` over the threads of a workgroup, and writes the sum.

var<workgroup> counts: array<u32, GROUP>;

fn write_count(group: u32, local: u32, count: u32) {
    counts[local] = count;
    for (var half = GROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (local < half) { counts[local] += counts[local + half]; }
    }
    if (local == 0u) { words[args.ended + group] = counts[0]; }
}
