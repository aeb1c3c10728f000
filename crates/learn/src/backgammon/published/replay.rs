//! Training samples: a decision, the search's visit counts, and the final outcome of the game.

use super::inputs::Decision;
use super::net::ACTIONS;
use super::tree::Edge;
use worlds::backgammon::{BAR, Board, Roll};

/// Number of words of a sample:
///
/// - words 0 to 8: the decision, and the number of visit shares in the upper 16 bits of word 8
/// - word 9: the outcome for the player who decides, as an index into `Chances`; until the game ends, the index of this player
/// - next words, one per visit share: the action in the upper 16 bits, the visits in the lower 16 bits
/// - remaining words: 0
pub const WORDS: usize = 40;
const SHARES: usize = WORDS - 10;
pub type Sample = [u32; WORDS];

pub fn sample(decision: &Decision, decider: u32, edges: &[Edge]) -> Sample {
    let mut sample = [0; WORDS];
    sample[..DECISION_WORDS].copy_from_slice(&decision_words(decision));
    let mut shares = 0;
    // If a sample has no room for all visited actions, the least visited actions are omitted. If all actions were visited equally often, no
    // action is stored.
    let (mut least, mut fits) = (1, edges.iter().filter(|edge| edge.visits >= 1).count());
    while fits > SHARES {
        least += 1;
        fits = edges.iter().filter(|edge| edge.visits >= least).count();
    }
    for edge in edges.iter().filter(|edge| edge.visits >= least) {
        sample[10 + shares] = u32::from(edge.action) << 16 | u32::from(edge.visits);
        shares += 1;
    }
    sample[8] |= (shares as u32) << 16;
    sample[9] = decider;
    sample
}

/// Number of words of a decision. Words 0 to 7 are the numbers of checkers, with four words per side and four bits per place. Word 8 is the
/// roll; its bit 8 is set for the second half of a double.
pub const DECISION_WORDS: usize = 9;

pub fn decision_words(decision: &Decision) -> [u32; DECISION_WORDS] {
    let mut words = [0; DECISION_WORDS];
    for (words, side) in words.chunks_exact_mut(4).zip([decision.board.mine(), decision.board.theirs()]) {
        for (i, count) in side.places().into_iter().enumerate() {
            words[i / 8] |= u32::from(count) << (4 * (i % 8));
        }
    }
    words[8] = u32::from(decision.roll) | u32::from(decision.second) << 8;
    words
}

/// Returns the decision that [`decision_words`] converted to `words`, or `None` for invalid words.
pub fn read_decision(words: &[u32]) -> Option<Decision> {
    let (roll, second) = (words.get(8)? & 0xFF, words[8] >> 8 & 1 == 1);
    let side = |words: &[u32]| -> [u8; BAR] { std::array::from_fn(|i| (words[i / 8] >> (4 * (i % 8))) as u8 & 15) };
    let board = Board::new(side(&words[..4]), side(&words[4..8])).ok()?;
    ((roll as usize) < Roll::ALL.len() && board.points() == 0).then_some(Decision { board, roll: roll as u8, second })
}

/// Returns true if saved words are a valid sample. A sample without visit shares is valid. Its only target is the game's outcome. A search
/// yields such a sample in two cases: if it visited no action, or if too many actions share the greatest number of visits.
pub fn is_sound(sample: &Sample) -> bool {
    let shares = (sample[8] >> 16) as usize;
    let sound = |&share: &u32| (share >> 16) < ACTIONS as u32 && share & 0xFFFF > 0;
    read_decision(sample).is_some() && shares <= SHARES && sample[9] < 6 && sample[10..10 + shares].iter().all(sound)
}

/// Ring buffer of the latest samples.
pub struct Replay {
    pub samples: Vec<Sample>,
    most: usize,
    /// Index of the next write.
    pub next: usize,
}

impl Replay {
    pub fn new(most: usize) -> Replay {
        Replay { samples: Vec::with_capacity(most), most, next: 0 }
    }

    pub fn add(&mut self, samples: &[Sample]) {
        for &sample in samples {
            if self.samples.len() < self.most {
                self.samples.push(sample);
            } else {
                self.samples[self.next] = sample;
            }
            self.next = (self.next + 1) % self.most;
        }
    }
}
