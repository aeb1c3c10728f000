//! Alignment of buffers.

use math::{Buffer, LINE};
use testkit::test;

/// Returns true if the first word is at a multiple of a cache line.
fn is_aligned<T>(words: &[T]) -> bool {
    (words.as_ptr() as usize).is_multiple_of(LINE * size_of::<u32>())
}

#[test]
fn buffers_begin_at_a_cache_line_and_keep_their_contents_when_cloned() {
    for len in [1, 15, 16, 17, 1000, 70_000] {
        let (mut floats, words) = (Buffer::<f32>::zeros(len), Buffer::<u32>::zeros(len));
        floats[len - 1] = 2.0;
        let copy = floats.clone();
        assert!(is_aligned(&floats) && is_aligned(&words) && is_aligned(&copy), "{len}");
        assert_eq!((floats.len(), words.len(), copy[len - 1]), (len, len, 2.0));
        assert!(copy[..len - 1].iter().all(|&x| x == 0.0) && words.iter().all(|&x| x == 0), "{len}");
    }
}
