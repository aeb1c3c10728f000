// Operations of compiled files, with the results and the errors of `worlds::control::script::fold`. A row is a u32 with the bits of a
// number or a bool. Tests of the bits replace comparisons with NaN and infinities, which compilers may remove.

// Number of passes of loops in the current call.
var<private> script_passes: u32;
// True after a step that ended the episode. The mask of such a state may permit no choice.
var<private> script_over: bool;
// Random block of the current call: its number, and its words.
var<private> script_block: u32;
var<private> script_words: vec4<u32>;

fn script_begin() {
    script_passes = 0u;
    script_over = false;
    script_block = 0xFFFFFFFFu;
}

// Reports an error, unless there is one already. `place` is the number of the failed instruction.
fn script_fail(fails: bool, place: u32, value: u32) {
    if (fails && world_fault.x == 0u) { world_fault = vec2<u32>(place, value); }
}

// Counts `count` passes of a loop. Returns the mask of the loop.
fn script_pass(mask: u32, count: u32, most: u32, place: u32) -> u32 {
    script_passes += (mask & 1u) * count;
    if (mask == 0u || script_passes <= most) { return mask; }
    script_fail(true, place, 0u);
    return 0u;
}

// Returns random word `number` of a call. `moment` is the environment, the episode and the step.
fn script_word(key: vec4<u32>, moment: vec3<u32>, number: u32) -> u32 {
    if (script_block != number >> 2u) {
        script_block = number >> 2u;
        script_words = threefry(key, vec4<u32>(moment, script_block));
    }
    return script_words[number & 3u];
}

fn script_mask(truth: bool) -> u32 { return select(0u, 0xFFFFFFFFu, truth); }

// Returns its argument. A compiler does not evaluate the call at compile time, so it accepts the bits of an infinity.
fn script_bits(bits: u32) -> u32 { return bits; }

// ---- lists ----

// Returns an index counted from the start of a list of `len` elements; 0 if the index is out of range.
fn script_index(index: u32, len: u32) -> u32 {
    let at = select(index, index + len, (index >> 31u) == 1u);
    return select(0u, at, at < len);
}

fn script_index_fails(index: u32, len: u32) -> bool { return select(index, index + len, (index >> 31u) == 1u) >= len; }

// ---- integers ----

// Returns the upper 32 bits of a product.
fn script_high(a: u32, b: u32) -> u32 {
    let low = (a & 0xFFFFu) * (b & 0xFFFFu);
    let first = (a >> 16u) * (b & 0xFFFFu) + (low >> 16u);
    let second = (a & 0xFFFFu) * (b >> 16u) + (first & 0xFFFFu);
    return (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
}

fn script_magnitude(a: u32) -> u32 { return select(a, 0u - a, (a >> 31u) == 1u); }

fn script_add_fails(a: u32, b: u32) -> bool { return (((a ^ (a + b)) & (b ^ (a + b))) >> 31u) == 1u; }

fn script_subtract_fails(a: u32, b: u32) -> bool { return (((a ^ b) & (a ^ (a - b))) >> 31u) == 1u; }

fn script_multiply_fails(a: u32, b: u32) -> bool {
    let x = script_magnitude(a);
    let y = script_magnitude(b);
    return script_high(x, y) != 0u || x * y > 0x7FFFFFFFu + ((a ^ b) >> 31u);
}

fn script_divide_fails(a: u32, b: u32) -> bool { return b == 0u || (a == 0x80000000u && b == 0xFFFFFFFFu); }

// Returns the quotient, rounded down.
fn script_divide(a: u32, b: u32) -> u32 {
    let x = bitcast<i32>(a);
    let y = select(bitcast<i32>(b), 1, script_divide_fails(a, b));
    let quotient = x / y;
    return bitcast<u32>(quotient - select(0, 1, x - quotient * y != 0 && (x < 0) != (y < 0)));
}

// Returns the remainder of the division that rounds down.
fn script_modulo(a: u32, b: u32) -> u32 { return a - script_divide(a, b) * select(b, 1u, script_divide_fails(a, b)); }

// Returns the integer that equals a whole number; an arbitrary integer if the number does not fit into 32 bits.
fn script_whole(x: f32) -> u32 { return bitcast<u32>(i32(select(x, 0.0, script_whole_fails(x)))); }

fn script_whole_fails(x: f32) -> bool {
    let bits = bitcast<u32>(x);
    return (bits & 0x7FFFFFFFu) >= 0x4F000000u && bits != 0xCF000000u;
}

// ---- floats ----

fn script_finite(bits: u32) -> bool { return (bits & 0x7FFFFFFFu) < 0x7F800000u; }

fn script_nan(bits: u32) -> bool { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }

// True if a float is 0 or -0.
fn script_zero(bits: u32) -> bool { return (bits & 0x7FFFFFFFu) == 0u; }

// True if a float is below 0.
fn script_below_zero(bits: u32) -> bool { return bits > 0x80000000u && bits <= 0xFF800000u; }

// Returns the smaller number; of two equal numbers, the first, as in Python.
fn script_smaller(x: f32, y: f32) -> f32 { return select(x, y, y < x); }

fn script_larger(x: f32, y: f32) -> f32 { return select(x, y, y > x); }

// Returns a quotient. A platform's division may have an error in the last digits. The second line corrects this error, so a quotient that
// is a whole number is exact.
fn script_quotient(x: f32, y: f32) -> f32 {
    let near = x / y;
    let exact = near + fma(-near, y, x) / y;
    return select(near, exact, script_finite(bitcast<u32>(exact)));
}

// Returns a square root. The second line corrects errors as in `script_quotient`, so the root of the square of a whole number is exact.
fn script_sqrt(x: f32) -> f32 {
    let near = sqrt(x);
    let exact = near + fma(-near, near, x) / (near + near);
    return select(near, exact, script_finite(bitcast<u32>(exact)));
}

// Returns the exact remainder of the division that rounds to 0. The remainder has the sign of `x`.
fn script_rest(x: f32, y: f32) -> f32 {
    let sign = bitcast<u32>(x) & 0x80000000u;
    let a = bitcast<u32>(x) & 0x7FFFFFFFu;
    let b = bitcast<u32>(y) & 0x7FFFFFFFu;
    if (b == 0u || b > 0x7F800000u || a >= 0x7F800000u) { return bitcast<f32>(sign | 0x7FC00000u); }
    if (a < b) { return x; }
    let divisor = (b & 0x7FFFFFu) | select(0u, 0x800000u, b >= 0x800000u);
    let exponent = max(b >> 23u, 1u);
    var rest = ((a & 0x7FFFFFu) | select(0u, 0x800000u, a >= 0x800000u)) % divisor;
    for (var k = max(a >> 23u, 1u); k > exponent; k--) {
        rest <<= 1u;
        rest -= select(0u, divisor, rest >= divisor);
    }
    if (rest == 0u) { return bitcast<f32>(sign); }
    let shift = min(countLeadingZeros(rest) - 8u, exponent - 1u);
    rest <<= shift;
    let scale = select(0u, (exponent - shift) << 23u, rest >= 0x800000u);
    return bitcast<f32>(sign | scale | (rest & 0x7FFFFFu));
}

fn script_with_sign(x: f32, signed: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7FFFFFFFu) | (bitcast<u32>(signed) & 0x80000000u));
}

// Returns Python's `x // y` and `x % y`.
fn script_floor_division(x: f32, y: f32) -> vec2<f32> {
    var rest = script_rest(x, y);
    var quotient = script_quotient(x - rest, y);
    if (rest == 0.0) {
        rest = script_with_sign(0.0, y);
    } else if ((y < 0.0) != (rest < 0.0)) {
        rest += y;
        quotient -= 1.0;
    }
    if (quotient == 0.0) { return vec2<f32>(script_with_sign(0.0, script_quotient(x, y)), rest); }
    let whole = floor(quotient);
    return vec2<f32>(select(whole, whole + 1.0, quotient - whole > 0.5), rest);
}

// Largest number whose exponential is a float.
const SCRIPT_LARGEST_EXPONENT: f32 = 88.72284;

fn script_exp(x: f32) -> f32 {
    let most = select(poly_exp(x), x, x > SCRIPT_LARGEST_EXPONENT || script_nan(bitcast<u32>(x)));
    return select(most, 0.0, x < -87.33654);
}

fn script_exp_fails(x: f32) -> bool { return x > SCRIPT_LARGEST_EXPONENT && script_finite(bitcast<u32>(x)); }

fn script_log(x: f32) -> f32 { return select(x, poly_ln(max(x, 1.1754944e-38)), script_finite(bitcast<u32>(x))); }

fn script_log_fails(bits: u32) -> bool { return script_zero(bits) || script_below_zero(bits); }

fn script_power(x: f32, y: f32) -> f32 { return script_exp(y * script_log(x)); }

fn script_power_fails(x: f32, y: f32) -> bool {
    let positive = bitcast<u32>(x) - 1u < 0x7F800000u;
    let exponent = y * script_log(x);
    let large = exponent > SCRIPT_LARGEST_EXPONENT || script_nan(bitcast<u32>(exponent));
    return !positive || (large && script_finite(bitcast<u32>(y)));
}

fn script_tan(x: f32) -> f32 {
    let turned = poly_sin_cos(x);
    return script_quotient(turned.x, turned.y);
}

fn script_tanh(x: f32) -> f32 { return select(poly_tanh(x), x, script_nan(bitcast<u32>(x))); }

// Computes atan2 with the formula of `math::poly`.
fn script_atan2(y: f32, x: f32) -> f32 {
    let steep = abs(y) > abs(x);
    let small = select(abs(y), abs(x), steep);
    let large = select(abs(x), abs(y), steep);
    // Two equal numbers have the ratio 1, also if both are infinite; two zeros have the ratio 0.
    let ratio = select(select(script_quotient(small, large), 1.0, small == large), 0.0, large == 0.0);
    let upper = ratio > 0.41421357;
    let t = select(ratio, (ratio - 1.0) / (ratio + 1.0), upper);
    let square = t * t;
    var p = fma(-6.0834456e-2, square, 0.10595998);
    p = fma(p, square, -0.14243849);
    p = fma(p, square, 0.1999849);
    p = fma(p, square, -0.33333316);
    var angle = fma(p * square, t, t) + select(0.0, 0.7853982, upper);
    angle = select(angle, 1.5707964 - angle, steep);
    angle = select(angle, 3.1415927 - angle, (bitcast<u32>(x) >> 31u) == 1u);
    return script_with_sign(angle, y);
}
