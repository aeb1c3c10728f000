// Computes the coefficients of the gates from their parameters. The intermediate result is the probability of output 1 for the inputs (0,
// 0), (0, 1), (1, 0) and (1, 1). With LEARN, computes the gradient of the parameters instead, and updates the parameters.

var<private> soft: array<f32, 16>;

fn outputs_of(op: u32) -> vec4<f32> {
    return vec4<f32>((vec4<u32>(op) >> vec4<u32>(3u, 2u, 1u, 0u)) & vec4<u32>(1u));
}

// Computes `learn::logic::automaton::gumbel` for one logit.
fn noise_of(member: u32, gate: u32, op: u32) -> f32 {
    let at = args.standing + 4u * member;
    let key = vec4<u32>(words[at], PURPOSE_GUMBEL, 0u, 0u);
    let block = threefry(key, vec4<u32>(16u * (gate / 4u) + op, words[at + 1u], 0u, 2u));
    let u = min(uniform_of(block[gate % 4u]) + 2.98023223876953125e-8, 0.99999994039535522);
    return -poly_ln(-poly_ln(u));
}

// Fills `soft` with the probabilities of a gate's 16 operations. Returns the index of the operation with the largest logit.
fn soften(member: u32, gate: u32) -> u32 {
    let at = args.params + 16u * (member * GATES + gate);
    var ahead = 0u;
    for (var op = 0u; op < 16u; op++) {
        var logit = mem[at + op];
        if (GUMBEL) { logit = (logit + noise_of(member, gate, op)) / TEMPERATURE; }
        soft[op] = logit;
        if (logit > soft[ahead]) { ahead = op; }
    }
    let most = soft[ahead];
    var sum = 0.0;
    for (var op = 0u; op < 16u; op++) {
        soft[op] = poly_exp(soft[op] - most);
        sum += soft[op];
    }
    for (var op = 0u; op < 16u; op++) { soft[op] /= sum; }
    return ahead;
}

fn sigmoids(member: u32, gate: u32) -> vec4<f32> {
    let x = four_at(gate_at(args.params, member, gate));
    return vec4<f32>(poly_sigmoid(x.x), poly_sigmoid(x.y), poly_sigmoid(x.z), poly_sigmoid(x.w));
}

fn outputs(member: u32, gate: u32) -> vec4<f32> {
    if (FOUR) { return sigmoids(member, gate); }
    let ahead = soften(member, gate);
    if (GUMBEL) { return outputs_of(ahead); }
    var sum = vec4<f32>();
    for (var op = 0u; op < 16u; op++) { sum = fma(vec4<f32>(soft[op]), outputs_of(op), sum); }
    return sum;
}

fn square_of(x: vec4<f32>) -> f32 { return dot(x, x); }

// Performs an AdamW step on four parameters with clipped gradients. Returns the squared norm of the unclipped gradients.
fn move_four(at: u32, member: u32, raw: vec4<f32>) -> f32 {
    let knobs = four_at(args.knobs);
    let decay = mem[args.knobs + 4u];
    let most = vec4<f32>(mem[args.knobs + 5u]);
    let unbias = vec2<f32>(mem[args.corrections + 2u * member], mem[args.corrections + 2u * member + 1u]);
    let grad = clamp(raw, -most, most);
    let m = fma(vec4<f32>(knobs.y), four_at(args.m + at), (1.0 - knobs.y) * grad);
    let v = fma(vec4<f32>(knobs.z), four_at(args.v + at), (1.0 - knobs.z) * grad * grad);
    let param = four_at(args.params + at);
    let change = fma(vec4<f32>(decay), param, m * unbias.x / (sqrt(v * unbias.y) + knobs.w));
    let moved = fma(vec4<f32>(-knobs.x), change, param);
    for (var i = 0u; i < 4u; i++) {
        mem[args.params + at + i] = moved[i];
        mem[args.m + at + i] = m[i];
        mem[args.v + at + i] = v[i];
    }
    return square_of(raw);
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let member = args.member + group.z;
    let gate = group.x * SIZE + local;
    if (gate >= GATES || !learns(member)) { return; }
    if (!LEARN) {
        let p = outputs(member, gate);
        let c = vec4<f32>(p.x, p.z - p.x, p.y - p.x, (p.x - p.y) + (p.w - p.z));
        let at = gate_at(0u, member, gate);
        for (var i = 0u; i < 4u; i++) {
            mem[args.coefficients + at + i] = c[i];
            mem[args.slopes + at + i] = 0.0;
        }
        return;
    }
    let s = four_at(gate_at(args.slopes, member, gate));
    let d = vec4<f32>((s.x - s.y) + (s.w - s.z), s.z - s.w, s.y - s.w, s.w);
    var square = 0.0;
    if (FOUR) {
        let p = sigmoids(member, gate);
        square = move_four(gate_at(0u, member, gate), member, d * p * (1.0 - p));
    } else {
        soften(member, gate);
        var mean = 0.0;
        for (var op = 0u; op < 16u; op++) { mean = fma(soft[op], dot(d, outputs_of(op)), mean); }
        for (var first = 0u; first < 16u; first += 4u) {
            var grad = vec4<f32>();
            for (var i = 0u; i < 4u; i++) {
                grad[i] = soft[first + i] * (dot(d, outputs_of(first + i)) - mean) / TEMPERATURE;
            }
            square += move_four(16u * (member * GATES + gate) + first, member, grad);
        }
    }
    mem[args.squares + member * GATES + gate] = square;
}
