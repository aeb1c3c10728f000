// Wide rows: LANES neighbouring threads work on one, each on every LANES-th of its columns. What stands before: the
// constants LANES and COLS, struct Args with `rows` in front, and `fn row_of(...)`, which every thread enters.

const SIZE = 256u;
var<workgroup> lanes: array<f32, SIZE>;

fn sum_of(x: f32, local: u32) -> f32 {
    lanes[local] = x;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half >>= 1u) {
        if (local % LANES < half) { lanes[local] += lanes[local + half]; }
        workgroupBarrier();
    }
    let sum = lanes[local - local % LANES];
    workgroupBarrier();
    return sum;
}

fn top_of(x: f32, local: u32) -> f32 {
    lanes[local] = x;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half >>= 1u) {
        if (local % LANES < half) { lanes[local] = max(lanes[local], lanes[local + half]); }
        workgroupBarrier();
    }
    let top = lanes[local - local % LANES];
    workgroupBarrier();
    return top;
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let row = group_index(group, many) * (SIZE / LANES) + local / LANES;
    // Threads beyond the last row go along, for the barriers, and write nothing.
    row_of(min(row, args.rows - 1u), row < args.rows, local % LANES, local);
}
