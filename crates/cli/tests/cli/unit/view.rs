//! Tests of the state of a run for the terminal display.

use super::screen::began;
use cli::internals::{Record, View, points};
use run::protocol::{Backend, Event, Progress, Row};

#[test]
fn a_new_run_replaces_the_old_one() {
    for room in &run::rooms() {
        let schema = room.schema();
        let row = |count: f64, value| {
            let counts = vec![count; schema.counters.len()];
            let progress = Progress { counts, ..Progress::default() };
            Row { progress, values: vec![Some(value); schema.row_len()] }
        };
        let mut view = View { machine: Backend { threads: 2, ..Backend::default() }, ..View::default() };
        view.apply(began(*room, Vec::new()));
        view.apply(Record::Event(Event::Metrics(row(10.0, 20.0))));
        view.apply(began(*room, vec![row(5.0, 1.0), row(6.0, 2.0)]));
        let run = view.run.unwrap();
        assert_eq!(points(&run.history, &run.metrics, 0), [(5.0, 1.0), (6.0, 2.0)]);
        let newest = Some(row(7.0, f64::NAN));
        assert_eq!(points(&run.history, &newest, 0).len(), 2, "NaN is not a point");
        assert_eq!(points(&run.history, &Some(row(7.0, 3.0)), 0).last(), Some(&(7.0, 3.0)), "the latest row is included");
        assert_eq!((run.values.len(), run.progress.counts[0]), (run.knobs.len(), 6.0));
        let charts = run.charts();
        let first = run.goal_column().filter(|column| !column.brief.is_empty());
        assert_eq!(charts[0], first.map_or(charts[0], |column| column.chart));
        assert!(run.goal_column().is_none_or(|column| charts.contains(&column.chart)));
        let [metrics, tests] = run.chart(charts[0]);
        assert!(!metrics.is_empty() || !tests.is_empty());
    }
}
