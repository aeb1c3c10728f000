//! Tests of texts for the terminal.

use cli::internals::budget::Remaining;
use cli::internals::format::{quoted, remaining};

#[test]
fn remaining_time_and_quoted_arguments_are_formatted() {
    let rest = |seconds| remaining(&Remaining { done: 0.424, seconds });
    assert_eq!(rest(187.3), "42% done, about 3:07 left");
    assert_eq!([rest(12.3), rest(0.9)], ["42% done, about 12 s left", "42% done"]);
    assert_eq!(quoted("run.safetensors"), "run.safetensors");
    #[cfg(unix)]
    assert_eq!(quoted("it's mine"), r"'it'\''s mine'");
}
