//! Errors at the interface between runs and shells. An error has a description and a separate remedy. An error of a lower layer has a
//! single text with description and remedy.

use crate::safe_text::bounded;

/// Maximum length in characters of a description or a remedy, which may quote a file or a link of any length.
const LONGEST: usize = 4000;

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident $({ $($field:ident : $type:ty),* })? => $what:literal, $next:literal;)*) => {
        #[derive(Debug)]
        pub enum RunError {
            $($(#[$doc])* $name $({ $($field: $type),* })?,)*
            /// An error of a lower layer, whose text contains the remedy.
            Below(Box<dyn std::error::Error + Send + Sync>),
        }

        impl RunError {
            /// Returns the description of the error, without the remedy.
            pub fn what(&self) -> String {
                let what = match self {
                    $(RunError::$name $({ $($field),* })? => { $($(let _ = $field;)*)? format!($what) })*
                    RunError::Below(error) => error.to_string(),
                };
                bounded(&what, LONGEST).into_owned()
            }

            /// Returns the remedy; empty for an error of a lower layer, whose description contains the remedy.
            pub fn next_step(&self) -> String {
                let next = match self {
                    $(RunError::$name $({ $($field),* })? => { $($(let _ = $field;)*)? format!($next) })*
                    RunError::Below(_) => String::new(),
                };
                bounded(&next, LONGEST).into_owned()
            }
        }
    };
}

errors! {
    Future { found: u32, known: u32 } =>
        "this was made by a newer Hothouse (format {found}, this one reads up to {known})",
        "Update Hothouse, or start a new run";
    NoSuchVersion { found: u32 } =>
        "this has format {found}, which this Hothouse does not know",
        "Get it again from its source, or start a new run";
    UnknownRoom { id: String, known: String } =>
        "there is no room called '{id}'",
        "The rooms are: {known}";
    OtherRoom { found: String, here: String } =>
        "this belongs to the room '{found}', not to '{here}'",
        "Open it in its own room";
    UnknownVariant { word: &'static str, id: String, known: String } =>
        "there is no {word} called '{id}' in this room",
        "Choose one of: {known}";
    UnknownKnob { name: String, known: String } =>
        "there is no knob called '{name}'",
        "Try one of: {known}";
    OutOfRange { name: String, value: String, range: String } =>
        "{name} = {value} is out of range",
        "Choose {range}";
    WrongKind { name: String, value: String, kind: String } =>
        "{name} = {value} has the wrong type",
        "Choose {kind}";
    NotLive { name: String } =>
        "{name} cannot change during a run",
        "Reset with the new value, or start another run";
    TooManyChanges { count: usize, most: usize } =>
        "{count} live changes of knobs cannot be replayed",
        "Give at most {most}, or save the run to a file and continue from it";
    /// The knobs are valid, but their combination needs too much memory.
    TooMuchMemory { needs_mb: u64, has_mb: u64 } =>
        "these settings need about {needs_mb} MB of memory, but {has_mb} MB are available",
        "Reduce environments, games, replay size, batch size or layer width";
    /// The user data do not fit into memory, although the run would fit without them.
    DataTooLarge { name: String, has_mb: u64, data_mb: u64 } =>
        "the file {name} has {data_mb} MB; with the data derived from it, that is more than the {has_mb} MB of memory available",
        "Use a smaller part of it, or run Hothouse natively on a machine with more memory";
    /// The file of a saved run is too large to load while another run trains.
    FileTooLarge { name: String, mb: u64 } =>
        "the file {name} has {mb} MB, too large to load while another run trains",
        "Resume it natively: hothouse resume FILE";
    NoData { room: &'static str } =>
        "the room {room} takes no data to learn from",
        "Leave the data out, or choose a room that learns from it";
    DataMissing { name: String, bytes: u64 } =>
        "this run learns from {name} ({bytes} bytes), which was not given",
        "Provide exactly that file (paste or open it on the page, --data FILE in the terminal), or begin another run";
    SweepSize { count: usize, most: usize } =>
        "a sweep of {count} learners cannot be shown",
        "Choose values and seeds that make 1 to {most}";
    Diverged =>
        "training diverged: the weights are no longer numbers, so they are not saved",
        "Reset, or load an earlier save, and choose a lower learning rate";
    /// The rules of an environment raised an error.
    WorldFailed { fault: String } =>
        "{fault}",
        "Correct the rules, then start a new run. The state before the failed step can be inspected";
    NotKept =>
        "the state before this change is no longer kept",
        "Choose another change, or load an earlier save";
    Foreign { why: String } =>
        "the file is no Hothouse checkpoint ({why})",
        "Choose a .safetensors file that Hothouse saved";
    Damaged { why: String } =>
        "the checkpoint is damaged or cut short ({why})",
        "Copy it again from where it was saved, or restore an earlier one";
    NoMonitor =>
        "this is not the monitor of a run",
        "Name a file that `hothouse train --monitor FILE` wrote, or start a run";
    Monitor { why: String } =>
        "the monitor cannot be used ({why})",
        "Watch it with the program that wrote it, or start another run";
    Link { why: String } =>
        "the link cannot be read ({why})",
        "Open the page without it to start a default run, or request the link again";
    Entry { why: String } =>
        "the entry of the gallery cannot be used ({why})",
        "Correct the file; gallery/program.md describes it";
    NotReproduced { place: String } =>
        "not reproduced: {place}",
        "Compare the version of Hothouse and the settings with those of the entry's author";
    Question { why: String } =>
        "this cannot be asked here ({why})",
        "Use a question from the room's protocol";
    NotShared =>
        "this learner cannot share its work",
        "Train it on one machine, or choose a learner whose games can be shared";
    Offloaded =>
        "this run trains on a GPU, and workers could not reproduce its results",
        "Choose the CPU for it, end the iteration, then share it";
    /// An incompatible build of Hothouse computed the results of shared work, or the input for this work.
    OtherBuild { found: String, here: String } =>
        "this was computed by an incompatible build of Hothouse ({found}; this one is {here})",
        "Install one version on all machines, with the same kind of CPU";
    NothingDue =>
        "no work is pending",
        "Advance the run until it waits";
    NoPolicy { room: &'static str } =>
        "the learner of the room {room} does not act on observations",
        "Use one of the room's questions instead";
    /// A room refuses a request. The room provides the description and the remedy.
    Refused { what: String, next: String } =>
        "{what}",
        "{next}";
}

impl RunError {
    /// Wraps an error of a lower layer, whose text contains the remedy.
    pub fn below(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> RunError {
        RunError::Below(error.into())
    }

    pub fn refused(what: impl Into<String>, next: impl Into<String>) -> RunError {
        RunError::Refused { what: what.into(), next: next.into() }
    }

    pub(crate) fn unknown_knob<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> RunError {
        RunError::UnknownKnob { name: name.into(), known: known.collect::<Vec<_>>().join(", ") }
    }

    pub fn damaged(why: impl std::fmt::Display) -> RunError {
        RunError::Damaged { why: why.to_string() }
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let (what, next) = (self.what(), self.next_step());
        if next.is_empty() { f.write_str(&what) } else { write!(f, "{what}. {next}") }
    }
}

impl std::error::Error for RunError {}
