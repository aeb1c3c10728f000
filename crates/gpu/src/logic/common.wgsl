// Definitions that all kernels of a population share. A lane is one cell of one sample. A row has one number per lane. The first rows are
// the nine cells of the neighbourhood in each channel, `[channel][place]`. The next rows are the outputs of the evaluated gates, layer by
// layer; the rows of a perception layer are `[channel][kernel][gate]`. The last rows are the cell's next channels. A slope is the
// derivative of the loss with respect to a number. Constants in capitals precede this text.

struct Args {
    // In `mem`, for all members. params, m, v: [member][gate][parameter]
    params: u32, m: u32, v: u32,
    // coefficients: [member][gate][c0, c1, c2, c3]; slopes: slopes of the coefficients
    coefficients: u32, slopes: u32,
    // states: [step][member][sample][channel][cell]; d_state: slopes of the latest state; targets: [member][sample][channel][cell]
    states: u32, d_state: u32, targets: u32,
    // For the members of the dispatch only. x: [member][row][lane]; d: slopes of the numbers in x
    x: u32, d: u32,
    // squares: [member][gate] squared gradient norms; sums: [member](loss, gradient norm)
    squares: u32, sums: u32,
    // knobs: (lr, beta1, beta2, eps, weight decay, clip); corrections: [member](1/(1 - beta1^t), 1/(1 - beta2^t))
    knobs: u32, corrections: u32,
    // In `words`. standing: [member](seed, updates, nonzero if the member trains, 0); wires: [member][row - INPUTS], two inputs of 16 bits
    standing: u32, wires: u32,
    // readers_begin: [member][row] index of the row's first reader; readers: [member] list of readers. A reader is 2 * the reading row, + 1
    // if the reading row reads through its second input
    readers_begin: u32, readers: u32,
    // gate_of: [row - INPUTS]; rows_of: [gate](first row, stride, number of rows)
    gate_of: u32, rows_of: u32,
    // First member, first row, and step of this dispatch
    member: u32, row: u32, step: u32,
}

fn learns(member: u32) -> bool { return words[args.standing + 4u * member + 2u] != 0u; }

fn row_at(base: u32, member: u32, row: u32) -> u32 {
    return base + ((member - args.member) * ROWS + row) * ROW;
}

fn gate_at(base: u32, member: u32, gate: u32) -> u32 { return base + 4u * (member * GATES + gate); }

fn four_at(at: u32) -> vec4<f32> { return vec4<f32>(mem[at], mem[at + 1u], mem[at + 2u], mem[at + 3u]); }

// Returns the numbers of the four lanes of a thread. The lanes are SIZE apart, so that adjacent threads read adjacent numbers.
fn lanes_at(at: u32) -> vec4<f32> {
    return vec4<f32>(mem[at], mem[at + SIZE], mem[at + 2u * SIZE], mem[at + 3u * SIZE]);
}

fn set_lanes(at: u32, x: vec4<f32>) {
    mem[at] = x.x;
    mem[at + SIZE] = x.y;
    mem[at + 2u * SIZE] = x.z;
    mem[at + 3u * SIZE] = x.w;
}

// Returns the rows that are the two inputs of the gate in row `row`.
fn inputs_of(member: u32, row: u32) -> vec2<u32> {
    let both = words[args.wires + member * (ROWS - INPUTS) + row - INPUTS];
    return vec2<u32>(both & 0xffffu, both >> 16u);
}

fn coefficients_of(member: u32, row: u32) -> vec4<f32> {
    return four_at(gate_at(args.coefficients, member, words[args.gate_of + row - INPUTS]));
}

// Returns the index of a number within one step's states of all members.
fn cell_at(member: u32, lane: u32, channel: u32, cell: u32) -> u32 {
    return (member * BATCH + lane / PLANE) * CHANNELS * PLANE + channel * PLANE + cell;
}

fn state_at(step: u32, member: u32, lane: u32, channel: u32, cell: u32) -> u32 {
    return args.states + step * MEMBERS * BATCH * CHANNELS * PLANE + cell_at(member, lane, channel, cell);
}

// Returns the index of the cell at offset `by` from `cell`; PLANE if that cell is outside the grid.
fn cell_from(cell: u32, by: vec2<i32>) -> u32 {
    let size = vec2<i32>(WIDTH, HEIGHT);
    let at = vec2<i32>(i32(cell) % WIDTH, i32(cell) / WIDTH) + by;
    let inside = (at + size) % size;
    if (!PERIODIC && any(inside != at)) { return PLANE; }
    return u32(inside.y * WIDTH + inside.x);
}

fn place(k: u32) -> vec2<i32> { return vec2<i32>(i32(k % 3u), i32(k / 3u)) - 1; }

// Computes `learn::logic::fire` for one cell. Random number i of a sample is word (i / 16) % 4 of block 16 * (i / 64) + i % 16.
fn fires(member: u32, lane: u32) -> bool {
    if (!ASYNCHRONOUS) { return true; }
    let at = args.standing + 4u * member;
    let key = vec4<u32>(words[at], PURPOSE_FIRE, words[at + 1u], args.step);
    let cell = lane % PLANE;
    let block = threefry(key, vec4<u32>(16u * (cell / 64u) + cell % 16u, lane / PLANE, 0u, 2u));
    return uniform_of(block[(cell / 16u) % 4u]) <= RATE;
}
