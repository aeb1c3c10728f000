// Gradient of an embedding table. In the forward pass, each output row is the sum of `k` entries (rows of the table). The gradient of an
// entry is the sum of dy over all indices that select the entry, always in the same order. A workgroup computes one entry. The workgroup
// finds the indices that select the entry, 256 indices at a time, and adds their rows of dy, one thread per column. With BY_INDEX, there is
// one workgroup per index instead. This workgroup writes the gradient of the entry that its index selects, but only if no earlier index
// selects this entry. With ADDS, the sum is added to the contents.

struct Args { index: u32, dy: u32, to: u32, indices: u32, cols: u32, table: u32, k: u32 }

const SIZE = 256u;
var<workgroup> found: array<atomic<u32>, 8>;

// Returns the entry that index i selects, or `args.table` (no entry) if the index is skipped.
fn entry_of(i: u32) -> u32 {
    let index = mem[args.index + i];
    return select(args.table, u32(clamp(index, 0.0, f32(args.table - 1u))), index >= 0.0);
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let own = group_index(group, many);
    let last = select(args.table, args.indices, BY_INDEX);
    // Workgroups beyond the last entry (with BY_INDEX: the last index) take part in the barriers and write nothing.
    let beyond = own >= last;
    var entry = min(own, last - 1u);
    if (BY_INDEX) { entry = entry_of(entry); }
    let column = group.z * SIZE + local;
    var sum = 0.0;
    var first = args.indices;
    for (var from_index = 0u; from_index < args.indices; from_index += SIZE) {
        if (local < 8u) { atomicStore(&found[local], 0u); }
        workgroupBarrier();
        let i = from_index + local;
        if (i < args.indices && entry_of(i) == entry) { atomicOr(&found[local / 32u], 1u << (local % 32u)); }
        workgroupBarrier();
        for (var word = 0u; word < 8u; word++) {
            var bits = atomicLoad(&found[word]);
            while (bits != 0u) {
                let match_index = from_index + 32u * word + firstTrailingBit(bits);
                bits &= bits - 1u;
                first = min(first, match_index);
                if (column < args.cols) { sum += mem[args.dy + match_index / args.k * args.cols + column]; }
            }
        }
        workgroupBarrier();
    }
    if (beyond || entry == args.table || column >= args.cols || (BY_INDEX && first != own)) { return; }
    let at = args.to + entry * args.cols + column;
    if (ADDS) { sum += mem[at]; }
    mem[at] = sum;
}
