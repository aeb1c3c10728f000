//! Each tile improves within a small budget, and each tile is the run that its link opens.

use math::Isa;
use run::protocol::Command;
use run::{Host, permalink};
use tiles::{LINKS, begin};

fn link(room: &str) -> &'static str {
    LINKS.lines().find(|link| link.starts_with(&format!("#/{room}?"))).unwrap()
}

#[test]
#[ignore = "prints scores"]
fn scores() {
    let only = std::env::var("TILE").unwrap_or_default();
    for link in LINKS.lines().filter(|link| link.contains(&only)) {
        let mut tile = begin(&std::env::var("LINK").unwrap_or(link.into())).unwrap();
        let began = std::time::Instant::now();
        println!("{link}");
        let mut next = 0.0;
        let (mut slices, mut longest) = (0, 0.0f64);
        while began.elapsed().as_secs_f64() < std::env::var("S").map_or(6.0, |s| s.parse().unwrap()) {
            let at = std::time::Instant::now();
            tile.advance();
            longest = longest.max(at.elapsed().as_secs_f64());
            slices += 1;
            if began.elapsed().as_secs_f64() >= next {
                println!("{:5.2} s: {} iterations, {:?}, {slices} slices, longest {:.1} ms", began.elapsed().as_secs_f64(), tile.iterations(), tile.score(), 1e3 * longest);
                next = if next < 1.0 { next + 0.1 } else { next + 0.5 };
                longest = 0.0;
            }
        }
    }
}

/// Returns the digest of weights: FNV-1a over their bytes.
fn digest_of(weights: &[f32]) -> String {
    let bytes = weights.iter().flat_map(|weight| weight.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

/// Trains a tile for `iterations` iterations, and returns its first and its last score.
fn trained(room: &str, iterations: u64) -> (f64, f64) {
    let mut tile = begin(link(room)).unwrap();
    let mut first = None;
    while tile.iterations() < iterations || tile.score().is_none() {
        tile.advance();
        tile.picture(0.02);
        first = first.or(tile.score());
    }
    (first.unwrap(), tile.score().unwrap())
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
