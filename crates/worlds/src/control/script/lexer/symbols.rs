//! Keywords of Python, symbols, and a check for lines that certainly begin a statement.

use crate::control::script::token::shown;

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield",
];

/// Keywords that begin a statement or a clause and never occur in an expression.
const BEGINNINGS: [&str; 18] = [
    "assert", "break", "class", "continue", "def", "del", "elif", "except", "finally", "from", "global", "import", "nonlocal", "pass",
    "raise", "return", "try", "while",
];

/// Symbols, the longest first. The list includes symbols of other languages, because each of these symbols has an error message.
const SYMBOLS: [&str; 55] = [
    "**=", "//=", ">>=", "<<=", "...", "===", "!==", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", "%=",
    "&=", "|=", "^=", "@=", ":=", "&&", "||", "<>", "=>", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">", "(", ")", "[", "]",
    "{", "}", ",", ":", ".", ";", "=", "!", "?",
];

pub fn keyword(code: &str) -> Option<&'static str> {
    KEYWORDS.into_iter().find(|&keyword| keyword == code)
}

/// Returns the symbol at the start of the code.
pub fn symbol(code: &str) -> Option<&'static str> {
    SYMBOLS.into_iter().find(|symbol| code.starts_with(symbol))
}

pub fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

/// Returns true if a line certainly begins a statement, although a bracket of an earlier line is open. `width` is the indentation of the
/// statement with the bracket, in columns.
pub fn begins_statement(line: &str, width: usize) -> bool {
    let code = line.trim_start();
    let word = code.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    if BEGINNINGS.contains(&word) {
        return true;
    }
    let is_deeper = line.chars().count() - code.chars().count() > width;
    !is_deeper && ((matches!(word, "if" | "for" | "else" | "with") && code.trim_end().ends_with(':')) || is_assignment(code))
}

/// Returns true if a line has the form `target = …` or `target op= …`.
fn is_assignment(code: &str) -> bool {
    let Some((before, after)) = code.split_once('=') else { return false };
    let target = before.strip_suffix(['+', '-', '*', '/', '%']).unwrap_or(before);
    let target = target.strip_suffix(['*', '/']).unwrap_or(target).trim_end();
    let begins = target.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_target = target.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | ',' | ' '));
    let is_closed = target.matches('[').count() == target.matches(']').count();
    begins && is_target && is_closed && !after.starts_with('=')
}

/// Returns the error message for a prefix of a string, such as `f`; `None` if the code is not a prefix.
pub fn prefixed_string(prefix: &str) -> Option<String> {
    let lower = prefix.to_ascii_lowercase();
    if !matches!(lower.as_str(), "f" | "r" | "b" | "u" | "t" | "fr" | "rf" | "br" | "rb" | "tr" | "rt") {
        return None;
    }
    Some(if lower.contains(['f', 't']) {
        format!(
            "f-strings are not part of the language: `{prefix}\"…\"`; draw a text and a number separately: `text(x, y, number, \"black\")`"
        )
    } else {
        format!("strings have no prefix in the language; delete `{prefix}` before the quote")
    })
}

/// Returns the error message for a character that begins no token.
pub fn wrong_character(found: &str) -> String {
    let instead = match found {
        "\u{201c}" | "\u{201d}" | "\u{201e}" | "\u{ab}" | "\u{bb}" => "\"",
        "\u{2018}" | "\u{2019}" | "\u{b4}" => "'",
        "\u{2212}" | "\u{2013}" | "\u{2014}" => "-",
        "\u{d7}" | "\u{b7}" => "*",
        "\u{f7}" => "/",
        "\u{2264}" => "<=",
        "\u{2265}" => ">=",
        "\u{2192}" => "->",
        "\u{2260}" => "!=",
        "\u{a0}" | "\u{2009}" | "\u{202f}" | "\u{3000}" => {
            return "this space is not the usual space character; replace it by one from the space bar".into();
        }
        _ => {
            let code = found.chars().next().map_or(0, u32::from);
            let name = if found.chars().any(char::is_control) { format!("U+{code:04X}") } else { format!("`{}`", shown(found)) };
            return format!("the character {name} is only possible in strings and comments; delete it");
        }
    };
    format!("`{found}` is not a character of the language; write `{instead}`")
}
