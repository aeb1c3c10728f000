// Questions and answers of the logic room.
// Generated from crates/run/src/logic/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "automaton", } | { "ask": "population", } | { "ask": "gates", member: number, } | { "ask": "grid", width: number, height: number, start: Start, seed: number, member: number, soft: boolean, } | { "ask": "advance", steps: number, } | { "ask": "damage", x: number, y: number, radius: number, how: Damage, } | { "ask": "circuit", member: number, } | { "ask": "values", x: number, y: number, } | { "ask": "export", member: number, format: Format, } | { "ask": "big", width: number, height: number, seed: number, member: number, } | { "ask": "big_advance", ms: number, };

/** Description of a variant: the value of [`crate::protocol::Variant::about`]. */
export type Experiment = { width: number, height: number, channels: number, steps: number, periodic: boolean, asynchronous: boolean, shows: Shows,
/** True if the experiment learns one step of a rule; false if it learns a pattern. */
rule: boolean,
/** Descriptions of the tests, one sentence or phrase each. */
tests: Array<string>,
/** True if the user provides the target, in the knob `target`. */
own: boolean, };

/** Displayed channels of a cell. */
export type Shows = "channel" | "rgb";

export type Picture = { width: number, height: number,
/** One byte per cell, row by row. A single channel gives 0 or 1; colours give the sum of 1 for red, 2 for green and 4 for blue. */
values: Uint8Array, };

export type AutomatonView = { channels: number, kernels: number,
/** Number of gates in each perception layer, for one kernel. */
perception: Array<number>,
/** Number of gates in each layer of the update. */
update: Array<number>,
/** Number of learned gates. */
gates: number,
/** Number of gates that are evaluated per cell and step. */
gates_per_cell: number, parameters: number,
/** Number of gates in each layer, in the order of [`GatesView`]. A perception layer counts the gates of all kernels. */
layers: Array<number>,
/** Target with the current knobs; null for a rule. A grid of the target's size should show the target after `steps` steps. */
target: Picture | null, steps: number,
/** Channels that the target displays. */
shows: Shows, };

export type PopulationView = { members: Array<MemberView>,
/** Number of members that became perfect so far. */
perfect: number,
/** Number of members so far that became perfect, or were replaced because their hard loss did not fall. */
ended: number,
/**
 * Index of the best member: a confirmed member, else a perfect member without an error in its tests, else the member with the
 * lowest hard loss.
 */
best: number, };

export type MemberView = { seed: number, updates: number,
/** Loss of the soft automaton: squared error per cell, mean over the latest iteration. Null before the first iteration. */
loss: number | null,
/**
 * Share of wrong visible bits of the hardened automaton in its latest test. For a rule: share of neighbourhoods with a wrong
 * result.
 */
hard_loss: number, state: MemberState,
/**
 * Output of the hardened automaton in its latest check. For a pattern, it is the end state of the check's first grid. For a
 * rule, it is the result for each of the 512 neighbourhoods, in the order of their numbers.
 */
picture: Picture, };

export type MemberState = "learning" | "perfect";

export type GatesView = {
/** Index of the operation to which each gate hardens, 0 to 15. */
ops: Uint8Array,
/** Certainty of each gate's operation, from 0 to 1, as 32-bit floats. */
certainty: Uint8Array, };

export type Start = "learned" | "random" | "blank" | "target";

export type Damage = "blank" | "noise" | "flip";

export type GridView = { width: number, height: number, step: number,
/** Number of the member's updates when the grid's automaton was copied. */
updates: number,
/** Values as in [`Picture::values`]. The values of a soft grid are rounded. */
values: Uint8Array,
/** Displayed channels of a soft grid as 32-bit floats, in the order `[channel][cell]`; empty for a hardened grid. */
soft: Uint8Array,
/**
 * Share of visible bits that differ from the target; null without a target of this size. For a rule: share of cells that the
 * last step computed wrong.
 */
wrong: number | null, };

export type CircuitView = {
/** Number of the member's updates when the circuit was copied. */
updates: number,
/** Descriptions of the inputs that the circuit uses, for example `north-west channel 3`. */
inputs: Array<string>, gates: Array<GateView>,
/**
 * For each channel of the cell's next state, the index of the wire that carries the channel's value. Wires are numbered as in
 * [`GateView::a`]. A constant is a gate with operation 0 or 15.
 */
outputs: Array<number>,
/** Number of gates that are evaluated per cell before the reduction. */
evaluated: number,
/** Number of gates before the reduction whose output equals one of their inputs. */
pass_through: number,
/** Number of gates before the reduction that have no effect on an output. */
dead: number,
/** Number of gates on the longest path of the reduced circuit. */
depth: number,
/** Number of neighbourhoods or cells on which the circuits before and after the reduction were compared. */
verified: number,
/** True if the circuits before and after the reduction agreed in the whole comparison. */
equal: boolean,
/** True if the member was perfect when the circuit was copied. */
perfect: boolean, };

export type GateView = { op: number,
/**
 * Index of the wire at the first input. An index below the circuit's number of inputs is an input. A greater index is the index of
 * a gate plus the number of inputs.
 */
a: number,
/** Index of the wire at the second input, numbered like `a`. */
b: number,
/** Length of the longest path from an input to this gate, in gates. */
layer: number, };

export type ValuesView = {
/** Number of updates that the population's member had made when its circuit was copied for this grid. */
updates: number, inputs: Uint8Array, gates: Uint8Array, };

export type Format = "svg" | "json" | "verilog" | "rust";

export type ExportView = {
/** Name of the file, for example `life.v`. */
name: string, text: string, };

export type BigView = { width: number, height: number, step: number,
/**
 * First channel of the grid, with one bit per cell, row by row. The lowest bit of a byte is the first of its eight cells. Each row
 * is padded to whole bytes.
 */
words: Uint8Array,
/** Number of cells computed per second in the latest call; a cell counts once per step. */
cells_per_s: number,
/** Number of gate evaluations per second in the latest call. */
gate_cells_per_s: number,
/** Number of gates of the reduced circuit. */
gates: number, };

export interface Answers {
  automaton: AutomatonView;
  population: PopulationView;
  gates: GatesView;
  grid: GridView;
  advance: GridView;
  damage: GridView;
  circuit: CircuitView;
  values: ValuesView;
  export: ExportView;
  big: BigView;
  big_advance: BigView;
}
