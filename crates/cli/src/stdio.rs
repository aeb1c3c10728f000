//! A line protocol over standard input and output. Reads lines and writes the answer to each line immediately. The caller defines the
//! content of lines and answers.

use anyhow::{Context, Result};
use std::io::{BufRead, Read, Write};

/// Maximum length of a line in bytes, with its line break. A longer line is skipped and not kept in memory.
pub const LINE_BYTES: u64 = 65_536;

/// Answers each line until the input ends or `answer` returns `None`. For a line that is too long, `answer` receives `None`. An empty
/// answer is not written.
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
        let Some(reply) = answer(if cut { None } else { Some(&line) })? else {
            return Ok(());
        };
        if !reply.is_empty() {
            writeln!(output, "{reply}")?;
            output.flush()?;
        }
    }
}
