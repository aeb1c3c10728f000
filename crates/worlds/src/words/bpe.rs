//! Byte pairs learned from a text, in slices. Counts of pairs follow each merge instead of being counted again.

use super::TextError;
use super::tokenizer::{LONGEST, MOST_TOKENS, Tokenizer, character_start, pieces};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Byte pairs being learned: each merge is of the pair that stands most often within pieces, of equals the least. The same
/// text gives the same merges on every machine.
pub struct BpeTraining {
    /// Merges wanted.
    wanted: usize,
    /// Bytes of the text that have been read.
    read: usize,
    pieces: HashMap<Box<str>, u64>,
    words: Vec<Word>,
    pairs: HashMap<[u32; 2], Pair>,
    /// Pairs by how often they stood when they were put in, which is at least as often as they do now.
    queue: BinaryHeap<(u64, Reverse<[u32; 2]>)>,
    merges: Vec<[u32; 2]>,
    /// Bytes of each token.
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
    /// Words it stands in, and some where it did.
    words: Vec<u32>,
}

/// Bytes that are learned from at most: more change the commonest pairs hardly, and cost time and memory.
pub const LEARNED_FROM: usize = 64 << 20;
/// Bytes that are read at once at least: a few pieces.
const LEAST: usize = 1024;
/// Stretches of a longer text that these are.
const STRETCHES: usize = 64;

/// What is learned from of a text that is longer, from all over it; none where it is all learned from.
pub(super) fn sample(text: &[u8]) -> Option<Vec<u8>> {
    const EACH: usize = LEARNED_FROM / STRETCHES;
    let spare = text.len().checked_sub(LEARNED_FROM).filter(|&spare| spare > 0)?;
    let stretch = |i: usize| {
        let from = i * EACH + spare * i / (STRETCHES - 1);
        &text[character_start(text, from)..character_start(text, from + EACH)]
    };
    Some((0..STRETCHES).map(stretch).collect::<Vec<_>>().concat())
}

impl BpeTraining {
    /// For at most so many tokens; 256 of them are the bytes.
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

    /// How far it is, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.merges.len() as f64 / self.wanted.max(1) as f64
    }

    /// Reads a text, which is the same each time, and merges, for about so many bytes' worth of work, some 10 ns each. Whether
    /// it is done: all merges are made, or no pair stands twice.
    pub fn advance(&mut self, text: &[u8], work: usize) -> Result<bool, TextError> {
        let mut left = work;
        while left > 0 && !self.done {
            let spent = if self.words.is_empty() { self.read(text, left)? } else { self.merge() };
            left = left.saturating_sub(spent.max(1));
        }
        Ok(self.done)
    }

    /// The tokenizer of the merges made so far.
    pub fn tokenizer(&self) -> Tokenizer {
        Tokenizer::bpe(&self.merges).expect("merges that follow each other")
    }

    fn read(&mut self, text: &[u8], work: usize) -> Result<usize, TextError> {
        let from = self.read;
        let to = character_start(text, from.saturating_add(work.max(LEAST)).min(text.len()));
        let wrong = |error: std::str::Utf8Error| TextError::Utf8 { at: from + error.valid_up_to() };
        let part = std::str::from_utf8(&text[from..to]).map_err(wrong)?;
        for piece in pieces(part, to == text.len()) {
            // A key is made for a new piece alone.
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

    /// The next merge, and the bytes' worth that it took.
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
