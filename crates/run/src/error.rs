//! What can go wrong at the boundary: what is the matter, and apart from it the step that helps. Texts of layers below carry
//! their step in the text itself.

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident $({ $($field:ident : $type:ty),* })? => $what:literal, $next:literal;)*) => {
        #[derive(Debug)]
        pub enum RunError {
            $($(#[$doc])* $name $({ $($field: $type),* })?,)*
            /// Of a layer below.
            Below(Box<dyn std::error::Error + Send + Sync>),
        }

        impl RunError {
            /// What is the matter, without what to do.
            pub fn what(&self) -> String {
                match self {
                    $(RunError::$name $({ $($field),* })? => { $($(let _ = $field;)*)? format!($what) })*
                    RunError::Below(error) => error.to_string(),
                }
            }

            /// The step that helps; empty where the text of a layer below has it.
            pub fn next_step(&self) -> String {
                match self {
                    $(RunError::$name $({ $($field),* })? => { $($(let _ = $field;)*)? format!($next) })*
                    RunError::Below(_) => String::new(),
                }
            }
        }
    };
}

errors! {
    Future { found: u32, known: u32 } =>
        "this was made by a newer Hothouse (format {found}, this one reads up to {known})",
        "Update Hothouse, or start a fresh run";
    NoSuchVersion { found: u32 } =>
        "this says it has format {found}, which this Hothouse does not know",
        "Ask for it again from where it came, or start a fresh run";
    UnknownRoom { id: String, known: String } =>
        "there is no room called '{id}'",
        "The rooms are: {known}";
    OtherRoom { found: String, here: String } =>
        "this is of the room '{found}', which has no place in '{here}'",
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
        "{name} = {value} is of the wrong kind",
        "Choose {kind}";
    NotLive { name: String } =>
        "{name} cannot change while a run goes on",
        "Reset with the new value, or start another run";
    TooManyChanges { count: usize, most: usize } =>
        "{count} live changes of knobs cannot be replayed",
        "Give at most {most}, or save the run to a file and go on from that";
    /// Knobs that are each legal.
    TooMuchMemory { needs_mb: u64, has_mb: u64 } =>
        "these settings need about {needs_mb} MB of memory, and there are {has_mb} MB",
        "Lower what there is many of: environments, games, positions kept, sequences at once, units";
    /// The rest would fit.
    DataTooLarge { name: String, has_mb: u64, data_mb: u64 } =>
        "the file {name} has {data_mb} MB, and with what is made from it that is more than the {has_mb} MB of memory there are",
        "Bring a smaller part of it, or run Hothouse natively on a machine with more";
    /// Of a saved run.
    FileTooLarge { name: String, mb: u64 } =>
        "the file {name} has {mb} MB, more than there is room for beside the run that trains",
        "Resume it natively: hothouse resume FILE";
    NoData { room: &'static str } =>
        "the room {room} takes no data to learn from",
        "Leave the data out, or choose a room that learns from it";
    DataMissing { name: String, bytes: u64 } =>
        "this run learns from {name} ({bytes} bytes), and that file was not given",
        "Bring exactly that file (--data FILE in the terminal), or begin another run";
    SweepSize { count: usize, most: usize } =>
        "a sweep of {count} learners cannot be shown",
        "Choose values and seeds that make 1 to {most}";
    Diverged =>
        "training diverged: the weights are no longer numbers, so they are not saved",
        "Reset, or load an earlier save, and choose a lower learning rate";
    NotKept =>
        "the run as it was before this change is not kept",
        "Choose another change, or load an earlier save";
    Foreign { why: String } =>
        "the file is no Hothouse checkpoint ({why})",
        "Choose a .safetensors file that Hothouse saved";
    Damaged { why: String } =>
        "the checkpoint is damaged or cut short ({why})",
        "Copy it again from where it was saved, or restore an earlier one";
    NoMonitor =>
        "this is no monitor of a run",
        "Name a file that `hothouse train --monitor FILE` wrote, or start a run";
    Monitor { why: String } =>
        "the monitor cannot be used ({why})",
        "Watch it with the program that made it, or start another run";
    Link { why: String } =>
        "the link cannot be read ({why})",
        "Open the page without it to start a default run, or ask for the link again";
    Question { why: String } =>
        "this cannot be asked here ({why})",
        "Ask what the room's protocol has";
    NotShared =>
        "this learner does all of its work itself",
        "Train it on one machine, or choose a learner whose games can be shared";
    Offloaded =>
        "this run works on a GPU, and others could not do the same",
        "Choose the processor for it, end the iteration, and share it then";
    /// Of pieces of an iteration, and of what they are done with.
    OtherBuild { found: String, here: String } =>
        "it comes from another build of Hothouse, which plays otherwise (made by {found}; this one is {here})",
        "Install one version on all machines, of one kind of processor";
    NothingDue =>
        "nothing is due: the learner works on what it has",
        "Advance the run until it waits";
    NoPolicy { room: &'static str } =>
        "what the room {room} learns does not act on observations",
        "Ask it one of the room's questions";
    /// Of a room's own.
    Refused { what: String, next: String } =>
        "{what}",
        "{next}";
}

impl RunError {
    /// For a layer below, whose text has the next step in it.
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
