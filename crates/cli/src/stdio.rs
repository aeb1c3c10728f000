//! A conversation with whoever started this program: lines in, an answer to each, at once. What is said is not its business.

use anyhow::{Context, Result};
use std::io::{BufRead, Read, Write};

/// Whatever is asked is far shorter; a longer line is refused without being kept.
pub const LINE_BYTES: u64 = 65_536;

/// Answers each line until the lines end or `answer` has nothing more to say; None stands for a line that is too long. An answer
/// without a character is not sent.
pub fn converse(
    input: &mut impl BufRead,
    output: &mut impl Write,
    mut answer: impl FnMut(Option<&[u8]>) -> Result<Option<String>>,
) -> Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line).context("cannot read")?;
        if read == 0 {
            return Ok(());
        }
        let cut = read as u64 == LINE_BYTES && line.last() != Some(&b'\n');
        if cut {
            input.skip_until(b'\n').context("cannot read")?;
        }
        let Some(said) = answer(if cut { None } else { Some(&line) })? else {
            return Ok(());
        };
        if !said.is_empty() {
            writeln!(output, "{said}")?;
            output.flush()?;
        }
    }
}
