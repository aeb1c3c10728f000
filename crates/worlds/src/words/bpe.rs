//! Learns a byte-pair encoding from a text, in slices. The training counts all pairs once. Each merge then changes only the counts of the
//! pairs that it affects.

use super::TextError;
use super::tokenizer::{LONGEST, MOST_TOKENS, Tokenizer, character_start, pieces};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Training of a byte-pair tokenizer. A piece is a run of similar characters. Each merge joins the most frequent pair of adjacent tokens
/// within pieces. If several pairs are equally frequent, the merge joins the lexicographically smallest pair of token numbers. The same
/// text gives the same merges on every machine.
pub struct BpeTraining {
    /// Number of merges requested.
    wanted: usize,
    /// Number of bytes of the text that have been read.
    read: usize,
    pieces: HashMap<Box<str>, u64>,
    words: Vec<Word>,
    pairs: HashMap<[u32; 2], Pair>,
    /// Queue of pairs, ordered by the count that each pair had when it was inserted. This count is an upper bound of the current count.
    queue: BinaryHeap<(u64, Reverse<[u32; 2]>)>,
    merges: Vec<[u32; 2]>,
    /// Number of bytes of each token.
    lengths: Vec<usize>,
    done: bool,
}

struct Word {
    tokens: Vec<u32>,
    count: u64,
}

#[derive(Default)]
struct Pair {
    count: u64,
    /// Indices in [`BpeTraining::words`] of all pieces that contain the pair. The list can also include pieces that no longer contain the
    /// pair.
    words: Vec<u32>,
}

/// Maximum number of bytes from which pairs are learned. More bytes hardly change the most frequent pairs, but cost time and memory.
pub const SAMPLE_BYTES: usize = 64 << 20;
/// Minimum number of bytes that one call reads, so that the part read contains several pieces.
const LEAST: usize = 1024;
/// Number of contiguous stretches in the sample of a long text.
const STRETCHES: usize = 64;

/// Returns a sample of a text that is longer than [`SAMPLE_BYTES`]; `None` for a shorter text, which needs no sample. The sample consists
/// of stretches from all parts of the text.
pub(super) fn sample(text: &[u8]) -> Option<Vec<u8>> {
    const EACH: usize = SAMPLE_BYTES / STRETCHES;
    let spare = text.len().checked_sub(SAMPLE_BYTES).filter(|&spare| spare > 0)?;
    let stretch = |i: usize| {
        let from = i * EACH + spare * i / (STRETCHES - 1);
        &text[character_start(text, from)..character_start(text, from + EACH)]
    };
    Some((0..STRETCHES).map(stretch).collect::<Vec<_>>().concat())
}

impl BpeTraining {
    /// Creates a training that ends with at most `vocab` tokens. The first 256 tokens are the bytes, even if `vocab` is smaller.
    pub fn new(vocab: usize) -> BpeTraining {
        BpeTraining {
            wanted: vocab.clamp(256, MOST_TOKENS) - 256,
            read: 0,
            pieces: HashMap::new(),
            words: Vec::new(),
            pairs: HashMap::new(),
            queue: BinaryHeap::new(),
            merges: Vec::new(),
            lengths: vec![1; 256],
            done: false,
        }
    }

    /// Returns the share of the requested merges that are made, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.merges.len() as f64 / self.wanted.max(1) as f64
    }

    /// Reads the text and then merges pairs, for about `work` units of 10 ns. Pass the same text in each call. Returns true when all
    /// requested merges are made or no pair occurs twice.
    pub fn advance(&mut self, text: &[u8], work: usize) -> Result<bool, TextError> {
        let mut left = work;
        while left > 0 && !self.done {
            let spent = if self.words.is_empty() { self.read(text, left)? } else { self.merge() };
            left = left.saturating_sub(spent.max(1));
        }
        Ok(self.done)
    }

    /// Returns a tokenizer with the merges made so far.
    pub fn tokenizer(&self) -> Tokenizer {
        Tokenizer::bpe(&self.merges).expect("each merge joins earlier tokens")
    }

    fn read(&mut self, text: &[u8], work: usize) -> Result<usize, TextError> {
        let from = self.read;
        let to = character_start(text, from.saturating_add(work.max(LEAST)).min(text.len()));
        let wrong = |error: std::str::Utf8Error| TextError::Utf8 { at: from + error.valid_up_to() };
        let part = std::str::from_utf8(&text[from..to]).map_err(wrong)?;
        for piece in pieces(part, to == text.len()) {
            // Memory for a key is allocated only for a new piece.
            match self.pieces.get_mut(piece) {
                Some(count) => *count += 1,
                None => _ = self.pieces.insert(piece.into(), 1),
            }
            self.read += piece.len();
        }
        if self.read < text.len() {
            return Ok(self.read - from);
        }
        let mut words: Vec<(Box<str>, u64)> = self.pieces.drain().collect();
        words.sort_unstable();
        for (piece, count) in words {
            let word = Word { tokens: piece.bytes().map(u32::from).collect(), count };
            let at = self.words.len() as u32;
            for pair in word.tokens.windows(2) {
                add(&mut self.pairs, [pair[0], pair[1]], count, at);
            }
            self.words.push(word);
        }
        self.queue = self.pairs.iter().map(|(&pair, is)| (is.count, Reverse(pair))).collect();
        self.done = self.words.is_empty() || self.wanted == 0;
        Ok(self.read - from)
    }

    /// Does one of three things: makes the next merge, corrects an outdated count in the queue, or ends the training if no pair occurs
    /// twice. Returns the amount of work, in the units of [`BpeTraining::advance`].
    fn merge(&mut self) -> usize {
        let Some((count, Reverse(pair))) = self.queue.pop() else {
            self.done = true;
            return 0;
        };
        let now = self.pairs.get(&pair).map_or(0, |pair| pair.count);
        if now != count {
            if now > 0 {
                self.queue.push((now, Reverse(pair)));
            }
            return 1;
        }
        let length = self.lengths[pair[0] as usize] + self.lengths[pair[1] as usize];
        debug_assert!(length <= LONGEST);
        if count < 2 {
            self.done = true;
            return 0;
        }
        let whole = self.lengths.len() as u32;
        self.merges.push(pair);
        self.lengths.push(length);
        let mut work = 0;
        let mut grown = Vec::new();
        let mut places = self.pairs.remove(&pair).map_or(Vec::new(), |pair| pair.words);
        places.dedup();
        for at in places {
            let Word { tokens, count } = &mut self.words[at as usize];
            work += tokens.len();
            let mut i = 0;
            while i + 1 < tokens.len() {
                if [tokens[i], tokens[i + 1]] == pair {
                    tokens[i] = whole;
                    tokens.remove(i + 1);
                    let before = i.checked_sub(1).map(|b| ([tokens[b], pair[0]], [tokens[b], whole]));
                    let after = tokens.get(i + 1).map(|&a| ([pair[1], a], [whole, a]));
                    for (old, new) in [before, after].into_iter().flatten() {
                        if let Some(old) = self.pairs.get_mut(&old) {
                            old.count -= *count;
                        }
                        add(&mut self.pairs, new, *count, at);
                        grown.push(new);
                    }
                }
                i += 1;
            }
        }
        grown.sort_unstable();
        grown.dedup();
        work += grown.len();
        let pairs = &self.pairs;
        let of = |pair: &[u32; 2]| pairs.get(pair).filter(|is| is.count > 0).map(|is| (is.count, Reverse(*pair)));
        self.queue.extend(grown.iter().filter_map(of));
        self.done = self.merges.len() == self.wanted;
        work * 8
    }
}

fn add(pairs: &mut HashMap<[u32; 2], Pair>, pair: [u32; 2], count: u64, at: u32) {
    let pair = pairs.entry(pair).or_default();
    pair.count += count;
    if pair.words.last() != Some(&at) {
        pair.words.push(at);
    }
}
