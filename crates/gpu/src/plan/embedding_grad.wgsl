// The gradient of a table that rows were looked up in: the sum of dy over all rows with the same index, always in the
// order of the rows. A workgroup finds the rows that belong to its entry 256 at a time and adds them, a thread to a
// column. It has one entry of the table each, or, BY_INDEX, one looked-up row, of which the first of its index works
// for all. ADDS to what is there.

struct Args { index: u32, dy: u32, to: u32, rows: u32, cols: u32, table: u32 }

const SIZE = 256u;
var<workgroup> found: array<atomic<u32>, 8>;

fn entry_of(row: u32) -> u32 {
    return u32(clamp(mem[args.index + row], 0.0, f32(args.table - 1u)));
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let own = group_index(group, many);
    let last = select(args.table, args.rows, BY_INDEX);
    // Workgroups beyond the last go along, for the barriers, and write nothing.
    let beyond = own >= last;
    var entry = min(own, last - 1u);
    if (BY_INDEX) { entry = entry_of(entry); }
    let column = group.z * SIZE + local;
    var sum = 0.0;
    var first = args.rows;
    for (var from_row = 0u; from_row < args.rows; from_row += SIZE) {
        if (local < 8u) { atomicStore(&found[local], 0u); }
        workgroupBarrier();
        let row = from_row + local;
        if (row < args.rows && entry_of(row) == entry) { atomicOr(&found[local / 32u], 1u << (local % 32u)); }
        workgroupBarrier();
        for (var word = 0u; word < 8u; word++) {
            var bits = atomicLoad(&found[word]);
            while (bits != 0u) {
                let match_row = from_row + 32u * word + firstTrailingBit(bits);
                bits &= bits - 1u;
                first = min(first, match_row);
                if (column < args.cols) { sum += mem[args.dy + match_row * args.cols + column]; }
            }
        }
        workgroupBarrier();
    }
    if (beyond || column >= args.cols || (BY_INDEX && first != own)) { return; }
    let at = args.to + entry * args.cols + column;
    if (ADDS) { sum += mem[at]; }
    mem[at] = sum;
}
