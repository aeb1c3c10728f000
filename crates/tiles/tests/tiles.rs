//! Each tile improves within a small budget, and each tile is the run that its link opens.

use math::Isa;
use run::protocol::Command;
use run::{Host, permalink};
use tiles::{LINKS, begin};

fn link(room: &str) -> &'static str {
    LINKS.lines().find(|link| link.starts_with(&format!("#/{room}?"))).unwrap()
}

/// Returns the digest of weights: FNV-1a over their bytes.
fn digest_of(weights: &[f32]) -> String {
    let bytes = weights.iter().flat_map(|weight| weight.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

/// Trains a tile until `learned` holds for its latest score. Fails after `most` iterations. Returns the first score.
#[track_caller]
fn learns(room: &str, most: u64, learned: impl Fn(f64) -> bool) -> f64 {
    let mut tile = begin(link(room)).unwrap();
    let mut first = None;
    while !tile.score().is_some_and(&learned) {
        assert!(tile.iterations() <= most, "{room}: {:?} after {most} iterations", tile.score());
        tile.advance();
        first = first.or(tile.score());
    }
    first.unwrap()
}

#[test]
fn a_tile_is_the_run_that_its_link_opens() {
    let host = Host::new(Isa::best());
    for link in LINKS.lines() {
        let mut tile = begin(link).unwrap();
        let mut run = run::begin(permalink::decode(link, host).unwrap().config, host).unwrap();
        for iteration in 1..=3 {
            while tile.iterations() < iteration {
                tile.advance();
            }
            run.command(Command::Step).unwrap();
            while run.advance(0.0) {}
            let digest = run.digest();
            assert_eq!((digest.iteration, digest.weights), (iteration as u32, digest_of(tile.weights())), "{link}");
        }
    }
}

#[test]
fn poles_stay_up() {
    assert!(learns("control", 200, |score| score > 450.0) < 50.0);
}

#[test]
fn games_are_won() {
    assert!(learns("backgammon", 60, |score| score > 0.95) < 0.9);
}

#[test]
fn cubes_are_solved() {
    assert!(learns("cube", 400, |score| score > 0.85) < 0.5);
}

#[test]
fn cells_become_a_checkerboard() {
    assert!(learns("logic", 120, |score| score > 0.99) < 0.6);
}

#[test]
fn text_is_predicted() {
    assert!(learns("words", 400, |score| score < 1.6) > 4.0);
}

/// Shows a tile for some seconds. Returns the number of pictures that differ from the one before.
fn changes(room: &str, seconds: f64) -> usize {
    let mut tile = begin(link(room)).unwrap();
    let pictures: Vec<_> = (0..(seconds / 0.05) as usize).map(|_| tile.picture(0.05)).collect();
    assert!(pictures.iter().flatten().all(|number| number.is_finite()));
    pictures.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[test]
fn every_picture_moves_at_its_pace() {
    let moves = |room| changes(room, 30.0);
    assert!(moves("control") > 500);
    assert!((40..=50).contains(&moves("backgammon")));
    assert!((25..=90).contains(&moves("cube")));
    assert!(moves("logic") > 100);
    assert!(moves("words") > 300);
}
