//! Tests of the rows and numbers of the CSV table.

use cli::internals::csv::{header, keep, number};
use run::protocol::Progress;

#[test]
fn table_is_kept_up_to_the_progress_of_the_run() {
    let schema = run::room("control").unwrap().schema();
    let at = |iteration, env_steps: f64, episodes: f64| Progress { iteration, counts: vec![env_steps, episodes], train_s: 0.0 };
    let keep = |bytes: &[u8], progress: Progress| keep(bytes, schema, &progress);
    let head = header(schema) + "\n";
    let rows = |text: &str| (head.clone() + text).into_bytes();
    let table = rows("1,10,3,x\n2,20,6,x\n3,30,9,x\n4,4");
    assert_eq!(keep(b"", at(2, 20.0, 6.0)), Ok((0, 0)));
    assert_eq!(keep(&table, at(2, 20.0, 6.0)), Ok((head.len() + 18, 2)), "rows after the save are removed");
    assert_eq!(keep(&table, at(7, 70.0, 21.0)), Ok((head.len() + 27, 3)), "an incomplete row is removed");
    assert_eq!(keep(&table, at(0, 0.0, 0.0)), Ok((0, 0)), "a new run empties the table");
    assert!(keep(&table, at(2, 20.0, 7.0)).unwrap_err().contains("another run"));
    for iteration in [0, 2] {
        let refused = keep(b"a,b\n1,2\n", at(iteration, 20.0, 6.0)).unwrap_err();
        assert!(refused.contains("is not a metrics table"), "other files are not overwritten");
    }
    assert!(keep(&rows("one,2,3\n"), at(2, 20.0, 6.0)).is_err());
}

#[test]
fn column_names_of_a_room_are_unique() {
    for room in run::rooms() {
        let header = header(room.schema());
        let mut names: Vec<&str> = header.split(',').collect();
        assert_eq!(names[0], "iteration");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "each name once: {header}");
    }
}

#[test]
fn numbers_are_short_and_exact() {
    assert_eq!(number(f64::from(0.1f32)), "0.1");
    assert_eq!(number(0.1), "0.1");
    assert_eq!(number(16_777_217.0), "16777217");
}
