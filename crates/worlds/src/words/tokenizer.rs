//! Texts to tokens and back: by characters, by bytes, or by byte pairs that were merged.

use super::TextError;
use std::collections::HashMap;

/// How a text is cut into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A token for each character that the text has.
    Chars,
    /// 256 tokens, for any file.
    Bytes,
    /// Byte pairs merged until there are at most so many tokens (Sennrich, Haddow and Birch 2016).
    Bpe { vocab: usize },
}

/// A vocabulary, and the way a text is cut into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokenizer {
    /// The bytes of each token.
    tokens: Vec<Box<[u8]>>,
    way: Way,
}

#[derive(Clone, Debug, PartialEq)]
enum Way {
    /// And those of ASCII once more, where they are found at once.
    Chars(HashMap<char, u32>, Box<[Option<u32>; 128]>),
    Bytes,
    /// What each pair becomes; those with the lesser number go first.
    Bpe(HashMap<[u32; 2], u32>),
}

/// Tokens there can be at most.
pub const MOST_TOKENS: usize = 1 << 20;

impl Tokenizer {
    /// A token for each character of a text, in their order.
    pub fn chars(text: &str) -> Tokenizer {
        let mut characters: Vec<char> = text.chars().collect();
        characters.sort_unstable();
        characters.dedup();
        Tokenizer::of_chars(&characters)
    }

    pub(super) fn of_chars(characters: &[char]) -> Tokenizer {
        let tokens = characters.iter().map(|c| c.to_string().into_bytes().into()).collect();
        let ids: HashMap<char, u32> = characters.iter().zip(0..).map(|(&c, id)| (c, id)).collect();
        let ascii = Box::new(std::array::from_fn(|i| ids.get(&(i as u8 as char)).copied()));
        Tokenizer { tokens, way: Way::Chars(ids, ascii) }
    }

    pub fn bytes() -> Tokenizer {
        Tokenizer { tokens: (0..=255).map(|byte| [byte].into()).collect(), way: Way::Bytes }
    }

    /// Bytes, and a token for each pair of earlier ones.
    pub fn bpe(merges: &[[u32; 2]]) -> Result<Tokenizer, TextError> {
        let wrong = |why: String| Err(TextError::Tokenizer(why));
        let mut tokens = Tokenizer::bytes().tokens;
        let mut becomes = HashMap::new();
        for &pair in merges {
            let id = tokens.len();
            let [Some(a), Some(b)] = pair.map(|part| tokens.get(part as usize)) else {
                return wrong(format!(
                    "merge {} is of {} and {}, which it does not follow",
                    id - 256,
                    pair[0],
                    pair[1]
                ));
            };
            let whole = [&a[..], b].concat();
            if whole.len() > LONGEST || id >= MOST_TOKENS {
                return wrong(format!(
                    "merge {} makes a token of {} bytes, token {id}",
                    id - 256,
                    whole.len()
                ));
            }
            if becomes.insert(pair, id as u32).is_some() {
                return wrong(format!("merge {} stands twice", id - 256));
            }
            tokens.push(whole.into());
        }
        Ok(Tokenizer { tokens, way: Way::Bpe(becomes) })
    }

    /// How many tokens there are.
    pub fn vocab(&self) -> usize {
        self.tokens.len()
    }

    /// The kind that it is of; for byte pairs, with the tokens that there are.
    pub fn kind(&self) -> Kind {
        match &self.way {
            Way::Chars(..) => Kind::Chars,
            Way::Bytes => Kind::Bytes,
            Way::Bpe(_) => Kind::Bpe { vocab: self.vocab() },
        }
    }

    /// The tokens of a text. Characters that the vocabulary lacks are refused by name.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TextError> {
        let mut encoder = Encoder::default();
        let mut tokens = Vec::new();
        encoder.encode(self, text, true, |token| tokens.push(token));
        encoder.finish()?;
        Ok(tokens)
    }

    /// A token's bytes; of one that is none, no bytes.
    pub fn token_bytes(&self, token: u32) -> &[u8] {
        self.tokens.get(token as usize).map_or(&[], |bytes| bytes)
    }

    /// A token to be shown by itself: bytes that are no text by their numbers, as in `\xE2`.
    pub fn token_text(&self, token: u32) -> String {
        let bytes = self.token_bytes(token);
        match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect(),
        }
    }

    /// The text of tokens, with U+FFFD for bytes that are none.
    pub fn decode(&self, tokens: &[u32]) -> String {
        let mut decoder = Decoder::default();
        let mut text: String = tokens.iter().map(|&token| decoder.push(self, token)).collect();
        text.push_str(&decoder.finish());
        text
    }

    /// The whole of it as one line, to be read by [`Tokenizer::from_json`].
    pub fn to_json(&self) -> String {
        let json = match &self.way {
            Way::Chars(..) => {
                let bytes: Vec<u8> = self.tokens.concat();
                serde_json::json!({ "kind": "chars", "characters": String::from_utf8_lossy(&bytes) })
            }
            Way::Bytes => serde_json::json!({ "kind": "bytes" }),
            Way::Bpe(becomes) => {
                let mut merges: Vec<_> = becomes.iter().collect();
                merges.sort_unstable_by_key(|&(_, id)| id);
                let merges: Vec<_> = merges.into_iter().map(|(pair, _)| pair).collect();
                serde_json::json!({ "kind": "bpe", "merges": merges })
            }
        };
        json.to_string()
    }

    pub fn from_json(json: &str) -> Result<Tokenizer, TextError> {
        let wrong = |why: &str| TextError::Tokenizer(why.into());
        let json: serde_json::Value =
            serde_json::from_str(json).map_err(|error| wrong(&error.to_string()))?;
        match json["kind"].as_str() {
            Some("chars") => {
                let text = json["characters"].as_str().ok_or_else(|| wrong("it has no characters"))?;
                let tokenizer = Tokenizer::of_chars(&text.chars().collect::<Vec<_>>());
                match &tokenizer.way {
                    Way::Chars(ids, _) if ids.len() == tokenizer.vocab() => Ok(tokenizer),
                    _ => Err(wrong("a character stands twice")),
                }
            }
            Some("bytes") => Ok(Tokenizer::bytes()),
            Some("bpe") => {
                let merges = serde_json::from_value::<Vec<[u32; 2]>>(json["merges"].clone());
                Tokenizer::bpe(&merges.map_err(|error| wrong(&error.to_string()))?)
            }
            _ => Err(wrong("it is of no kind that is known: chars, bytes or bpe")),
        }
    }
}

/// Encodes a text part by part.
#[derive(Default)]
pub(super) struct Encoder {
    /// The tokens of pieces that came before, where byte pairs were merged.
    known: HashMap<Box<str>, Box<[u32]>>,
    /// Characters that the vocabulary lacks.
    unknown: Vec<char>,
}

/// Pieces that are remembered at most.
const KNOWN: usize = 1 << 16;

impl Encoder {
    /// Gives out the tokens of a part, and says how many bytes of it that was: where more follows, its last piece is left.
    pub(super) fn encode(
        &mut self,
        tokenizer: &Tokenizer,
        text: &str,
        last: bool,
        mut put: impl FnMut(u32),
    ) -> usize {
        match &tokenizer.way {
            Way::Bytes => text.bytes().for_each(|byte| put(byte.into())),
            Way::Chars(ids, ascii) => {
                for c in text.chars() {
                    let id = ascii.get(c as usize).copied().unwrap_or_else(|| ids.get(&c).copied());
                    match id {
                        Some(id) => put(id),
                        None if self.unknown.contains(&c) => {}
                        None => self.unknown.push(c),
                    }
                }
            }
            Way::Bpe(becomes) => {
                let mut read = 0;
                for piece in pieces(text, last) {
                    read += piece.len();
                    if let Some(tokens) = self.known.get(piece) {
                        tokens.iter().copied().for_each(&mut put);
                        continue;
                    }
                    let tokens = merged(piece, becomes);
                    tokens.iter().copied().for_each(&mut put);
                    if self.known.len() < KNOWN {
                        self.known.insert(piece.into(), tokens.into());
                    }
                }
                return read;
            }
        }
        text.len()
    }

    /// Refuses what had characters that the vocabulary lacks.
    pub(super) fn finish(self) -> Result<(), TextError> {
        if self.unknown.is_empty() { Ok(()) } else { Err(TextError::Unknown(self.unknown)) }
    }
}

/// A piece's tokens: of all pairs that stand in it, the one that was merged first, until none is left.
fn merged(piece: &str, becomes: &HashMap<[u32; 2], u32>) -> Vec<u32> {
    let mut tokens: Vec<u32> = piece.bytes().map(u32::from).collect();
    while let Some(&whole) = tokens.windows(2).filter_map(|pair| becomes.get(pair)).min() {
        let (mut from, mut to) = (0, 0);
        while from < tokens.len() {
            let pair = tokens.get(from..from + 2).is_some_and(|p| becomes.get(&[p[0], p[1]]) == Some(&whole));
            tokens[to] = if pair { whole } else { tokens[from] };
            from += 1 + usize::from(pair);
            to += 1;
        }
        tokens.truncate(to);
    }
    tokens
}

/// Bytes of a piece at most, and so of a token.
pub(super) const LONGEST: usize = 64;

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Space,
    Letter,
    Digit,
    Other,
}

fn class(c: char) -> Class {
    match c {
        _ if c.is_whitespace() => Class::Space,
        _ if c.is_alphabetic() => Class::Letter,
        _ if c.is_numeric() => Class::Digit,
        _ => Class::Other,
    }
}

/// A text cut where no pair is merged across: runs of letters, of digits, of other signs and of blanks, where a space before a
/// run belongs to it. Longer ones are cut, so that no text takes more than linear time. Where `last` is not, the text goes on,
/// and a piece that it may go on with is left out.
pub(super) fn pieces(text: &str, last: bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = piece(rest)?;
        if end > LONGEST {
            end = (0..=LONGEST).rev().find(|&at| rest.is_char_boundary(at))?;
        } else if end == rest.len() && !last {
            return None;
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Where the first piece ends.
fn piece(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    let (_, first) = characters.next()?;
    let mut of = class(first);
    let mut last = 0;
    for (at, c) in characters {
        let next = class(c);
        if next == of {
            last = at;
        } else if of == Class::Space && text[last..].starts_with(' ') {
            // The space opens the run; blanks before it are a piece of their own.
            if last > 0 {
                return Some(last);
            }
            of = next;
            last = at;
        } else {
            return Some(at);
        }
        if at > LONGEST {
            return Some(at);
        }
    }
    Some(text.len())
}

/// Tokens to text one by one: the bytes of a character are held back until it is whole.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    /// The text that a token completes.
    pub fn push(&mut self, tokenizer: &Tokenizer, token: u32) -> String {
        self.held.extend_from_slice(tokenizer.token_bytes(token));
        let mut text = String::new();
        let mut done = 0;
        for chunk in self.held.utf8_chunks() {
            text.push_str(chunk.valid());
            done += chunk.valid().len();
            let broken = chunk.invalid();
            let last = done + broken.len() == self.held.len();
            let incomplete =
                last && std::str::from_utf8(broken).is_err_and(|error| error.error_len().is_none());
            if !broken.is_empty() && !incomplete {
                text.push(char::REPLACEMENT_CHARACTER);
                done += broken.len();
            }
        }
        self.held.drain(..done);
        text
    }

    /// What is left: a character that was cut off is shown as U+FFFD.
    pub fn finish(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held.clear();
        text
    }
}
