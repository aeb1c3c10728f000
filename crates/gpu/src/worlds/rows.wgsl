// Observations as rows: through workgroup memory, so that neighbours write neighbours.

var<workgroup> staged: array<f32, GROUP * OBSERVATION>;

// By all of a workgroup at once; those beyond the last environment bring anything.
fn write_rows(at: u32, group: u32, local: u32, given: Shown) {
    var row = given;
    workgroupBarrier();
    for (var i = 0u; i < OBSERVATION; i++) { staged[local * OBSERVATION + i] = row[i]; }
    workgroupBarrier();
    let start = group * GROUP * OBSERVATION;
    let end = args.envs * OBSERVATION;
    for (var i = local; i < GROUP * OBSERVATION; i += GROUP) {
        if (start + i < end) { mem[at + start + i] = staged[i]; }
    }
}
