//! Tests of numbers, rows and texts as text shells show them.

use run::format::{attempt, breakdown, clock, figure, fitted, goal, grouped, short, value, wrapped};
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
