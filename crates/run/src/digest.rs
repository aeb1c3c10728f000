//! A short name for a state of the weights: FNV-1a over their little-endian bytes. It tells two
//! runs apart; it is no defence against somebody who wants them to look alike.

use crate::protocol::{Digest, Level};
use learn::WorkedOn;
use math::Isa;

/// Iterations between two digests of the weights.
pub const DIGEST_EVERY: u32 = 16;

pub(crate) struct Fnv(u64);

impl Fnv {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub fn value(&self) -> u64 {
        self.0
    }

    pub fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// A hash that takes bytes in 64 at a time, eight words side by side: any change of one word changes it.
pub(crate) fn of_words<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    const LANES: usize = 8;
    // Odd, so that no two words of a lane come to the same; turned, so that high bits reach low ones.
    let mix = |lane: u64, word: u64| (lane ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut lanes: [u64; LANES] = std::array::from_fn(|lane| lane as u64);
    let mut write = |block: &[u8; 8 * LANES]| {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks().0) {
            *lane = mix(*lane, u64::from_le_bytes(*word));
        }
    };
    for part in parts {
        let (blocks, rest) = part.as_chunks();
        blocks.iter().for_each(&mut write);
        // What is left of a part, and its length: where one ends and the next begins makes a difference.
        let mut last = [0; 8 * LANES];
        last[..rest.len()].copy_from_slice(rest);
        write(&last);
        last.fill(0);
        last[..8].copy_from_slice(&(part.len() as u64).to_le_bytes());
        write(&last);
    }
    format!("{:016x}", lanes.into_iter().fold(0, mix))
}

pub(crate) fn of_weights(weights: &[f32]) -> String {
    let mut hash = Fnv::new();
    for w in weights {
        hash.write(&w.to_le_bytes());
    }
    hash.hex()
}

/// For whoever takes up a run from another class of machines: what to know, and what to do.
pub(crate) const OTHER_ROUNDING: (&str, &str) = (
    "This run was worked on by a machine whose arithmetic rounds differently, so its digests can be compared with no other's.",
    "Nothing to do: training goes on from the same weights.",
);

fn compared(expected: &Digest, reached: &Digest, unit: &str) -> (Level, String, &'static str) {
    let after = format!("after {} {unit} the weights", reached.iteration);
    if expected.arithmetic != reached.arithmetic {
        (
            Level::Info,
            "The link's digest was made with arithmetic that rounds differently, so it cannot be compared here.".into(),
            "Run it natively with `--isa portable` (unfused) or on a machine with fused multiply-add to compare.",
        )
    } else if expected == reached {
        (Level::Info, format!("Reproduced: {after} are those of the link, bit for bit."), "Nothing to do.")
    } else {
        (
            Level::Warning,
            format!("Not reproduced: {after} differ from the link's."),
            "The link may come from another version of Hothouse; compare the versions in the badge.",
        )
    }
}

pub(crate) const FUSED: &str = "fused";
pub(crate) const UNFUSED: &str = "unfused";
pub(crate) const BF16: &str = "bf16";
pub(crate) const AMX: &str = "amx";
pub(crate) const GPU: &str = "gpu";
pub(crate) const MIXED: &str = "mixed";
/// Of weights within an iteration, which no other run tells the digest of.
pub(crate) const PARTIAL: &str = "partial";

/// Only digests of the same arithmetic can be equal.
pub(crate) fn arithmetic(isa: Isa) -> &'static str {
    match isa {
        Isa::Bf16 => BF16,
        Isa::Amx => AMX,
        isa if isa.fused() => FUSED,
        _ => UNFUSED,
    }
}

/// What all of a run was computed with so far; see [`crate::protocol::Digest`].
#[derive(Clone, Copy)]
pub(crate) struct Arithmetic(&'static str);

impl Arithmetic {
    pub fn of(isa: Isa) -> Arithmetic {
        Arithmetic(arithmetic(isa))
    }

    pub fn restored(name: &str) -> Arithmetic {
        Arithmetic([FUSED, UNFUSED, BF16, AMX, GPU].into_iter().find(|&known| known == name).unwrap_or(MIXED))
    }

    /// The iteration or round of this number was computed with this.
    pub fn note(&mut self, count: u32, now: &'static str) {
        if count == 1 {
            self.0 = now;
        } else if self.0 != now {
            self.0 = MIXED;
        }
    }

    pub fn name(self) -> &'static str {
        self.0
    }
}

/// What the digests of a run say, and what they are compared with.
pub(crate) struct Digests {
    pub arithmetic: Arithmetic,
    /// What a link told, until the run has come as far.
    pub expected: Option<Digest>,
    /// The newest.
    pub told: Option<Digest>,
    /// Some of this iteration was done elsewhere, and then that machine was lost.
    pub partly_away: bool,
}

impl Digests {
    pub fn of(arithmetic: Arithmetic) -> Digests {
        Digests { arithmetic, expected: None, told: None, partly_away: false }
    }

    /// What to say where the run has come as far as a link, counted in these units. One whose knobs were turned is no longer the link's.
    pub fn compare(&mut self, reached: &Digest, turned: bool, unit: &str) -> Option<(Level, String, &'static str)> {
        let expected = self.expected.take_if(|expected| expected.iteration == reached.iteration)?;
        (!turned).then(|| compared(&expected, reached, unit))
    }

    /// An iteration ended, which was worked on there, or on a processor with this instruction set.
    pub fn note(&mut self, iteration: u32, at: WorkedOn, isa: Isa) {
        let now = match (std::mem::take(&mut self.partly_away), at) {
            (false, WorkedOn::Processor) => arithmetic(isa),
            (false, WorkedOn::Offloaded) => GPU,
            _ => MIXED,
        };
        self.arithmetic.note(iteration, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_agrees_with_its_published_vectors() {
        // Fowler, Noll, Vo: "" and "foobar".
        let hash = |text: &str| {
            let mut h = super::Fnv::new();
            h.write(text.as_bytes());
            h.hex()
        };
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("foobar"), "85944171f73967e8");
    }

    #[test]
    fn of_words_tells_apart_what_differs_in_a_bit_or_in_where_it_is_cut() {
        let bytes: Vec<u8> = (0..200).map(|i| (i * 7) as u8).collect();
        let whole = of_words([&bytes[..]].into_iter());
        assert_eq!(whole, of_words([&bytes.clone()[..]].into_iter()));
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(whole, of_words([&other[..]].into_iter()), "bit {bit}");
        }
        for cut in 0..=bytes.len() {
            let (one, two) = bytes.split_at(cut);
            assert_ne!(whole, of_words([one, two].into_iter()), "cut at {cut}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_ne!(whole, of_words([&longer[..]].into_iter()));
    }

    #[test]
    fn what_was_computed_in_two_ways_is_mixed_for_good() {
        let mut arithmetic = Arithmetic::of(Isa::best());
        arithmetic.note(1, GPU);
        arithmetic.note(2, GPU);
        assert_eq!(arithmetic.name(), GPU);
        arithmetic.note(3, FUSED);
        arithmetic.note(4, GPU);
        assert_eq!(arithmetic.name(), MIXED);
        assert_eq!(Arithmetic::restored("gpu").name(), GPU);
        assert_eq!(Arithmetic::restored("of tomorrow").name(), MIXED);
    }
}
