// Processes wide rows. LANES adjacent threads process one row; each thread processes every LANES-th column. The text before this one
// defines the constants LANES and COLS, struct Args with `rows` first, the reductions `sum_of` and `top_of` over the threads of a row, and
// the function `row_of`, which every thread calls.

const SIZE = 256u;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        #BUILTINS) {
#PLACE
    let row = group_index(group, many) * (SIZE / LANES) + local / LANES;
    // Threads beyond the last row take part in the barriers and write nothing.
    row_of(min(row, args.rows - 1u), row < args.rows, local % LANES, local);
}
