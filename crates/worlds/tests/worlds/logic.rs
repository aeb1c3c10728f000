//! Tests of grids, rules, drawings and damage.

use math::Rng;
use testkit::test;
use worlds::logic::{Area, Damage, Grid, Rule, checkerboard, colour_g, lizard};

fn draw_error(text: &str, channels: usize) -> String {
    Grid::draw(text, channels).unwrap_err().to_string()
}

#[test]
fn a_glider_moves_down_and_right_every_four_steps() {
    let life = Rule::life();
    assert_eq!(Rule::parse("b3/s23").unwrap(), life);
    let glider = Grid::draw(".#..../..#.../###.../....../....../......", 1).unwrap();
    let moved = Grid::draw("....../..#.../...#../.###../....../......", 1).unwrap();
    let four = |grid: &Grid, periodic| (0..4).fold(grid.clone(), |grid, _| life.step(&grid, periodic));
    assert_eq!(four(&glider, false), moved);
    assert_eq!(four(&glider, true), moved);
    // The glider has moved once around the torus.
    assert_eq!((0..6).fold(glider.clone(), |grid, _| four(&grid, true)), glider);
}

#[test]
fn rules_are_parsed_or_rejected_with_the_remedy() {
    let every: Vec<u8> = (0..512).map(|state| u8::from(Rule::life().next(state))).collect();
    let hexadecimal: String = every.chunks(4).map(|four| format!("{:x}", four.iter().rev().fold(0, |sum, &bit| 2 * sum + bit))).collect();
    assert_eq!(Rule::parse(&hexadecimal).unwrap(), Rule::life());
    assert!((0..512).all(|state| !Rule::parse("B/S").unwrap().next(state)));
    for (text, next) in [
        ("", "B3/S23"),
        ("life", "128 hexadecimal digits"),
        ("B9/S23", "0 to 8"),
        ("3/S23", "begin with B"),
        ("B3/S2x", "S and the neighbour counts"),
        ("B3/23", "S and the neighbour counts"),
    ] {
        let error = Rule::parse(text).unwrap_err().to_string();
        assert!(error.contains(next) && error.contains("; "), "{text}: {error}");
    }
}

#[test]
fn drawings_round_trip_and_invalid_ones_are_rejected() {
    for (grid, shown) in [(lizard(), 1), (colour_g(), 3), (checkerboard(16, 16, 2), 1)] {
        let again = Grid::draw(&grid.text(shown), shown).unwrap();
        assert_eq!(again, grid);
    }
    assert_eq!(Grid::draw("07/3#", 3).unwrap().values(3), [0, 7, 3, 7]);
    for text in ["", "  ", "/", "//", "\n"] {
        assert!(draw_error(text, 1).contains("empty"), "{text:?}");
    }
    assert!(draw_error("..#/.#", 1).contains("row 2 of the drawing has 2 cells, the first row 3"));
    assert!(draw_error("..#//...", 1).contains("row 2"));
    assert!(draw_error("..3", 1).contains("'3'"));
    assert!(draw_error("..8", 3).contains("invalid cell '8'; use . (or 0) for black"));
    assert!(draw_error("..é", 3).contains("'é'"));
}

#[test]
fn pictures_have_the_expected_sizes_and_colours() {
    assert_eq!((lizard().width, lizard().height), (20, 20));
    let g = colour_g();
    assert_eq!((g.width, g.height), (16, 16));
    let values = g.values(3);
    assert!((0..8).all(|colour| values.contains(&colour)));
    assert_eq!(checkerboard(4, 4, 2).text(1), "..##/..##/##../##..");
}

#[test]
fn damage_stays_in_its_area_and_outside_is_rejected() {
    let mut random = Rng::new(1, 1).sequence(0);
    let start = Grid::random(3, 9, 7, &mut random);
    let ones = start.cells.iter().filter(|&&cell| cell == 1).count();
    assert!((60..130).contains(&ones), "{ones} of 189");
    let mut grid = start.clone();
    grid.damage(Area::Disc { x: 8, y: 0, radius: 1 }, Damage::Flip, &mut random).unwrap();
    for channel in 0..3 {
        for y in 0..7 {
            for x in 0..9 {
                let i = grid.index(channel, x, y);
                let hit = matches!((x, y), (8, 0) | (7, 0) | (8, 1));
                assert_eq!(grid.cells[i] != start.cells[i], hit, "{x}, {y}");
            }
        }
    }
    grid.damage(Area::Block { x: 0, y: 0, width: 9, height: 7 }, Damage::Blank, &mut random).unwrap();
    assert_eq!(grid, Grid::blank(3, 9, 7));
    grid.damage(Area::Disc { x: 4, y: 3, radius: usize::MAX }, Damage::Noise, &mut random).unwrap();
    assert!(grid.cells.contains(&0) && grid.cells.contains(&1));
    for (x, y) in [(9, 0), (0, 7), (usize::MAX, usize::MAX)] {
        let before = grid.clone();
        let error = grid.damage(Area::Disc { x, y, radius: 9 }, Damage::Blank, &mut random).unwrap_err();
        assert!(error.to_string().contains("outside the grid of 9x7; choose"));
        assert_eq!(grid, before);
    }
    let seed = Grid::seed(2, 6, 5);
    assert!((0..2).all(|channel| seed.cells[seed.index(channel, 3, 2)] == 1));
    assert_eq!(seed.cells.iter().map(|&cell| usize::from(cell)).sum::<usize>(), 2);
}
