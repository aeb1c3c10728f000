// Counter-based random numbers, equal to the words of `math::rng` bit for bit (Salmon, Moraes, Dror, Shaw 2011; Jarzynski and Olano 2020).
// The text of poly.wgsl must precede this text.

fn threefry_turned(x: vec2<u32>, by: vec2<u32>) -> vec2<u32> { return (x << by) | (x >> (vec2<u32>(32u) - by)); }

// Mixes word 0 with word 1, and word 2 with word 3.
fn threefry_even(x: vec4<u32>, left: u32, right: u32) -> vec4<u32> {
    let sums = x.xz + x.yw;
    let mixed = threefry_turned(x.yw, vec2<u32>(left, right)) ^ sums;
    return vec4<u32>(sums.x, mixed.x, sums.y, mixed.y);
}

// Mixes word 0 with word 3, and word 2 with word 1.
fn threefry_odd(x: vec4<u32>, left: u32, right: u32) -> vec4<u32> {
    return threefry_even(x.xwzy, left, right).xwzy;
}

fn threefry_first_rounds(x: vec4<u32>) -> vec4<u32> {
    let y = threefry_odd(threefry_even(x, 10u, 26u), 11u, 21u);
    return threefry_odd(threefry_even(y, 13u, 27u), 23u, 5u);
}

// Computes Threefry4x32 with 13 rounds.
fn threefry(key: vec4<u32>, counter: vec4<u32>) -> vec4<u32> {
    let last = 0x1BD11BDAu ^ key.x ^ key.y ^ key.z ^ key.w;
    var x = threefry_first_rounds(counter + key);
    x += vec4<u32>(key.y, key.z, key.w, last + 1u);
    x = threefry_odd(threefry_even(x, 6u, 20u), 17u, 11u);
    x = threefry_odd(threefry_even(x, 25u, 10u), 18u, 20u);
    x += vec4<u32>(key.z, key.w, last, key.x + 2u);
    x = threefry_first_rounds(x);
    x += vec4<u32>(key.w, last, key.x, key.y + 3u);
    return threefry_even(x, 6u, 20u);
}

// Adds to each word the product of two other words.
fn pcg4_stirred(x: vec4<u32>) -> vec4<u32> {
    let a = x.x + x.y * x.w;
    let b = x.y + x.z * a;
    let c = x.z + a * b;
    return vec4<u32>(a, b, c, x.w + b * c);
}

// Maps 4 words one to one to 4 random words, at a third of the cost of threefry.
fn pcg4(words_in: vec4<u32>) -> vec4<u32> {
    let x = pcg4_stirred(words_in * 1664525u + 1013904223u);
    return pcg4_stirred(x ^ (x >> vec4<u32>(16u)));
}

// Hashes two words under a key, with pcg4.
fn hash(key: vec2<u32>, x: vec2<u32>) -> vec4<u32> {
    let folded = x ^ (x >> vec2<u32>(16u));
    return pcg4(vec4<u32>(folded, key << vec2<u32>(1u)));
}

// Maps a random word to a uniform number in [0, 1), a multiple of 2^-24. (`uniform` is a reserved word in WGSL.)
fn uniform_of(word: u32) -> f32 { return f32(word >> 8u) * 5.9604644775390625e-8; }

// Maps two random words to two independent normal numbers (Box and Muller 1958).
fn normals(a: u32, b: u32) -> vec2<f32> {
    // 1 - u is above 0, so the logarithm is finite.
    let radius = sqrt(-2.0 * poly_ln(1.0 - uniform_of(a)));
    let turned = poly_sin_cos(fma(uniform_of(b), 6.28318530717958647692, -3.14159265358979323846));
    return radius * turned.yx;
}
