//! Threefry4x32 with 13 rounds, a counter-based generator (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
//! 2011). A number is a function of (key, counter) alone. The numbers therefore do not depend on lanes, threads or the order of the calls.
//! The only state is the caller's counter. The generator is not for cryptography.

use crate::isa::{Isa, Simd, kernel};
use crate::poly;

const PARITY: u32 = 0x1BD1_1BDA;

/// Computes 4 random words per lane in 13 rounds, from one key for all lanes and one counter per lane. The key is injected before rounds 1,
/// 5, 9 and 13. The rotations are those of the hash function Skein for four 32-bit words, and repeat after 8 rounds.
#[inline(always)]
pub fn threefry<S: Simd>(s: S, key: [u32; 4], counter: [S::U; 4]) -> [S::U; 4] {
    let schedule = [key[0], key[1], key[2], key[3], PARITY ^ key[0] ^ key[1] ^ key[2] ^ key[3]];
    let x = inject(s, counter, schedule, 0);
    let x = four_rounds(s, x, [10, 26, 11, 21, 13, 27, 23, 5]);
    let x = inject(s, x, schedule, 1);
    let x = four_rounds(s, x, [6, 20, 17, 11, 25, 10, 18, 20]);
    let x = inject(s, x, schedule, 2);
    let x = four_rounds(s, x, [10, 26, 11, 21, 13, 27, 23, 5]);
    let x = inject(s, x, schedule, 3);
    even_round(s, x, 6, 20)
}

/// Adds four words of the key schedule to x, from word `i` of the schedule on, cyclically. Also adds `i` to the last word of x.
#[inline(always)]
fn inject<S: Simd>(s: S, x: [S::U; 4], schedule: [u32; 5], i: usize) -> [S::U; 4] {
    let mut y = x;
    for w in 0..4 {
        let turn = if w == 3 { i as u32 } else { 0 };
        y[w] = s.add_u(x[w], s.splat_u(schedule[(i + w) % 5].wrapping_add(turn)));
    }
    y
}

#[inline(always)]
fn four_rounds<S: Simd>(s: S, x: [S::U; 4], turns: [u32; 8]) -> [S::U; 4] {
    let x = even_round(s, x, turns[0], turns[1]);
    let x = odd_round(s, x, turns[2], turns[3]);
    let x = even_round(s, x, turns[4], turns[5]);
    odd_round(s, x, turns[6], turns[7])
}

/// Mixes words (0, 1) and (2, 3).
#[inline(always)]
fn even_round<S: Simd>(s: S, [a, b, c, d]: [S::U; 4], left: u32, right: u32) -> [S::U; 4] {
    let (a, c) = (s.add_u(a, b), s.add_u(c, d));
    [a, s.xor_u(s.rotl_u(b, left), a), c, s.xor_u(s.rotl_u(d, right), c)]
}

/// Mixes words (0, 3) and (2, 1).
#[inline(always)]
fn odd_round<S: Simd>(s: S, [a, b, c, d]: [S::U; 4], left: u32, right: u32) -> [S::U; 4] {
    let [a, d, c, b] = even_round(s, [a, d, c, b], left, right);
    [a, b, c, d]
}

/// Maps 4 words to 4 random words, one to one: PCG4D of Jarzynski and Olano ("Hash functions for GPU rendering", 2020). The function takes
/// a third of the time of [`threefry`].
#[inline(always)]
pub fn pcg<S: Simd>(s: S, words: [S::U; 4]) -> [S::U; 4] {
    let (factor, term) = (s.splat_u(1_664_525), s.splat_u(1_013_904_223));
    let mut x = words;
    for word in &mut x {
        *word = s.add_u(s.mul_u(*word, factor), term);
    }
    x = stir(s, x);
    for word in &mut x {
        *word = s.xor_u(*word, s.shr_u(*word, 16));
    }
    stir(s, x)
}

/// Adds to each word the product of two other words.
#[inline(always)]
fn stir<S: Simd>(s: S, [a, b, c, d]: [S::U; 4]) -> [S::U; 4] {
    let a = s.add_u(a, s.mul_u(b, d));
    let b = s.add_u(b, s.mul_u(c, a));
    let c = s.add_u(c, s.mul_u(a, b));
    [a, b, c, s.add_u(d, s.mul_u(b, c))]
}

/// Computes [`pcg`] of two words and a key, for inner loops that need a few random words. In a product or sum, a bit affects only equal or
/// higher bits, so the upper half of each word is first folded into the lower half. The key's words are made even, so that the first step
/// of [`pcg`] makes them odd. Multiplication by an odd number is reversible.
#[inline(always)]
pub fn hash<S: Simd>(s: S, key: [u32; 2], [a, b]: [S::U; 2]) -> [S::U; 4] {
    let (a, b) = (s.xor_u(a, s.shr_u(a, 16)), s.xor_u(b, s.shr_u(b, 16)));
    pcg(s, [a, b, s.splat_u(key[0] << 1), s.splat_u(key[1] << 1)])
}

/// Computes [`hash`] of two single words instead of lanes.
pub fn hash_1(key: [u32; 2], words: [u32; 2]) -> [u32; 4] {
    let s = crate::isa::PORTABLE;
    hash(s, key, words.map(|word| s.splat_u(word))).map(|lanes| lanes[0])
}

/// Returns a uniform f32 in [0, 1) from the high bits of a random word: a multiple of 2⁻²⁴.
#[inline(always)]
pub fn uniform<S: Simd>(s: S, word: S::U) -> S::F {
    s.mul(s.f32_from_i32(s.shr_u(word, 8)), s.splat(UNIT))
}

/// Computes [`uniform`] of a single word instead of lanes.
pub fn uniform_from_word(word: u32) -> f32 {
    (word >> 8) as f32 * UNIT
}

const UNIT: f32 = 1.0 / 16_777_216.0;

/// Key of the generator. A key selects one stream of random numbers of one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rng {
    pub key: [u32; 4],
}

impl Rng {
    pub fn new(seed: u32, stream: u32) -> Rng {
        Rng { key: [seed, stream, 0, 0] }
    }

    /// Returns four random words for one counter.
    pub fn block(&self, counter: [u32; 4]) -> [u32; 4] {
        // One lane would suffice; four are as fast.
        let s = crate::isa::PORTABLE;
        threefry(s, self.key, counter.map(|word| s.splat_u(word))).map(|lanes| lanes[0])
    }

    /// Fills `y` with uniforms in [0, 1). Element i depends on (key, fill, i) alone, so pass a different `fill` in each call.
    pub fn fill_uniform(&self, isa: Isa, fill: u32, y: &mut [f32]) {
        fill_with(isa, self.key, fill, y, false);
    }

    /// Fills `y` with normally distributed numbers of mean 0 and variance 1 (Box and Muller 1958). Element i depends on (key, fill, i).
    /// Unlike in [`Rng::fill_uniform`], the last bits of an element also depend on `Isa::fused`.
    pub fn fill_normal(&self, isa: Isa, fill: u32, y: &mut [f32]) {
        fill_with(isa, self.key, fill, y, true);
    }

    /// Returns a sequence of numbers that begins at `position`.
    pub fn sequence(&self, position: u64) -> Sequence {
        Sequence { rng: *self, position, block: [0; 4] }
    }
}

/// A sequence of random numbers. The key and `position` determine all further numbers; `block` caches the four words of the current block.
#[derive(Clone, Debug)]
pub struct Sequence {
    rng: Rng,
    position: u64,
    block: [u32; 4],
}

impl Sequence {
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn word(&mut self) -> u32 {
        let (block, word) = (self.position / 4, (self.position % 4) as usize);
        if word == 0 || self.block == [0; 4] {
            self.block = self.rng.block([block as u32, (block >> 32) as u32, 0, SEQUENCE]);
        }
        self.position += 1;
        self.block[word]
    }

    /// Returns the next uniform f32 in [0, 1).
    pub fn uniform(&mut self) -> f32 {
        uniform_from_word(self.word())
    }

    /// Returns the next integer in 0..n. A result's probability has a relative error below n/2³² (Lemire's multiplication without the
    /// rejection).
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(n)) >> 32) as u32
    }

    /// Shuffles the items (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

/// Last counter word of a [`Sequence`]. This word differs from [`FILL`], so a key's sequences and filled slices have different numbers.
const SEQUENCE: u32 = 1;
/// Last counter word of [`Rng::fill_uniform`] and [`Rng::fill_normal`].
const FILL: u32 = 2;

/// Returns uniforms of [`Rng::fill_uniform`] before their final order: four per block, one block per lane, from block `first` on.
#[inline(always)]
pub(crate) fn uniforms<S: Simd>(s: S, key: [u32; 4], fill: u32, first: u32) -> [S::F; 4] {
    let words = threefry(s, key, [s.count_u(first), s.splat_u(fill), s.splat_u(0), s.splat_u(FILL)]);
    let mut numbers = [s.splat(0.0); 4];
    for w in 0..4 {
        numbers[w] = uniform(s, words[w]);
    }
    numbers
}

/// Fills `y` in groups of 64 numbers: word w of block 16g + l becomes number 64g + 16w + l. Stores are contiguous, and the order does not
/// depend on the number of lanes.
fn fill_with(isa: Isa, key: [u32; 4], fill: u32, y: &mut [f32], normal: bool) {
    kernel!(isa, |s: S, key: [u32; 4], fill: u32, y: &mut [f32], normal: bool| {
        for (group, y) in y.chunks_mut(64).enumerate() {
            let mut tail = [0.0f32; 64];
            let whole = y.len() == 64;
            let out = if whole { &mut *y } else { &mut tail };
            for l in (0..16).step_by(S::LANES) {
                let mut numbers = uniforms(s, key, fill, (group * 16 + l) as u32);
                if normal {
                    for pair in [0, 2] {
                        // 1 - u lies in (0, 1], where ln is finite.
                        let radius = poly::ln(s, s.sub(s.splat(1.0), numbers[pair]));
                        let radius = s.sqrt(s.mul(s.splat(-2.0), radius));
                        let angle = s.mul(numbers[pair + 1], s.splat(std::f32::consts::TAU));
                        let (sin, cos) = poly::sin_cos(s, angle);
                        numbers[pair] = s.mul(radius, cos);
                        numbers[pair + 1] = s.mul(radius, sin);
                    }
                }
                for (w, &number) in numbers.iter().enumerate() {
                    s.store(number, &mut out[16 * w + l..]);
                }
            }
            if !whole {
                y.copy_from_slice(&tail[..y.len()]);
            }
        }
    })
}
