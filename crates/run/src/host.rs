//! Description of the machine that runs the training.

/// Properties of the machine. The shell provides them.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub isa: math::Isa,
    /// Bytes that a run may allocate.
    pub memory_bytes: u64,
}

impl Host {
    /// Creates a host with unlimited memory.
    pub fn new(isa: math::Isa) -> Host {
        Host { isa, memory_bytes: u64::MAX }
    }
}
