//! Tests of the parsers of argument values.

use cli::internals::values::{assignment, change, count, seconds, up_to_a_million};

#[test]
fn numbers_accept_exponents_and_underscores() {
    assert_eq!(count("2e6"), Ok(2_000_000));
    assert_eq!(count("1_000_000"), Ok(1_000_000));
    assert_eq!(count("2.5e3"), Ok(2500));
    for bad in ["", "0", "-1", "1.5", "1e99", "nan", "inf", "_1", "1__0", "1_", "ten"] {
        assert!(count(bad).is_err(), "{bad}");
    }
    assert_eq!(seconds("0.5"), Ok(0.5));
    assert!(seconds("0").is_err() && seconds("-3").is_err());
    assert_eq!(assignment("lr=3e-3"), Ok(("lr".into(), "3e-3".into())));
    assert!(assignment("lr").is_err() && assignment("=3").is_err());
    assert!(up_to_a_million("1e7").is_err());
    assert_eq!(change("3e2:lr=3e-3"), Ok((300, "lr".into(), "3e-3".into())));
    assert_eq!(change("0:lr=1"), Ok((0, "lr".into(), "1".into())));
    for bad in ["lr=1", "1.5:lr=1", "-1:lr=1", "5:lr", "5:=1", "4294967296:lr=1"] {
        assert!(change(bad).is_err(), "{bad}");
    }
}
