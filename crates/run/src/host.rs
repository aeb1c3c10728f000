//! What a run is told of where it runs.

/// What a shell knows of the machine that a run is on.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub isa: math::Isa,
    /// What a run may allocate.
    pub memory_bytes: u64,
}

impl Host {
    /// With as much memory as anyone asks for.
    pub fn new(isa: math::Isa) -> Host {
        Host { isa, memory_bytes: u64::MAX }
    }
}
