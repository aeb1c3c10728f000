// Functions for moments. The moments of some numbers are their count, their mean, and the sum of their squared deviations from this mean.
// Moments are merged pair by pair in a fixed order (Chan, Golub & LeVeque 1979).

fn merged(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let count = a.x + b.x;
    if (count == 0.0) { return a; }
    let apart = b.y - a.y;
    let share = b.x / count;
    return vec3<f32>(count, fma(apart, share, a.y), a.z + fma(apart * apart * a.x, share, b.z));
}

// Adds one number to moments; `share` is 1 over the new count.
fn with_one(moments: vec3<f32>, x: f32, share: f32) -> vec3<f32> {
    let apart = x - moments.y;
    let mean = fma(apart, share, moments.y);
    return vec3<f32>(moments.x + 1.0, mean, fma(apart, x - mean, moments.z));
}

var<workgroup> parts: array<vec3<f32>, THREADS>;

// Merges the moments `mine` of all threads of a workgroup. All of these threads must call the function.
fn merged_by_all(mine: vec3<f32>, local: u32) -> vec3<f32> {
    workgroupBarrier();
    parts[local] = mine;
    for (var width = THREADS / 2u; width > 0u; width /= 2u) {
        workgroupBarrier();
        if (local < width) { parts[local] = merged(parts[local], parts[local + width]); }
    }
    workgroupBarrier();
    return parts[0];
}
