//! Random mutations of valid inputs, for tests of parsers.
//!
//! The seed of a case depends on its number and the name of the test, so that a failing case is reproducible.

use serde_json::{Value, json};

/// Returns the number of cases of a random test: the number in the environment variable `FUZZ`, or `usual` if `FUZZ` contains no number. A
/// test with `usual` cases should take seconds.
pub fn cases(usual: u32) -> u32 {
    std::env::var("FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Calls `one` with `count` mutators, one per case. If `one` panics, prints the name of the test and the number of the case.
pub fn fuzz(what: &str, count: u32, mut one: impl FnMut(&mut Mutator)) {
    for case in 0..count {
        let _report = Case { what, case };
        one(&mut Mutator::new(what, case));
    }
}

struct Case<'a> {
    what: &'a str,
    case: u32,
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in case {} of {}", self.case, self.what);
        }
    }
}

/// Boundary values: lengths that are too large, and ends of number ranges.
const EDGES: [u64; 14] =
    [0, 1, 2, 7, 255, 256, 65_535, (1 << 31) - 1, 1 << 31, u32::MAX as u64, 1 << 40, i64::MAX as u64, 1 << 63, u64::MAX];
/// Strings with a special meaning in some file format.
const PIECES: [&str; 24] = [
    "",
    " ",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[2J",
    "%",
    "%ff",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "=",
    "-1",
    "1e999",
    "NaN",
    "18446744073709551616",
    "é",
    "\u{202e}漢",
];

pub struct Mutator(u64);

impl Mutator {
    pub fn new(what: &str, case: u32) -> Mutator {
        let seed = what.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Mutator(seed ^ u64::from(case).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a random 64-bit number, by SplitMix64.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number from 0 to `count` - 1, or 0 if `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.word() % count.max(1) as u64) as usize
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn range(&mut self, len: usize) -> std::ops::Range<usize> {
        let from = self.below(len + 1);
        // Most ranges are short, so that much of the input remains valid.
        let most = if self.below(4) == 0 { len - from } else { (len - from).min(16) };
        from..from + self.below(most + 1)
    }

    /// Applies one to four mutations. A mutation changes bits, bytes or numbers, or removes, copies, repeats or inserts a range of bytes.
    pub fn bytes(&mut self, good: &[u8]) -> Vec<u8> {
        let mut bytes = good.to_vec();
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            match self.below(8) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 if !bytes.is_empty() => bytes[at] = self.word() as u8,
                2 => bytes.truncate(at),
                3 => drop(bytes.drain(self.range(bytes.len()))),
                4 => {
                    // Numbers in files are little-endian, with eight or four bytes.
                    let edge = self.one_of(&EDGES).to_le_bytes();
                    let width = *self.one_of(&[4, 8]);
                    let end = (at + width).min(bytes.len());
                    bytes[at..end].copy_from_slice(&edge[..end - at]);
                }
                5 => {
                    let part = bytes[self.range(bytes.len())].to_vec();
                    let at = at.min(bytes.len());
                    bytes.splice(at..at, part);
                }
                6 => {
                    let piece: Vec<u8> = match self.below(3) {
                        0 => self.one_of(&PIECES).as_bytes().to_vec(),
                        1 => self.one_of(&EDGES).to_string().into_bytes(),
                        _ => (0..self.below(12)).map(|_| self.word() as u8).collect(),
                    };
                    bytes.splice(at..at, piece);
                }
                _ => {
                    let range = self.range(bytes.len());
                    let long = self.below(64) * usize::from(self.below(8) == 0);
                    let part = bytes[range.clone()].repeat(1 + long);
                    bytes.splice(range, part);
                }
            }
        }
        bytes
    }

    /// Mutates the bytes of a text. The result is valid UTF-8.
    pub fn text(&mut self, good: &str) -> String {
        String::from_utf8_lossy(&self.bytes(good.as_bytes())).into_owned()
    }

    /// Applies one to three mutations to random values within a JSON document.
    pub fn json(&mut self, good: &Value) -> Value {
        let mut document = good.clone();
        for _ in 0..1 + self.below(3) {
            // `other` is a random value of the document that may replace `part`.
            let other = self.part(&mut document).clone();
            let part = self.part(&mut document);
            self.edit(part, other);
        }
        document
    }

    /// Selects a random value within a JSON document. At each level, the search ends with probability 1/6, and otherwise enters a random
    /// child.
    fn part<'a>(&mut self, mut at: &'a mut Value) -> &'a mut Value {
        loop {
            let count = match at {
                Value::Array(all) => all.len(),
                Value::Object(all) => all.len(),
                _ => 0,
            };
            if count == 0 || self.below(6) == 0 {
                return at;
            }
            let chosen = self.below(count);
            at = match at {
                Value::Array(all) => &mut all[chosen],
                Value::Object(all) => all.values_mut().nth(chosen).expect("it is below the count"),
                _ => unreachable!(),
            };
        }
    }

    fn edit(&mut self, part: &mut Value, other: Value) {
        let choice = self.below(10);
        match part {
            Value::Object(all) if choice < 3 && !all.is_empty() => {
                let key = all.keys().nth(self.below(all.len())).cloned().unwrap_or_default();
                let value = all.remove(&key);
                if choice == 2 {
                    all.insert(self.text(&key), value.unwrap_or_default());
                }
            }
            Value::Array(all) if choice < 5 => {
                let at = self.below(all.len());
                match choice {
                    0 if !all.is_empty() => drop(all.remove(at)),
                    1 => all.clear(),
                    2 => all.insert(at, other),
                    _ => {
                        let copies: Vec<Value> = all.iter().cycle().take(all.len() * self.below(9)).cloned().collect();
                        all.extend(copies);
                    }
                }
            }
            Value::String(text) if choice < 6 => *text = self.text(text),
            Value::Number(number) if choice < 6 => {
                let value = number.as_f64().unwrap_or_default();
                *part = match self.below(8) {
                    0 => json!(-value),
                    1 => json!(value + 1.0),
                    2 => json!(value * 2.0),
                    3 => json!(value / 3.0),
                    4 => json!(1e308),
                    5 => json!(-5e-324),
                    _ => json!(*self.one_of(&EDGES)),
                };
            }
            _ => {
                *part = match self.below(8) {
                    0 => Value::Null,
                    1 => json!(*self.one_of(&EDGES)),
                    2 => json!(true),
                    3 => json!([]),
                    4 => json!({}),
                    5 => json!(*self.one_of(&PIECES)),
                    6 => json!("x".repeat(self.below(20_000))),
                    _ => other,
                }
            }
        }
    }
}
