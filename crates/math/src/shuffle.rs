//! Random order of an epoch's samples, computed element by element.

use crate::Rng;

/// A permutation of `0..count` with random access. To map a position to an element, rounds of invertible arithmetic are applied to as many
/// bits as `count` needs. The rounds are repeated until the result is below `count`.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    pub count: u32,
    pub mask: u32,
    pub shift: u32,
    /// Odd factor and summand of each round.
    pub rounds: [[u32; 2]; ROUNDS],
}

pub const ROUNDS: usize = 4;

impl Shuffle {
    pub fn new(rng: Rng, count: usize, iteration: u64, epoch: usize) -> Self {
        let bits = usize::BITS - (count.max(2) - 1).leading_zeros();
        let mut rounds = [[0; 2]; ROUNDS];
        for (i, pair) in rounds.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let [a, b, c, d] = rng.block([i as u32, epoch as u32, iteration as u32, (iteration >> 32) as u32]);
            *pair = [[a | 1, b], [c | 1, d]];
        }
        Self { count: count as u32, mask: (1u32 << bits) - 1, shift: bits.div_ceil(2), rounds }
    }

    /// Returns the element at position `place` of the permutation.
    #[inline]
    pub fn at(&self, place: u32) -> u32 {
        let mut x = place;
        loop {
            for [factor, summand] in self.rounds {
                x = x.wrapping_mul(factor).wrapping_add(summand) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.count {
                return x;
            }
        }
    }
}
