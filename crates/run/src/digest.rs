//! Digest of the weights: FNV-1a over their little-endian bytes. A digest detects differences between runs, but does not resist deliberate
//! collisions.

use crate::protocol::{Digest, Level};
use learn::WorkedOn;
use math::Isa;

/// Number of iterations between two digests of the weights.
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

/// Returns a hash of the bytes of all parts and of the positions at which the parts end. Each block of 64 bytes is processed as eight words
/// in parallel. A change of a single word always changes the hash.
pub fn of_words<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    const LANES: usize = 8;
    // The factor is odd, so different words of a lane never collide. The rotation moves high bits to low positions.
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
        // The padded rest of a part, followed by the part's length, makes the hash depend on the end of each part.
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

/// Text and remedy of the notice about a run that continues on a CPU with different rounding.
pub(crate) const OTHER_ROUNDING: (&str, &str) = (
    "Another machine with different rounding trained part of this run, so its digests cannot be compared with other runs.",
    "Training continues from the same weights.",
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
        (Level::Info, format!("Reproduced: {after} are those of the link, bit for bit."), "Training can continue.")
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
/// Value of the field `arithmetic` of a digest that was computed within an iteration. Such a digest cannot be compared with the digests of
/// other runs.
pub(crate) const PARTIAL: &str = "partial";

/// Returns the name of the arithmetic of `isa`, which determines the rounding. Only runs with the same name can have equal digests.
pub(crate) fn arithmetic(isa: Isa) -> &'static str {
    match isa {
        Isa::Bf16 => BF16,
        Isa::Amx => AMX,
        isa if isa.fused() => FUSED,
        _ => UNFUSED,
    }
}

/// Arithmetic of all iterations of a run so far, or `mixed` if the iterations differ; see [`crate::protocol::Digest`].
#[derive(Clone, Copy)]
pub struct Arithmetic(&'static str);

impl Arithmetic {
    pub fn of(isa: Isa) -> Arithmetic {
        Arithmetic(arithmetic(isa))
    }

    pub fn restored(name: &str) -> Arithmetic {
        Arithmetic([FUSED, UNFUSED, BF16, AMX, GPU].into_iter().find(|&known| known == name).unwrap_or(MIXED))
    }

    /// Records that iteration number `count` used the arithmetic `now`. The first iteration has the number 1.
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

/// Digests of a run, and the link's digest that the run should reproduce.
pub(crate) struct Digests {
    pub arithmetic: Arithmetic,
    /// Digest from the link that opened the run. `None` if the link has no digest, or after the digest was compared.
    pub expected: Option<Digest>,
    /// Latest digest of this run; `None` before the first digest.
    pub newest: Option<Digest>,
    /// True if the GPU computed part of the current iteration before a fault. After the fault, the CPU continued the iteration.
    pub partly_away: bool,
}

impl Digests {
    pub fn of(arithmetic: Arithmetic) -> Digests {
        Digests { arithmetic, expected: None, newest: None, partly_away: false }
    }

    /// Returns true if the link contains a digest of this iteration that was not compared yet.
    pub fn awaits(&self, iteration: u32) -> bool {
        self.expected.as_ref().is_some_and(|expected| expected.iteration == iteration)
    }

    /// Compares `reached` with the link's digest. Returns a notice if both digests belong to the same iteration and the user changed no
    /// knobs. After a change of a knob, the run differs from the link's run, so there is no notice. `unit` is the plural of the room's word
    /// for an iteration.
    pub fn compare(&mut self, reached: &Digest, user_changed: bool, unit: &str) -> Option<(Level, String, &'static str)> {
        let expected = self.expected.take_if(|expected| expected.iteration == reached.iteration)?;
        (!user_changed).then(|| compared(&expected, reached, unit))
    }

    /// Records the arithmetic of an ended iteration. `at` is the device that computed the iteration. `isa` is the instruction set that the
    /// room uses on the CPU.
    pub fn note(&mut self, iteration: u32, at: WorkedOn, isa: Isa) {
        let now = match (std::mem::take(&mut self.partly_away), at) {
            (false, WorkedOn::Processor) => arithmetic(isa),
            (false, WorkedOn::Offloaded) => GPU,
            _ => MIXED,
        };
        self.arithmetic.note(iteration, now);
    }
}
