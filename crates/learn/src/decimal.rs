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

#[cfg(test)]
mod tests {
    use super::*;
    use math::Rng;

    #[test]
    fn numbers_equal_those_of_core() {
        let mut bits = Rng::new(1, 0x4445_4349).sequence(0);
        for _ in 0..20_000 {
            let value = f64::from_bits(u64::from(bits.word()) << 32 | u64::from(bits.word()));
            if value.is_finite() {
                for text in [value.to_string(), format!("{value:e}"), format!("{value:.3e}")] {
                    assert_eq!(decimal(&text), text.parse().ok().filter(|value: &f64| value.is_finite()), "{text}");
                }
            }
        }
        for text in ["0", "-0", "+7", "007.50", ".5", "5.", "-.5e3", "1.e-2", "2E+6", "1e-999", "9007199254740993", "0.1"] {
            assert_eq!(decimal(text), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", ".", "+", "-", "e5", "1e", "1e+", "+-5", "--5", "1.2.3", "1 ", " 1", "1e5 ", "0x10", "1_000", "inf", "nan", "1e999"]
        {
            assert_eq!(decimal(text), None, "{text:?}");
        }
    }
}
