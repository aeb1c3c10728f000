//! Embeds the text of kernels without comments and indentation, so that the page's WebAssembly modules are smaller.

/// Includes a WGSL file, like `include_str!`, but without comments, indentation and empty lines.
macro_rules! include_wgsl {
    ($file:literal) => {{
        const TEXT: &[u8] = include_bytes!($file);
        const SHORT: [u8; $crate::shader::shortened::<0>(TEXT).1] = $crate::shader::shortened(TEXT).0;
        const { $crate::shader::utf8(&SHORT) }
    }};
}
pub(crate) use include_wgsl;

/// Removes comments, indentation and empty lines from a WGSL text. Returns the first `LEN` bytes of the result, and the length of the whole
/// result. Block comments are not recognised.
pub const fn shortened<const LEN: usize>(text: &[u8]) -> ([u8; LEN], usize) {
    let (mut out, mut len, mut rest) = ([0; LEN], 0, text);
    while !rest.is_empty() {
        let (line, next) = rest.split_at(find(rest, b"\n"));
        let code = line.split_at(find(line, b"//")).0.trim_ascii();
        let mut k = 0;
        while !code.is_empty() && k <= code.len() {
            if len < LEN {
                out[len] = if k < code.len() { code[k] } else { b'\n' };
            }
            (len, k) = (len + 1, k + 1);
        }
        rest = next.trim_ascii_start();
    }
    (out, len)
}

/// Returns the index of the first occurrence of `part` in `text`, or the length of `text` if `part` does not occur. All bytes of `part`
/// must be the same, because the search never steps back.
const fn find(text: &[u8], part: &[u8]) -> usize {
    let (mut at, mut same) = (0, 0);
    while at < text.len() && same < part.len() {
        same = if text[at] == part[same] { same + 1 } else { 0 };
        at += 1;
    }
    if same == part.len() { at - same } else { at }
}

pub const fn utf8(text: &[u8]) -> &str {
    match str::from_utf8(text) {
        Ok(text) => text,
        Err(_) => panic!("a WGSL file is not UTF-8"),
    }
}
