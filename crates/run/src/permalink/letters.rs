//! Bytes as letters of a link: base64url without padding, as in RFC 4648.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Writes three bytes as four letters. A last group of one or two bytes becomes two or three letters.
pub fn letters(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0, |bits, (i, &byte)| bits | u32::from(byte) << (16 - 8 * i));
        text.extend((0..=group.len()).map(|i| char::from(LETTERS[(bits >> (18 - 6 * i)) as usize & 63])));
    }
    text
}

/// Reads the letters that [`letters`] writes. Returns `None` for other text.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for (i, letter) in group.iter().enumerate() {
            bits |= (LETTERS.iter().position(|known| known == letter)? as u32) << (18 - 6 * i);
        }
        let count = group.len() - 1;
        // A single letter has too few bits for a byte, so it is invalid. Unused bits after the last byte must be 0.
        if count == 0 || bits << 8 << (8 * count) != 0 {
            return None;
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=count]);
    }
    Some(bytes)
}
