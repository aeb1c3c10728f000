//! Reads the number literals of a file.

use super::cursor::Cursor;
use crate::control::script::token::{TokenKind, shown};

/// Reads a number. The cursor must be at a digit, or at a decimal point before a digit. Returns a message if the number is invalid.
pub fn number(cursor: &mut Cursor) -> Result<TokenKind, String> {
    let start = *cursor;
    let other_base = start.rest().starts_with("0x") || start.rest().starts_with("0X");
    while let Some(c) = cursor.peek() {
        let exponent = matches!(c, 'e' | 'E') && !other_base;
        if !(c.is_alphanumeric() || c == '_' || c == '.') {
            break;
        }
        cursor.advance();
        if exponent && matches!(cursor.peek(), Some('+' | '-')) && cursor.second().is_some_and(|c| c.is_ascii_digit()) {
            cursor.advance();
        }
    }
    let code = cursor.code_from(start);
    if digits(code) {
        return int(code);
    }
    if is_float(code) {
        let value: f32 = code.replace('_', "").parse().unwrap_or(f32::INFINITY);
        return match value.is_finite() {
            true => Ok(TokenKind::Float(value)),
            false => Err(format!("`{}` is too large: the largest float is about 3.4e38; write a smaller number", shown(code))),
        };
    }
    Err(wrong(code))
}

/// Returns true if the code consists of digits with single underscores between them.
fn digits(code: &str) -> bool {
    code.split('_').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_float(code: &str) -> bool {
    let (mantissa, exponent) = match code.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (code, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_is_valid =
        (whole.is_empty() || digits(whole)) && (fraction.is_empty() || digits(fraction)) && !(whole.is_empty() && fraction.is_empty());
    mantissa_is_valid && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

fn int(code: &str) -> Result<TokenKind, String> {
    let plain = code.replace('_', "");
    let significant = plain.trim_start_matches('0');
    if !significant.is_empty() && significant.len() < plain.len() {
        return Err(format!("an integer does not begin with 0: `{}`; write `{}`", shown(code), shown(significant)));
    }
    let value: u64 = if significant.is_empty() { 0 } else { significant.parse().unwrap_or(u64::MAX) };
    match i32::try_from(value) {
        Ok(value) => Ok(TokenKind::Int(value)),
        Err(_) if value == 1 << 31 => Ok(TokenKind::Least),
        Err(_) => Err(format!(
            "`{}` does not fit into an integer of 32 bits: the largest is 2147483647; write a smaller integer, or a float as `{}.0`",
            shown(code),
            shown(significant)
        )),
    }
}

fn wrong(code: &str) -> String {
    let found = shown(code);
    let lower = code.to_ascii_lowercase();
    for (prefix, radix, name) in [("0x", 16, "hexadecimal"), ("0o", 8, "octal"), ("0b", 2, "binary")] {
        if let Some(rest) = lower.strip_prefix(prefix) {
            return match i32::from_str_radix(&rest.replace('_', ""), radix) {
                Ok(value) => format!("{name} numbers are not part of the language: `{found}`; write `{value}`"),
                Err(_) => format!("{name} numbers are not part of the language: `{found}`; write the number in decimal"),
            };
        }
    }
    if let Some(real) = lower.strip_suffix('j')
        && (digits(real) || is_float(real))
    {
        return format!("complex numbers are not part of the language: `{found}`; use one float for each part");
    }
    if code.contains('_') && is_float(&code.replace('_', "")) {
        return format!("`_` is only possible between two digits: `{found}`; write `{}`", shown(&code.replace('_', "")));
    }
    let (number, name) = code.split_at(code.bytes().take_while(|byte| byte.is_ascii_digit()).count());
    if !number.is_empty() && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let (number, name) = (shown(number), shown(name));
        return format!("`{found}` is not a number or a name; write `{number} * {name}` to multiply, or begin the name with a letter");
    }
    format!("`{found}` is not a number; write a number such as `12`, `0.5` or `1e-3`")
}
