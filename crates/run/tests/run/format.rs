//! Tests of numbers, rows and texts as text shells show them.

use run::format::{amount, attempt, breakdown, clock, figure, fitted, goal, grouped, leading, percent, short, value, wrapped};
use run::protocol::{Column, Confirmation, Goal};

#[test]
fn numbers_have_readable_forms() {
    assert_eq!(grouped(0), "0");
    assert_eq!(grouped(999), "999");
    assert_eq!(grouped(1_572_864), "1,572,864");
    assert_eq!(
        ["0", "475", "1.57 M", "12.3 k", "2.00 M"],
        [0.0, 475.0, 1_572_864.0, 12_345.0, 2e6].map(short).map(|s| Box::leak(s.into_boxed_str()) as &str)
    );
    assert_eq!([0.84, 12.34, 247.0, 3723.0].map(clock), ["0.84 s", "12.3 s", "4:07", "1:02:03"]);
    assert_eq!([0.0213, 0.0, -1.2e-5, 12.414].map(figure), ["0.0213", "0", "-1.2e-5", "12.41"]);
    assert_eq!(figure(f64::NAN), "NaN");
    let (plain, share) = (Column::new("a", "A", ""), Column::new("b", "B", "").share());
    assert_eq!([None, Some(0.5), Some(475.25), Some(2e6)].map(|x| value(&plain, x)), ["-", "0.5000", "475.2", "2.00 M"]);
    assert_eq!(value(&share, Some(0.125)), "12%");
    // The value of a goal in a file is a 32-bit float.
    let at = f64::from(0.99_f32);
    assert_eq!(goal(run::rooms()[0].schema(), &Goal { column: "x", at }), "x of 0.99");
    let failed = Confirmation { progress: Default::default(), value: Some(at), goal: at, confirmed: false };
    assert_eq!(attempt(&failed), "not solved: a test reached 0.99, its confirmation 0.99; training continues");
}

#[test]
fn numbers_of_a_headline_have_readable_forms() {
    let (plain, points, share) = (Column::new("a", "A", ""), Column::new("b", "B", "").unit("points"), Column::new("c", "C", "").share());
    let numbers = [9.35, 496.26, 500.0, -87.54, 0.0421, 0.0, -1234.4, 99.999, 999.96];
    assert_eq!(numbers.map(|x| leading(&plain, x)), ["9.35", "496.3", "500", "-87.5", "0.0421", "0", "-1,234", "100", "1,000"]);
    assert_eq!([0.4, -1.257].map(|x| leading(&points, x)), ["0.40", "-1.26"]);
    assert_eq!(leading(&share, 0.9789), percent(0.9789));
    // A share below 100% is never shown as 100%.
    assert_eq!([0.0, 0.5, 0.9789, 0.99, 0.999_99, 1.0].map(percent), ["0%", "50%", "97.9%", "99%", "99.99%", "100%"]);
    let steps = Column::new("env_steps", "Steps", "").unit("steps");
    let amounts = [940.0, 851_968.0, 999_600.0, 1_240_000.0, 12e9, 2e12].map(|n| amount(&steps, n));
    assert_eq!(
        amounts,
        ["940 steps", "852 thousand steps", "1 million steps", "1.24 million steps", "12 billion steps", "2 trillion steps"]
    );
}

#[test]
fn the_breakdown_begins_with_the_longest_part() {
    let schema = run::rooms()[0].schema();
    let mut parts_s = vec![0.0; schema.all_parts().count()];
    assert_eq!(breakdown(schema, &parts_s), None);
    (parts_s[0], parts_s[1], parts_s[4]) = (1.6, 0.9, 1.5);
    assert_eq!(breakdown(schema, &parts_s).unwrap(), "policy 40%, gradient 38%, world 22%");
}

#[test]
fn text_is_cut_and_broken() {
    assert_eq!(fitted("three small words", 9), "three sm…");
    assert_eq!(fitted("words", 5), "words");
    assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
}
