//! Parsing of decimal numbers, compared with the parser of `core`.

use learn::decimal;
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
    for text in ["", ".", "+", "-", "e5", "1e", "1e+", "+-5", "--5", "1.2.3", "1 ", " 1", "1e5 ", "0x10", "1_000", "inf", "nan", "1e999"] {
        assert_eq!(decimal(text), None, "{text:?}");
    }
}
