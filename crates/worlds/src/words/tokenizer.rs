//! Converts texts to tokens and back: by characters, by bytes, or by merged byte pairs. For byte pairs, a text is divided into pieces,
//! which are runs of similar characters. Pairs are merged only within a piece.

use super::TextError;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenizerSpec {
    /// One token for each character that occurs in the text.
    Chars,
    /// One token for each of the 256 bytes, for any file.
    Bytes,
    /// One token for each byte and for each learned merge of two tokens (Sennrich, Haddow and Birch 2016), at most `vocab` tokens.
    Bpe { vocab: usize },
}

/// A vocabulary, and the method that encodes texts with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokenizer {
    /// Bytes of each token, `[token]`.
    tokens: Vec<Box<[u8]>>,
    way: Way,
}

#[derive(Clone, Debug, PartialEq)]
enum Way {
    /// Map from each character to its token. A second table contains the tokens of the ASCII characters, for faster access.
    Chars(HashMap<char, u32>, Box<[Option<u32>; 128]>),
    Bytes,
    /// Token that replaces each pair of tokens that can be merged. The pair with the smallest replacement is merged first.
    Bpe(HashMap<[u32; 2], u32>),
}

/// Maximum number of tokens of a vocabulary.
pub const MOST_TOKENS: usize = 1 << 20;

impl Tokenizer {
    /// Creates a tokenizer with one token for each distinct character of a text. The tokens are sorted by code point.
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

    /// Creates a tokenizer with one token for each byte and one for each merge. Returns an error if a merge does not join two earlier
    /// tokens, if a merge occurs twice, if the joined token has more than `LONGEST` bytes, or if there are more than `MOST_TOKENS` tokens.
    pub fn bpe(merges: &[[u32; 2]]) -> Result<Tokenizer, TextError> {
        let wrong = |why: String| Err(TextError::Tokenizer(why));
        let mut tokens = Tokenizer::bytes().tokens;
        let mut becomes = HashMap::new();
        for &pair in merges {
            let id = tokens.len();
            let [Some(a), Some(b)] = pair.map(|part| tokens.get(part as usize)) else {
                return wrong(format!("merge {} joins {} and {}, which are not both earlier tokens", id - 256, pair[0], pair[1]));
            };
            let whole = [&a[..], b].concat();
            if whole.len() > LONGEST || id >= MOST_TOKENS {
                return wrong(format!("merge {} is too large: {} bytes, token {id}", id - 256, whole.len()));
            }
            if becomes.insert(pair, id as u32).is_some() {
                return wrong(format!("merge {} occurs twice", id - 256));
            }
            tokens.push(whole.into());
        }
        Ok(Tokenizer { tokens, way: Way::Bpe(becomes) })
    }

    /// Returns the number of tokens.
    pub fn vocab(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the type of this tokenizer. For byte pairs, `vocab` is the actual number of tokens.
    pub fn kind(&self) -> TokenizerSpec {
        match &self.way {
            Way::Chars(..) => TokenizerSpec::Chars,
            Way::Bytes => TokenizerSpec::Bytes,
            Way::Bpe(_) => TokenizerSpec::Bpe { vocab: self.vocab() },
        }
    }

    /// Encodes a text. If characters of the text are not in the vocabulary, returns an error that contains all of them.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, TextError> {
        let mut all = Encoded::default();
        all.encode(self, &Known::default(), text, true);
        if all.unknown.is_empty() { Ok(all.tokens) } else { Err(TextError::Unknown(all.unknown)) }
    }

    /// Returns an error if some characters are not in the vocabulary.
    pub(super) fn knows(&self, characters: &[char]) -> Result<(), TextError> {
        let Way::Chars(ids, _) = &self.way else { return Ok(()) };
        let unknown: Vec<char> = characters.iter().filter(|c| !ids.contains_key(c)).copied().collect();
        if unknown.is_empty() { Ok(()) } else { Err(TextError::Unknown(unknown)) }
    }

    /// Returns the bytes of a token; an empty slice for a number that is not a token.
    pub fn token_bytes(&self, token: u32) -> &[u8] {
        self.tokens.get(token as usize).map_or(&[], |bytes| bytes)
    }

    /// Returns the text of a single token. If the token's bytes are not UTF-8, the text is their values in hexadecimal, as in `\xE2`.
    pub fn token_text(&self, token: u32) -> String {
        let bytes = self.token_bytes(token);
        match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect(),
        }
    }

    /// Decodes tokens. Bytes that are not UTF-8 become U+FFFD.
    pub fn decode(&self, tokens: &[u32]) -> String {
        let mut decoder = Decoder::default();
        let mut text: String = tokens.iter().map(|&token| decoder.push(self, token)).collect();
        text.push_str(&decoder.finish());
        text
    }

    /// Encodes the tokenizer as one line of JSON, which [`Tokenizer::from_json`] decodes.
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
        let json: serde_json::Value = serde_json::from_str(json).map_err(|error| wrong(&error.to_string()))?;
        match json["kind"].as_str() {
            Some("chars") => {
                let text = json["characters"].as_str().ok_or_else(|| wrong("the characters are missing"))?;
                let tokenizer = Tokenizer::of_chars(&text.chars().collect::<Vec<_>>());
                match &tokenizer.way {
                    Way::Chars(ids, _) if ids.len() == tokenizer.vocab() => Ok(tokenizer),
                    _ => Err(wrong("a character occurs twice")),
                }
            }
            Some("bytes") => Ok(Tokenizer::bytes()),
            Some("bpe") => {
                let merges = serde_json::from_value::<Vec<[u32; 2]>>(json["merges"].clone());
                Tokenizer::bpe(&merges.map_err(|error| wrong(&error.to_string()))?)
            }
            _ => Err(wrong("its kind is not chars, bytes or bpe")),
        }
    }
}

/// Cache of earlier encoded pieces with their tokens, for byte pairs only. Parts that are encoded in parallel share the cache.
#[derive(Default)]
pub(super) struct Known(HashMap<Box<str>, Box<[u32]>>);

/// Maximum number of cached pieces.
const KNOWN: usize = 1 << 17;

impl Known {
    /// Adds the new pieces of a part to the cache, until the cache contains [`KNOWN`] pieces.
    pub(super) fn learn(&mut self, part: &mut Encoded) {
        for (piece, tokens) in part.new.drain() {
            if self.0.len() < KNOWN {
                self.0.insert(piece, tokens);
            }
        }
    }
}

/// Tokens of one part of a text.
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) tokens: Vec<u32>,
    /// Number of bytes of the part that are encoded. With byte pairs, the last piece of the part is left out if the piece may continue
    /// after the part.
    pub(super) read: usize,
    new: HashMap<Box<str>, Box<[u32]>>,
    /// Characters that are not in the vocabulary.
    unknown: Vec<char>,
}

impl Encoded {
    /// Replaces all tokens by the tokens of `text`, a part of the whole text. `last` is true if the last piece of the part cannot continue
    /// after the part.
    pub(super) fn encode(&mut self, tokenizer: &Tokenizer, known: &Known, text: &str, last: bool) {
        let Encoded { tokens, read, new, unknown } = self;
        tokens.clear();
        *read = text.len();
        match &tokenizer.way {
            Way::Bytes => tokens.extend(text.bytes().map(u32::from)),
            Way::Chars(ids, ascii) => {
                for c in text.chars() {
                    let id = ascii.get(c as usize).copied().unwrap_or_else(|| ids.get(&c).copied());
                    match id {
                        Some(id) => tokens.push(id),
                        None if unknown.contains(&c) => {}
                        None => unknown.push(c),
                    }
                }
            }
            Way::Bpe(becomes) => {
                *read = 0;
                for piece in pieces(text, last) {
                    *read += piece.len();
                    match known.0.get(piece).or_else(|| new.get(piece)) {
                        Some(known) => tokens.extend_from_slice(known),
                        None => {
                            let merged = merged(piece, becomes);
                            tokens.extend_from_slice(&merged);
                            new.insert(piece.into(), merged.into());
                        }
                    }
                }
            }
        }
    }
}

/// Returns the tokens of a piece. Repeatedly merges the pair that was learned first, until no learned pair is left.
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

/// Maximum number of bytes in a piece, and therefore in a token.
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

/// Divides a text into pieces. A piece is a run of letters, digits, white space or other characters; a space before a run belongs to the
/// run. Long runs are divided, so the time is linear in the text's length. `last` is false if more text follows `text`. The last piece is
/// then omitted if it can continue in the text that follows.
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

/// Returns the first position, at `at` or later, at which a piece begins regardless of the text before `at`. This position is the end of a
/// run that is not white space, or the end of the text.
pub(super) fn piece_start(text: &[u8], at: usize) -> usize {
    const CHUNK: usize = 256;
    let mut at = character_start(text, at);
    let mut run = Class::Space;
    loop {
        let part = &text[at..text.len().min(at + CHUNK)];
        let part = part.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        for (i, c) in part.char_indices() {
            let class = class(c);
            if run != Class::Space && class != run {
                return at + i;
            }
            run = class;
        }
        if part.is_empty() {
            return text.len();
        }
        at += part.len();
    }
}

/// Returns the first position, at `at` or later, that is not inside a character.
pub(super) fn character_start(text: &[u8], at: usize) -> usize {
    let more = text[at..].iter().position(|byte| byte & 0xC0 != 0x80);
    more.map_or(text.len(), |more| at + more)
}

/// Returns the length of the first piece of a text, in bytes; `None` for an empty text. If the length exceeds [`LONGEST`], the caller must
/// divide the piece.
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
            // The space belongs to the run after it. White space before the space is a separate piece.
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

/// Incremental decoder. The decoder keeps the bytes of an incomplete character until the character is complete.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    /// Decodes a token. Returns the text of all characters that this token completes.
    pub fn push(&mut self, tokenizer: &Tokenizer, token: u32) -> String {
        self.held.extend_from_slice(tokenizer.token_bytes(token));
        let mut text = String::new();
        let mut done = 0;
        for chunk in self.held.utf8_chunks() {
            text.push_str(chunk.valid());
            done += chunk.valid().len();
            let broken = chunk.invalid();
            let last = done + broken.len() == self.held.len();
            let incomplete = last && std::str::from_utf8(broken).is_err_and(|error| error.error_len().is_none());
            if !broken.is_empty() && !incomplete {
                text.push(char::REPLACEMENT_CHARACTER);
                done += broken.len();
            }
        }
        self.held.drain(..done);
        text
    }

    /// Returns the text of the remaining bytes. An incomplete character becomes U+FFFD.
    pub fn finish(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held.clear();
        text
    }
}
