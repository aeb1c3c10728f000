// Wide rows: LANES neighbouring threads work on one, each on every LANES-th of its columns. What stands before: the
// constants LANES and COLS, struct Args with `rows` in front, `fn row_of(...)`, which every thread enters, and what it may
// ask for: `sum_of` and `top_of`, over the threads of a row.

const SIZE = 256u;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        #BUILTINS) {
#PLACE
    let row = group_index(group, many) * (SIZE / LANES) + local / LANES;
    // Threads beyond the last row go along, for the barriers, and write nothing.
    row_of(min(row, args.rows - 1u), row < args.rows, local % LANES, local);
}
