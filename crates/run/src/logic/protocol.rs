//! What crosses the boundary in the room of logic alone: members of the population, grids that an automaton runs and that can be
//! damaged, and circuits. The grid, the circuit that was asked for last and the big grid stand beside the training and leave no
//! trace in it. This file refuses to hold behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;

crate::questions! {
    /// Shape and wires of the automaton that is learned.
    Automaton {} -> AutomatonView,
    /// All members of the population.
    Population {} -> PopulationView,
    /// The gates of a member, in the order of the parameters.
    Gates { member: u32 } -> GatesView,
    /// Begins a grid that a member's automaton runs as it is now: of this size, from this start.
    Grid { width: u32, height: u32, start: Start, seed: u32, member: u32, soft: bool } -> GridView,
    /// Goes on with it.
    Advance { steps: u32 } -> GridView,
    /// Damages it: cells within the radius. Refused outside the grid.
    Damage { x: u32, y: u32, radius: u32, how: Damage } -> GridView,
    /// The hardened circuit of a member: pruned, and verified against its automaton. A grid of the same member goes on with it.
    Circuit { member: u32 } -> CircuitView,
    /// What every gate of the grid's circuit gives at a cell, before its next step.
    Values { x: u32, y: u32 } -> ValuesView,
    /// The circuit as a file.
    Export { member: u32, format: Format } -> ExportView,
    /// Begins a big grid of random bits that the circuit runs, bit-packed.
    Big { width: u32, height: u32, seed: u32, member: u32 } -> BigView,
    /// Goes on with it for about so long.
    BigAdvance { ms: f64 } -> BigView,
}

plain_data! {
    /// What a variant is, in [`crate::protocol::Variant::about`].
    pub struct Experiment {
        pub width: u32,
        pub height: u32,
        pub channels: u32,
        pub steps: u32,
        pub periodic: bool,
        pub asynchronous: bool,
        pub shows: Shows,
        /// It learns one step of a rule and no pattern.
        pub rule: bool,
        /// What it is tested by, in words.
        pub tests: Vec<String>,
        /// Its target is the user's: knob `target`.
        pub own: bool,
    }

    /// What of a cell is looked at.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Shows {
        /// Its first channel.
        Channel,
        /// Its first three, as red, green and blue.
        Rgb,
    }

    #[derive(Default)]
    pub struct Picture {
        pub width: u32,
        pub height: u32,
        /// A byte a cell, row by row: 0 or 1; where colours are shown 1 for red, 2 for green and 4 for blue together.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<u8>,
    }

    pub struct AutomatonView {
        pub channels: u32,
        pub kernels: u32,
        /// Gates of each layer of one kernel, and of the update.
        pub perception: Vec<u32>,
        pub update: Vec<u32>,
        /// Gates that are learned, and that are evaluated for a cell and a step.
        pub gates: u32,
        pub gates_per_cell: u32,
        pub parameters: u32,
        /// Gates of each layer in the order of [`GatesView`]: of the perception the gates of all kernels.
        pub layers: Vec<u32>,
        /// What is learned now, by the knobs in force; a rule has none. A grid of its size becomes it in so many steps.
        pub target: Option<Picture>,
        pub steps: u32,
        /// Of the cells of the target.
        pub shows: Shows,
    }

    pub struct PopulationView {
        pub members: Vec<MemberView>,
        /// Runs that ended perfect so far, and that ended at all: perfect or dead.
        pub perfect: u32,
        pub ended: u32,
        /// The member with the lowest hard loss.
        pub best: u32,
    }

    pub struct MemberView {
        pub seed: u32,
        pub updates: u32,
        /// Squared error a cell of the soft automaton, as a mean over the newest iteration; nothing before the first.
        pub loss: Option<f32>,
        /// The same of the hardened one on its newest test: the share of cells and colours that differ.
        pub hard_loss: f32,
        pub state: MemberState,
        /// How its hardened automaton left the first grid of that test. Where it learns a rule: what it gives for each of the 512
        /// neighbourhoods, in the order of their numbers.
        pub picture: Picture,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum MemberState {
        Learning,
        /// It has learned every cell, and learns no more.
        Perfect,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Start {
        /// As training starts.
        Learned,
        /// Random bits in every channel.
        Random,
        Blank,
        /// The target in the channels that are shown, the others blank; random bits where a rule is learned.
        Target,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Damage {
        Blank,
        Noise,
        Flip,
    }

    pub struct CircuitView {
        /// Of the member that it was taken from.
        pub updates: u32,
        /// Those in use, in words: `north-west channel 3`.
        pub inputs: Vec<String>,
        pub gates: Vec<GateView>,
        /// Wires, one a channel of the cell's next state. A constant is a gate of operation 0 or 15.
        pub outputs: Vec<u32>,
        /// Gates of the automaton that are evaluated for a cell; those that pass an input through, and that nothing depends on.
        pub evaluated: u32,
        pub pass_through: u32,
        pub dead: u32,
        /// Gates on the longest way.
        pub depth: u32,
        /// Neighbourhoods or cells that circuit and automaton were compared on.
        pub verified: u32,
        pub equal: bool,
        /// The member is perfect.
        pub perfect: bool,
    }

    #[derive(Copy)]
    pub struct GateView {
        pub op: u32,
        /// Wires: an input below the number of inputs, else a gate plus that number.
        pub a: u32,
        pub b: u32,
        /// Longest way from an input.
        pub layer: u32,
    }

    pub struct ValuesView {
        /// Of the circuit's member: as in [`CircuitView::updates`].
        pub updates: u32,
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub inputs: Vec<u8>,
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub gates: Vec<u8>,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Format {
        Svg,
        Json,
        Verilog,
        Rust,
    }

    pub struct ExportView {
        /// `life.v`
        pub name: String,
        pub text: String,
    }

    pub struct BigView {
        pub width: u32,
        pub height: u32,
        pub step: u32,
        /// The first channel, a bit a cell, the lowest first; rows are padded to whole bytes.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub words: Vec<u8>,
        /// In the newest call.
        pub cells_per_s: f64,
        pub gate_cells_per_s: f64,
        /// Of the pruned circuit.
        pub gates: u32,
    }
}

sent_data! {
    pub struct GatesView {
        /// The operation that each gate hardens to.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub ops: Vec<u8>,
        /// How much of each gate it is, 0 to 1: floats.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub certainty: Vec<f32>,
    }

    pub struct GridView {
        pub width: u32,
        pub height: u32,
        pub step: u32,
        /// Of the member that it was taken from.
        pub updates: u32,
        /// As in [`Picture`]; of a soft grid rounded.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<u8>,
        /// Of a soft grid the channels that are shown, `[channel][cell]`: floats.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub soft: Vec<f32>,
        /// Share of cells that differ from the target, where there is one of this size. Where a rule is learned, of those of the last
        /// step that the rule gives another value.
        pub wrong: Option<f32>,
    }
}
