//! Tests of the hashes of data and checkpoints, and of the name of a run's arithmetic. `digests.rs` compares the digests of trained runs.

use math::Isa;
use run::internals::{Arithmetic, of_words};
use run::protocol::Dataset;

#[test]
fn fnv_agrees_with_its_published_vectors() {
    // Expected hashes of "" and "foobar" from the FNV authors (Fowler, Noll, Vo).
    let hash = |text: &str| Dataset::new("text", text.as_bytes().to_vec()).hash;
    assert_eq!(hash(""), "cbf29ce484222325");
    assert_eq!(hash("foobar"), "85944171f73967e8");
}

#[test]
fn word_hash_detects_bit_flips_and_different_splits() {
    let bytes: Vec<u8> = (0..200).map(|i| (i * 7) as u8).collect();
    let whole = of_words([&bytes[..]].into_iter());
    assert_eq!(whole, of_words([&bytes.clone()[..]].into_iter()));
    for bit in 0..8 * bytes.len() {
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(whole, of_words([&other[..]].into_iter()), "bit {bit}");
    }
    for cut in 0..=bytes.len() {
        let (one, two) = bytes.split_at(cut);
        assert_ne!(whole, of_words([one, two].into_iter()), "cut at {cut}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_ne!(whole, of_words([&longer[..]].into_iter()));
}

#[test]
fn arithmetic_stays_mixed_after_a_change() {
    let mut arithmetic = Arithmetic::of(Isa::best());
    arithmetic.note(1, "gpu");
    arithmetic.note(2, "gpu");
    assert_eq!(arithmetic.name(), "gpu");
    arithmetic.note(3, "fused");
    arithmetic.note(4, "gpu");
    assert_eq!(arithmetic.name(), "mixed");
    assert_eq!(Arithmetic::restored("gpu").name(), "gpu");
    assert_eq!(Arithmetic::restored("of tomorrow").name(), "mixed");
}
