// Writes observations as rows. The numbers pass through workgroup memory, so that adjacent threads write adjacent numbers.

var<workgroup> staged: array<f32, GROUP * OBSERVATION>;

// All threads of a workgroup must call this function; threads beyond the last environment pass arbitrary rows.
fn write_rows(at: u32, group: u32, local: u32, row: Shown) {
    workgroupBarrier();
    #OBSERVATION staged[local * OBSERVATION + #u] = row[#];
    workgroupBarrier();
    let start = group * GROUP * OBSERVATION;
    let len = args.envs * OBSERVATION - start;
    #OBSERVATION write_staged(at + start, local + #u * GROUP, len);
}

fn write_staged(at: u32, i: u32, len: u32) { if (i < len) { mem[at + i] = staged[i]; } }
