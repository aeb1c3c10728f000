//! Reads the string literals of a file.

use super::cursor::Cursor;
use crate::control::script::error::Problem;
use crate::control::script::token::shown;

/// Reads a string with one or three quotes on each side. The cursor must be at the first quote. The function moves the cursor to the
/// character after the string or, if the string is not closed, to the end of the line or of the text.
pub fn string(cursor: &mut Cursor) -> Result<String, Problem> {
    let start = *cursor;
    let quote = cursor.advance().unwrap_or('"');
    let long = cursor.peek() == Some(quote) && cursor.second() == Some(quote);
    if long {
        cursor.skip(2);
    }
    let mut out = String::new();
    let mut problem = None;
    loop {
        let here = *cursor;
        match cursor.peek() {
            None => return Err(unclosed(start, cursor, quote, long)),
            Some('\n') if !long => return Err(unclosed(start, cursor, quote, long)),
            Some('\\') => match escape(cursor) {
                Some(c) => out.push(c),
                None => problem = problem.or_else(|| Some(wrong_escape(here, cursor))),
            },
            Some(c) => {
                cursor.advance();
                if c != quote {
                    out.push(c);
                } else if !long {
                    break;
                } else if cursor.peek() == Some(quote) && cursor.second() == Some(quote) {
                    cursor.skip(2);
                    break;
                } else {
                    out.push(c);
                }
            }
        }
    }
    problem.map_or(Ok(out), Err)
}

/// Reads a backslash and the character after it. Returns `None` if the language does not have this escape.
fn escape(cursor: &mut Cursor) -> Option<char> {
    cursor.advance();
    let escaped = match cursor.peek()? {
        'n' => '\n',
        't' => '\t',
        c @ ('\\' | '\'' | '"') => c,
        '\n' => return None,
        _ => {
            cursor.advance();
            return None;
        }
    };
    cursor.advance();
    Some(escaped)
}

fn wrong_escape(start: Cursor, cursor: &Cursor) -> Problem {
    let found = shown(cursor.code_from(start));
    let message =
        format!("`{found}` is not possible in a string, which has only \\n, \\t, \\\\, \\' and \\\"; write `\\\\` for a backslash");
    Problem { span: cursor.span_from(start), message }
}

fn unclosed(start: Cursor, cursor: &Cursor, quote: char, long: bool) -> Problem {
    let quotes = String::from(quote).repeat(if long { 3 } else { 1 });
    let place = if long { "the end of the file" } else { "the end of its line" };
    let found = shown(start.rest_of_line().trim_end());
    let message = format!("the string {found} is not closed before {place}; write {quotes} after its last character");
    Problem { span: cursor.span_from(start), message }
}
