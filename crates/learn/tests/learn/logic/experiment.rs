//! Experiments: their batches and their targets.

use learn::logic::Wirings;
use learn::logic::experiment::{Config, Preset, Task};
use learn::logic::train::Rollout;
use learn::settings::Choice;
use math::Rng;
use worlds::logic::{Grid, checkerboard};

#[test]
fn experiments_can_be_wired_and_batches_contain_their_targets() {
    for &preset in Preset::ALL {
        let config = Config { batch: 3, ..Config::preset(preset) };
        let experiment = config.experiment().unwrap();
        Wirings::new(&experiment.architecture, config.wiring, 5).unwrap();
        let Rollout { width, height, .. } = experiment.training;
        let (cells, channels) = (width * height, experiment.architecture.channels);
        let mut start = vec![0.5; 3 * channels * cells];
        let mut target = vec![0.5; 3 * experiment.shown() * cells];
        experiment.fill(7, 11, (0.0, &[]), &mut start, &mut target);
        assert!(start.iter().chain(&target).all(|&x| x == 0.0 || x == 1.0), "{preset:?}");
        if let Task::Rule(rule) = &experiment.task {
            for sample in 0..3 {
                let mut grid = Grid::blank(1, 3, 3);
                for (cell, x) in grid.cells.iter_mut().zip(&start[9 * sample..]) {
                    *cell = *x as u8;
                }
                let next: Vec<f32> = rule.step(&grid, true).cells.iter().map(|&bit| bit.into()).collect();
                assert_eq!(target[9 * sample..9 * sample + 9], next, "{preset:?}");
            }
        } else {
            let pattern = experiment.target(width, height).unwrap();
            assert!(target.iter().zip(pattern.cells.iter().cycle()).all(|(&x, &bit)| x == f32::from(bit)));
            let fresh = experiment.start(width, height, &mut Rng::new(1, 1).sequence(0)).cells;
            let share = |ones: f32, all: usize| ones / all as f32;
            let fresh_ones = share(fresh.iter().map(|&bit| f32::from(bit)).sum(), fresh.len());
            assert!((share(start.iter().sum(), start.len()) - fresh_ones).abs() < 0.05, "{preset:?}");
            // Without random starts, training and tests start from the same grid.
            let same = start.iter().zip(fresh.iter().cycle()).all(|(&x, &bit)| x == f32::from(bit));
            assert_eq!(same, preset.board().is_none(), "{preset:?}");
        }
        let mut other = start.clone();
        experiment.fill(7, 12, (0.0, &[]), &mut other, &mut target);
        let is_random = preset.is_rule() || matches!(preset, Preset::Checkerboard | Preset::Asynchronous);
        assert_eq!(start != other, is_random, "{preset:?}");
    }
}

#[test]
fn larger_targets_center_or_tile_the_pattern() {
    let lizard = Config::preset(Preset::Lizard).experiment().unwrap();
    let larger = lizard.target(40, 40).unwrap();
    let small = lizard.target(20, 20).unwrap();
    assert_eq!(larger.cells.iter().filter(|&&c| c == 1).count(), small.cells.iter().filter(|&&c| c == 1).count());
    assert_eq!(larger.cells[larger.index(0, 10 + 8, 10 + 1)], small.cells[small.index(0, 8, 1)]);
    assert_eq!(lizard.target(10, 40), None);
    let board = Config::preset(Preset::Asynchronous).experiment().unwrap();
    assert_eq!(board.target(64, 64).unwrap(), checkerboard(64, 64, 2));
    assert_eq!(board.target(6, 4).unwrap().text(1), "..##../..##../##..##/##..##");
}

#[test]
fn invalid_targets_return_errors_with_a_remedy() {
    let own = |target: &str, steps| {
        let config = Config { target: target.into(), steps, ..Config::preset(Preset::Own) };
        config.experiment().map(|experiment| experiment.shown()).map_err(|error| error.to_string())
    };
    assert_eq!(own("..../.##./.##./....", 9), Ok(1));
    assert_eq!(own("..../.12./.34./....", 9), Ok(3));
    for (drawing, steps, next) in [
        ("", 9, "draw rows"),
        ("..../..../..../....", 9, "at least one cell"),
        ("..../.##./.#./....", 9, "equally long"),
        ("..../.9#./.##./....", 9, "black, 1 red"),
        ("..#/.#./...", 9, "draw 4 to 32"),
        (&vec![".#".repeat(20); 20].join("/"), 99, "draw 4 to 32"),
        (&vec!["#".repeat(32); 32].join("/"), 15, "steps = 16"),
    ] {
        let error = own(drawing, steps).unwrap_err();
        assert!(error.contains(next), "{error}");
    }
    let rule = Config { target: "B3".into(), ..Config::preset(Preset::Rule) };
    assert!(rule.experiment().unwrap_err().to_string().contains("B3/S23"));
}
