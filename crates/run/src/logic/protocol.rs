//! Plain data that only the logic room exchanges: members of the population, grids, and circuits. The automaton of a member computes the
//! steps of a grid, and a user can damage the grid. In an automaton, a cell perceives its neighbours through several kernels, which are
//! small networks of gates. A further network, the update, computes the cell's next state from the kernels' outputs. In a soft automaton, a
//! gate is a weighted mixture of logic operations, and values are real numbers. Hardening replaces each gate by the logic operation with
//! the largest weight. The result is a circuit. Grids and circuits for display do not affect training. This file contains no behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;

crate::questions! {
    /// Returns the architecture of the trained automata, and the target.
    Automaton {} -> AutomatonView,
    /// Returns all members of the population.
    Population {} -> PopulationView,
    /// For each gate of a member, returns its operation and the certainty of this operation, in the order of the automaton's parameters.
    Gates { member: u32 } -> GatesView,
    /// Begins a grid with the given size and start. A copy of the member's current automaton computes the grid's steps: the soft automaton
    /// if `soft` is true, else the hardened automaton.
    Grid { width: u32, height: u32, start: Start, seed: u32, member: u32, soft: bool } -> GridView,
    /// Runs the grid for `steps` steps.
    Advance { steps: u32 } -> GridView,
    /// Damages the cells of the grid within the distance `radius` of the cell (`x`, `y`), which must be in the grid.
    Damage { x: u32, y: u32, radius: u32, how: Damage } -> GridView,
    /// Returns the hardened and reduced circuit of a member, and the result of its comparison with the circuit before the reduction. A
    /// displayed grid of the same member continues with this circuit.
    Circuit { member: u32 } -> CircuitView,
    /// Returns the inputs and the outputs of all gates of the grid's circuit, for the next step of the cell (`x`, `y`).
    Values { x: u32, y: u32 } -> ValuesView,
    /// Returns the reduced circuit of a member as the text of a file.
    Export { member: u32, format: Format } -> ExportView,
    /// Begins a big bit-packed grid of random bits. The reduced circuit of a member computes the grid's steps.
    Big { width: u32, height: u32, seed: u32, member: u32 } -> BigView,
    /// Runs the big grid for about `ms` milliseconds.
    BigAdvance { ms: f64 } -> BigView,
}

plain_data! {
    /// Description of a variant: the value of [`crate::protocol::Variant::about`].
    pub struct Experiment {
        pub width: u32,
        pub height: u32,
        pub channels: u32,
        pub steps: u32,
        pub periodic: bool,
        pub asynchronous: bool,
        pub shows: Shows,
        /// True if the experiment learns one step of a rule; false if it learns a pattern.
        pub rule: bool,
        /// Descriptions of the tests, one sentence or phrase each.
        pub tests: Vec<String>,
        /// True if the user provides the target, in the knob `target`.
        pub own: bool,
    }

    /// Displayed channels of a cell.
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
        /// One byte per cell, row by row. A single channel gives 0 or 1; colours give the sum of 1 for red, 2 for green and 4 for blue.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<u8>,
    }

    pub struct AutomatonView {
        pub channels: u32,
        pub kernels: u32,
        /// Number of gates in each perception layer, for one kernel.
        pub perception: Vec<u32>,
        /// Number of gates in each layer of the update.
        pub update: Vec<u32>,
        /// Number of learned gates.
        pub gates: u32,
        /// Number of gates that are evaluated per cell and step.
        pub gates_per_cell: u32,
        pub parameters: u32,
        /// Number of gates in each layer, in the order of [`GatesView`]. A perception layer counts the gates of all kernels.
        pub layers: Vec<u32>,
        /// Target with the current knobs; null for a rule. A grid of the target's size should show the target after `steps` steps.
        pub target: Option<Picture>,
        pub steps: u32,
        /// Channels that the target displays.
        pub shows: Shows,
    }

    pub struct PopulationView {
        pub members: Vec<MemberView>,
        /// Number of members that became perfect so far.
        pub perfect: u32,
        /// Number of members so far that became perfect, or were replaced because their hard loss did not fall.
        pub ended: u32,
        /// Index of the best member: a confirmed member, else a perfect member without an error in its tests, else the member with the
        /// lowest hard loss.
        pub best: u32,
    }

    pub struct MemberView {
        pub seed: u32,
        pub updates: u32,
        /// Loss of the soft automaton: squared error per cell, mean over the latest iteration. Null before the first iteration.
        pub loss: Option<f32>,
        /// Share of wrong visible bits of the hardened automaton in its latest test. For a rule: share of neighbourhoods with a wrong
        /// result.
        pub hard_loss: f32,
        pub state: MemberState,
        /// Output of the hardened automaton in its latest check. For a pattern, it is the end state of the check's first grid. For a
        /// rule, it is the result for each of the 512 neighbourhoods, in the order of their numbers.
        pub picture: Picture,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum MemberState {
        Learning,
        /// The hardened automaton has no wrong cell. The member trains no longer, unless it is the only member.
        Perfect,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Start {
        /// The initial state from which the experiment trains.
        Learned,
        /// Random bits in every channel.
        Random,
        Blank,
        /// Target in the displayed channels, and 0 in the other channels. For a rule: random bits.
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
        /// Number of the member's updates when the circuit was copied.
        pub updates: u32,
        /// Descriptions of the inputs that the circuit uses, for example `north-west channel 3`.
        pub inputs: Vec<String>,
        pub gates: Vec<GateView>,
        /// For each channel of the cell's next state, the index of the wire that carries the channel's value. Wires are numbered as in
        /// [`GateView::a`]. A constant is a gate with operation 0 or 15.
        pub outputs: Vec<u32>,
        /// Number of gates that are evaluated per cell before the reduction.
        pub evaluated: u32,
        /// Number of gates before the reduction whose output equals one of their inputs.
        pub pass_through: u32,
        /// Number of gates before the reduction that have no effect on an output.
        pub dead: u32,
        /// Number of gates on the longest path of the reduced circuit.
        pub depth: u32,
        /// Number of neighbourhoods or cells on which the circuits before and after the reduction were compared.
        pub verified: u32,
        /// True if the circuits before and after the reduction agreed in the whole comparison.
        pub equal: bool,
        /// True if the member was perfect when the circuit was copied.
        pub perfect: bool,
    }

    #[derive(Copy)]
    pub struct GateView {
        pub op: u32,
        /// Index of the wire at the first input. An index below the circuit's number of inputs is an input. A greater index is the index of
        /// a gate plus the number of inputs.
        pub a: u32,
        /// Index of the wire at the second input, numbered like `a`.
        pub b: u32,
        /// Length of the longest path from an input to this gate, in gates.
        pub layer: u32,
    }

    pub struct ValuesView {
        /// Number of updates that the population's member had made when its circuit was copied for this grid.
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
        /// First channel of the grid, with one bit per cell, row by row. The lowest bit of a byte is the first of its eight cells. Each row
        /// is padded to whole bytes.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub words: Vec<u8>,
        /// Number of cells computed per second in the latest call; a cell counts once per step.
        pub cells_per_s: f64,
        /// Number of gate evaluations per second in the latest call.
        pub gate_cells_per_s: f64,
        /// Number of gates of the reduced circuit.
        pub gates: u32,
    }
}

sent_data! {
    pub struct GatesView {
        /// Index of the operation to which each gate hardens, 0 to 15.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub ops: Vec<u8>,
        /// Certainty of each gate's operation, from 0 to 1, as 32-bit floats.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub certainty: Vec<f32>,
    }

    pub struct GridView {
        pub width: u32,
        pub height: u32,
        pub step: u32,
        /// Number of the member's updates when the grid's automaton was copied.
        pub updates: u32,
        /// Values as in [`Picture::values`]. The values of a soft grid are rounded.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<u8>,
        /// Displayed channels of a soft grid as 32-bit floats, in the order `[channel][cell]`; empty for a hardened grid.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub soft: Vec<f32>,
        /// Share of visible bits that differ from the target; null without a target of this size. For a rule: share of cells that the
        /// last step computed wrong.
        pub wrong: Option<f32>,
    }
}
