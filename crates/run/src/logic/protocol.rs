//! Plain data that only the logic room exchanges: members of the population, grids, and circuits. A grid runs on the automaton of a member
//! and can be damaged. The grid, the requested circuit and the big grid do not affect training. This file contains no behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;

crate::questions! {
    /// Shape and wires of the trained automaton.
    Automaton {} -> AutomatonView,
    /// All members of the population.
    Population {} -> PopulationView,
    /// Gates of a member, in the order of the parameters.
    Gates { member: u32 } -> GatesView,
    /// Begins a grid of this size and start, on the present automaton of a member: the hardened one, or, if `soft` is true, the soft one.
    Grid { width: u32, height: u32, start: Start, seed: u32, member: u32, soft: bool } -> GridView,
    /// Runs the grid for `steps` steps.
    Advance { steps: u32 } -> GridView,
    /// Damages the cells of the grid within `radius` of the cell (`x`, `y`), which must be in the grid.
    Damage { x: u32, y: u32, radius: u32, how: Damage } -> GridView,
    /// Hardened circuit of a member, pruned, and verified against the member's automaton. A grid of the same member continues with this
    /// circuit.
    Circuit { member: u32 } -> CircuitView,
    /// Output of every gate of the grid's circuit at a cell, before the next step.
    Values { x: u32, y: u32 } -> ValuesView,
    /// The pruned circuit of a member as a file.
    Export { member: u32, format: Format } -> ExportView,
    /// Begins a big bit-packed grid of random bits, which runs on the pruned circuit of a member.
    Big { width: u32, height: u32, seed: u32, member: u32 } -> BigView,
    /// Runs the big grid for about `ms` milliseconds.
    BigAdvance { ms: f64 } -> BigView,
}

plain_data! {
    /// Description of a variant, in [`crate::protocol::Variant::about`].
    pub struct Experiment {
        pub width: u32,
        pub height: u32,
        pub channels: u32,
        pub steps: u32,
        pub periodic: bool,
        pub asynchronous: bool,
        pub shows: Shows,
        /// The experiment learns one step of a rule instead of a pattern.
        pub rule: bool,
        /// Descriptions of the tests.
        pub tests: Vec<String>,
        /// The user provides the target, with the knob `target`.
        pub own: bool,
    }

    /// Channels of a cell that are displayed.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Shows {
        /// The first channel.
        Channel,
        /// The first three channels, as red, green and blue.
        Rgb,
    }

    #[derive(Default)]
    pub struct Picture {
        pub width: u32,
        pub height: u32,
        /// One byte per cell, row by row: 0 or 1; with colours the sum of 1 for red, 2 for green and 4 for blue.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<u8>,
    }

    pub struct AutomatonView {
        pub channels: u32,
        pub kernels: u32,
        /// Gates per layer of one kernel.
        pub perception: Vec<u32>,
        /// Gates per layer of the update.
        pub update: Vec<u32>,
        /// Number of learned gates.
        pub gates: u32,
        /// Number of gates evaluated per cell and step.
        pub gates_per_cell: u32,
        pub parameters: u32,
        /// Gates per layer in the order of [`GatesView`]; a perception layer counts the gates of all kernels.
        pub layers: Vec<u32>,
        /// The target according to the present knobs; null for a rule. A grid of the target's size should become the target in `steps`
        /// steps.
        pub target: Option<Picture>,
        pub steps: u32,
        /// Displayed channels of the target.
        pub shows: Shows,
    }

    pub struct PopulationView {
        pub members: Vec<MemberView>,
        /// Number of members that became perfect.
        pub perfect: u32,
        /// Number of members that became perfect or were restarted.
        pub ended: u32,
        /// Index of the best member: a confirmed member, else a perfect member without a test, else the member with the lowest hard loss.
        pub best: u32,
    }

    pub struct MemberView {
        pub seed: u32,
        pub updates: u32,
        /// Squared error per cell of the soft automaton, mean over the newest iteration; null before the first iteration.
        pub loss: Option<f32>,
        /// Error of the hardened automaton in its newest test: share of cells and colours that differ.
        pub hard_loss: f32,
        pub state: MemberState,
        /// Output of the hardened automaton on the first grid of its newest test. For a rule: its output for each of the 512
        /// neighbourhoods, by number.
        pub picture: Picture,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum MemberState {
        Learning,
        /// All cells are right; training of this member has ended.
        Perfect,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Start {
        /// The start used in training.
        Learned,
        /// Random bits in every channel.
        Random,
        Blank,
        /// The target in the displayed channels, with the other channels blank; random bits if a rule is learned.
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
        /// Number of updates of the member when the circuit was taken.
        pub updates: u32,
        /// Inputs in use, in words: `north-west channel 3`.
        pub inputs: Vec<String>,
        pub gates: Vec<GateView>,
        /// Wires, one per channel of the cell's next state. A constant is a gate with operation 0 or 15.
        pub outputs: Vec<u32>,
        /// Number of gates evaluated per cell, before pruning.
        pub evaluated: u32,
        /// Number of gates that pass an input through.
        pub pass_through: u32,
        /// Number of gates without effect on an output.
        pub dead: u32,
        /// Number of gates on the longest path.
        pub depth: u32,
        /// Number of neighbourhoods or cells on which circuit and automaton were compared.
        pub verified: u32,
        /// Circuit and automaton agreed wherever they were compared.
        pub equal: bool,
        /// The member was perfect when the circuit was taken.
        pub perfect: bool,
    }

    #[derive(Copy)]
    pub struct GateView {
        pub op: u32,
        /// First input wire: an index below the number of inputs is an input; other indices are gates, offset by the number of inputs.
        pub a: u32,
        /// Second input wire, numbered like `a`.
        pub b: u32,
        /// Length of the longest path from an input.
        pub layer: u32,
    }

    pub struct ValuesView {
        /// Number of updates of the member when the circuit was taken.
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
        /// Name of the file, for example `life.v`.
        pub name: String,
        pub text: String,
    }

    pub struct BigView {
        pub width: u32,
        pub height: u32,
        pub step: u32,
        /// The first channel, one bit per cell, lowest bit first; rows are padded to whole bytes.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub words: Vec<u8>,
        /// Cells computed per second in the newest call.
        pub cells_per_s: f64,
        /// Gate evaluations per second in the newest call.
        pub gate_cells_per_s: f64,
        /// Number of gates of the pruned circuit.
        pub gates: u32,
    }
}

sent_data! {
    pub struct GatesView {
        /// Operation to which each gate hardens.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub ops: Vec<u8>,
        /// Certainty of each gate's operation, from 0 to 1, as floats.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub certainty: Vec<f32>,
    }

    pub struct GridView {
        pub width: u32,
        pub height: u32,
        pub step: u32,
        /// Number of updates of the member when its automaton was taken.
        pub updates: u32,
        /// Values as in [`Picture::values`]; the values of a soft grid are rounded.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<u8>,
        /// Displayed channels of a soft grid, `[channel][cell]`, as floats; empty for a hardened grid.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub soft: Vec<f32>,
        /// Share of cells that differ from the target; null if the experiment has no target of this size. For a rule: share of cells that
        /// the last step computed wrong.
        pub wrong: Option<f32>,
    }
}
