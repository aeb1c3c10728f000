// Adam (Kingma & Ba 2015) with decoupled weight decay (Loshchilov & Hutter 2019) and clipping by the global norm. A step is two dispatches.
// In the first, which has LENGTH, each workgroup sums squares of gradients. In the second, every workgroup adds up all sums of squares and
// updates its part of the parameters. An element is four floats. `knobs` holds (lr, beta1, beta2, eps) and (weight decay, maximum norm,
// weight decay of vectors); `corrections` holds (1 - beta1^t, 1 - beta2^t) after t steps. `whole_sum` sums over the threads of a workgroup.

struct Args {
    params: u32, grads: u32, m: u32, v: u32, len: u32,
    knobs: u32, corrections: u32, squares: u32, norm: u32, parts: u32,
    // Three words: number of counted steps before the latest step, 1 if the latest step counted, and nonzero to skip further steps.
    taken: u32,
    // In `words`: one bit per four elements, 1 if these belong to a vector.
    vectors: u32,
}

const SIZE = 256u;

// Returns the corrections after one more step. For each beta, 1 - beta*beta^t = beta*(1 - beta^t) + 1 - beta.
fn corrected() -> vec4<f32> {
    let knobs = mem[args.knobs];
    let betas = vec4<f32>(knobs.y, knobs.z, 0.0, 0.0);
    return fma(betas, mem[args.corrections], 1.0 - betas);
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        #BUILTINS) {
#PLACE
    let first = group.x * SIZE + local;
    let stride = many.x * SIZE;
    if (LENGTH) {
        if (first == 0u) {
            if (words[args.taken + 1u] != 0u) { mem[args.corrections] = corrected(); }
            words[args.taken] += words[args.taken + 1u];
            words[args.taken + 1u] = 0u;
        }
        var squares = vec4<f32>();
        for (var i = first; i < args.len; i += stride) {
            let g = mem[args.grads + i];
            squares = fma(g, g, squares);
        }
        let sum = whole_sum((squares.x + squares.y) + (squares.z + squares.w), local);
        if (local == 0u) { mem[args.squares + group.x] = vec4<f32>(sum, 0.0, 0.0, 0.0); }
        return;
    }
    var share = 0.0;
    for (var i = local; i < args.parts; i += SIZE) { share += mem[args.squares + i].x; }
    let norm = sqrt(whole_sum(share, local));
    // The norm is not finite if all bits of its exponent are 1.
    let finite = (bitcast<u32>(norm) & 0x7f800000u) != 0x7f800000u;
    let held = words[args.taken + 2u] != 0u;
    if (first == 0u) {
        mem[args.norm] = vec4<f32>(norm, 0.0, 0.0, 0.0);
        words[args.taken + 1u] = u32(finite && !held);
    }
    if (!finite || held) { return; }
    let knobs = mem[args.knobs];
    let rest = mem[args.knobs + 1u];
    let corrections = corrected();
    // The small term prevents a division by 0.
    let scale = select(1.0, rest.y / (norm + 1e-6), norm + 1e-6 > rest.y);
    for (var i = first; i < args.len; i += stride) {
        let grad = mem[args.grads + i] * scale;
        let m = fma(vec4(knobs.y), mem[args.m + i], (1.0 - knobs.y) * grad);
        let v = fma(vec4(knobs.z), mem[args.v + i], (1.0 - knobs.z) * grad * grad);
        let root = sqrt(v / corrections.y) + knobs.w;
        let param = mem[args.params + i];
        let of_vector = (words[args.vectors + i / 128u] >> (i / 4u % 32u)) & 1u;
        let decay = select(rest.x, rest.z, of_vector == 1u);
        let change = fma(vec4(decay), param, m / corrections.x / root);
        mem[args.params + i] = fma(vec4(-knobs.x), change, param);
        mem[args.m + i] = m;
        mem[args.v + i] = v;
    }
}
