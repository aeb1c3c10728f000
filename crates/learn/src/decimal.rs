//! Parsing of decimal numbers.

/// Parses a number such as `12`, `-.5` or `2e6` to the closest f64. Returns `None` for other texts and for numbers beyond the range of f64.
///
/// serde_json parses the digits, because every module of the page contains its parser. The parser of `core`, with its table of powers,
/// would enlarge the first load of each room.
pub fn decimal(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_at(unsigned.find(['e', 'E']).unwrap_or(unsigned.len()));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() == 0 || text.ends_with(char::is_whitespace) {
        return None;
    }
    // JSON has no plus sign and no leading zeros, and needs digits on both sides of a point.
    let sign = if text.starts_with('-') { "-" } else { "" };
    let whole = whole.trim_start_matches('0');
    serde_json::from_str(&format!("{sign}{whole:0>1}.{fraction}0{exponent}")).ok()
}
