//! What can go wrong at the boundary. Every text ends with the step that helps.

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(
        "this was made by a newer Hothouse (format {found}, this one reads up to {known}). Update Hothouse, or start a fresh run"
    )]
    Future { found: u32, known: u32 },
    #[error(
        "this says it has format {found}, which no Hothouse ever wrote. Ask for it again from where it came, or start a fresh run"
    )]
    NoSuchVersion { found: u32 },
    #[error("there is no room called '{0}'. The rooms are: control, backgammon")]
    UnknownRoom(String),
    #[error("this is of the room '{found}', which has no place in '{here}'. Open it in its own room")]
    OtherRoom { found: String, here: String },
    #[error("there is no environment called '{id}' in this room. It has: {known}")]
    UnknownEnv { id: String, known: String },
    #[error("no learner is called '{id}'. Choose one of: {known}")]
    UnknownLearner { id: String, known: String },
    #[error("{0}")]
    Strong(#[from] learn::backgammon::StrongError),
    #[error("{0}")]
    Published(#[from] learn::backgammon::PublishedError),
    #[error("{0}")]
    Duel(#[from] learn::backgammon::arena::DuelError),
    #[error("there is no knob called '{name}'. Try one of: {known}")]
    UnknownKnob { name: String, known: String },
    #[error("{name} = {value} is out of range. Choose {range}")]
    OutOfRange { name: String, value: f64, range: String },
    #[error("{name} cannot change while a run goes on. Reset with the new value, or start another run")]
    NotLive { name: String },
    #[error("a sweep of {count} learners cannot be shown. Choose values and seeds that make 1 to {most}")]
    SweepSize { count: usize, most: usize },
    #[error("{0}")]
    Learner(#[from] learn::PpoError),
    #[error("the file is no Hothouse checkpoint ({why}). Choose a .safetensors file that Hothouse saved")]
    Foreign { why: String },
    #[error(
        "the checkpoint is damaged or cut short ({why}). Copy it again from where it was saved, or restore an earlier one"
    )]
    Damaged { why: String },
    #[error(
        "this is no monitor of a run. Name a file that `hothouse train --monitor FILE` wrote, or start a run"
    )]
    NoMonitor,
    #[error(
        "the monitor cannot be used ({why}). Watch it with the program that made it, or start another run"
    )]
    Monitor { why: String },
    #[error(
        "the link cannot be read ({why}). Open the page without it to start a default run, or ask for the link again"
    )]
    Link { why: String },
    #[error("{0}")]
    Board(#[from] worlds::backgammon::BoardError),
    #[error("{0}")]
    Dice(#[from] worlds::backgammon::NoSuchRoll),
    #[error("{0}")]
    Game(#[from] worlds::backgammon::GameError),
    #[error("{0}")]
    Notation(#[from] worlds::backgammon::notation::NotationError),
    #[error("in this position the game has ended. Ask about one that goes on")]
    GameOver,
    #[error("{name} plays, but has no opinion to tell. Ask the agent")]
    NoOpinion { name: String },
    #[error("no agent was kept after {minutes} minutes of this run. {next}")]
    NotFrozen { minutes: u32, next: String },
    #[error("{evals} evaluations are more than anyone here waits for. Ask for {most} at most")]
    TooManyEvals { evals: u32, most: u32 },
    #[error("no game has begun here. Begin one")]
    NoTable,
    /// At a table: what cannot be done now, and what can.
    #[error("{0}")]
    Refused(String),
}
