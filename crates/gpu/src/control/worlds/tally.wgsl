// A sum over a workgroup.

var<workgroup> tally: array<u32, GROUP>;

fn write_tally(group: u32, local: u32, count: u32) {
    tally[local] = count;
    for (var half = GROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (local < half) { tally[local] += tally[local + half]; }
    }
    if (local == 0u) { words[args.ended + group] = tally[0]; }
}
