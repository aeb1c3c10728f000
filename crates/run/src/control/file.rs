//! Environments from files. In a run of the variant [`OWN`], the user data is the file.

use crate::RunError;
use crate::protocol::{Dataset, Problem};
use crate::room::Pack;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use std::sync::{Mutex, PoisonError};
use worlds::control::Kind;
use worlds::control::script::error::Problem as Error;
use worlds::control::script::{LARGEST, MOST_PROBLEMS, compile};

/// Name of the variant that trains in the environment of a file.
pub(super) const OWN: &str = "own";

/// Compression level, from 0 to 10. The highest level makes the shortest links.
const LEVEL: u8 = 10;

/// Support of environments from files: [`Compiles`] or [`Refuses`]. A wasm module of the page that uses only [`Refuses`] does not contain
/// the compiler.
pub trait Opens: Send + Sync + 'static {
    /// Returns the environment; `None` if the bytes of the file are not loaded or the room accepts no files.
    fn open(file: &Dataset) -> Result<Option<Kind>, RunError>;
    /// Returns the errors in the text of a file.
    fn problems(text: &str) -> Vec<Problem>;
    /// Returns the environment of a text; `None` if the text has an error or the room accepts no files.
    fn kind(text: &str) -> Option<Kind>;
    /// True if the room accepts files.
    const ACCEPTS: bool;
    /// Compression of files in links.
    const PACK: Option<Pack> = None;
}

/// Implementation of [`Opens`] that compiles files.
pub struct Compiles;

/// Implementation of [`Opens`] that accepts no files.
pub struct Refuses;

impl Opens for Refuses {
    const ACCEPTS: bool = false;

    fn open(_: &Dataset) -> Result<Option<Kind>, RunError> {
        Ok(None)
    }

    fn problems(_: &str) -> Vec<Problem> {
        Vec::new()
    }

    fn kind(_: &str) -> Option<Kind> {
        None
    }
}

/// Cache of the latest file and its environment. A run needs the environment several times: for checks, for the estimate of the memory and
/// at the beginning of the run.
static NEWEST: Mutex<Option<(Dataset, Kind)>> = Mutex::new(None);

impl Opens for Compiles {
    const ACCEPTS: bool = true;
    const PACK: Option<Pack> =
        Some(Pack { pack: |bytes| compress_to_vec(bytes, LEVEL), unpack: |bytes| decompress_to_vec_with_limit(bytes, LARGEST).ok() });

    fn open(file: &Dataset) -> Result<Option<Kind>, RunError> {
        if file.bytes > LARGEST as u64 {
            return Err(too_long(file));
        }
        let Some(content) = &file.content else { return Ok(None) };
        let mut newest = NEWEST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, kind)) = &*newest
            && known == file
            && known.name == file.name
        {
            return Ok(Some(kind.clone()));
        }
        let kind = compiled(&file.name, content)?;
        *newest = Some((file.clone(), kind.clone()));
        Ok(Some(kind))
    }

    fn problems(text: &str) -> Vec<Problem> {
        compile(text).map_or_else(|errors| errors.iter().map(placed).collect(), |_| Vec::new())
    }

    fn kind(text: &str) -> Option<Kind> {
        compile(text).ok().map(|world| world.kind("preview"))
    }
}

fn placed(Error { span, message }: &Error) -> Problem {
    Problem { line: span.line, column: span.column, end: span.end, message: message.clone() }
}

/// Compiles a file whose bytes are loaded.
pub fn kind_of(file: &Dataset) -> Result<Kind, RunError> {
    let missing = || RunError::DataMissing { name: file.name.clone(), bytes: file.bytes };
    Compiles::open(file)?.ok_or_else(missing)
}

fn too_long(file: &Dataset) -> RunError {
    RunError::Refused {
        what: format!("{} has {} bytes; the file of an environment has at most {LARGEST}", file.name, file.bytes),
        next: "Choose the Python file that defines the environment".into(),
    }
}

/// Compiles a file. The name of the file becomes the name of the environment.
fn compiled(name: &str, content: &[u8]) -> Result<Kind, RunError> {
    let next = || "Correct the file, then start again".into();
    let text = str::from_utf8(content).map_err(|error| RunError::Refused {
        what: format!("{name} is not UTF-8 text: byte {} is no character", error.valid_up_to()),
        next: next(),
    })?;
    let world = compile(text).map_err(|problems| RunError::Refused { what: listed(name, text, &problems), next: next() })?;
    Ok(world.kind(name.to_owned()))
}

/// Returns a message with the errors of a file. A single error follows the file's name in the same line. Several errors have a line each.
/// The compiler finds at most [`MOST_PROBLEMS`] errors.
fn listed(name: &str, text: &str, problems: &[Error]) -> String {
    let head = match problems {
        [problem] => return format!("{name}, {}", problem.located(text)),
        _ if problems.len() < MOST_PROBLEMS => format!("{name} has {} errors:", problems.len()),
        _ => format!("{name}, the first {MOST_PROBLEMS} errors:"),
    };
    problems.iter().fold(head, |all, problem| format!("{all}\n{}", problem.located(text)))
}
