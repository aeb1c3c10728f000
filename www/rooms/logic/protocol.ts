// Questions and answers of the logic room.
// Generated from crates/run/src/logic/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "automaton", } | { "ask": "population", } | { "ask": "gates", member: number, } | { "ask": "grid", width: number, height: number, start: Start, seed: number, member: number, soft: boolean, } | { "ask": "advance", steps: number, } | { "ask": "damage", x: number, y: number, radius: number, how: Damage, } | { "ask": "circuit", member: number, } | { "ask": "values", x: number, y: number, } | { "ask": "export", member: number, format: Format, } | { "ask": "big", width: number, height: number, seed: number, member: number, } | { "ask": "big_advance", ms: number, };

/** Description of a variant, in [`crate::protocol::Variant::about`]. */
export type Experiment = { width: number, height: number, channels: number, steps: number, periodic: boolean, asynchronous: boolean, shows: Shows,
/** The experiment learns one step of a rule instead of a pattern. */
rule: boolean,
/** Descriptions of the tests. */
tests: Array<string>,
/** The user provides the target, with the knob `target`. */
own: boolean, };

/** Channels of a cell that are displayed. */
export type Shows = "channel" | "rgb";

export type Picture = { width: number, height: number,
/** One byte per cell, row by row: 0 or 1; with colours the sum of 1 for red, 2 for green and 4 for blue. */
values: Uint8Array, };

export type AutomatonView = { channels: number, kernels: number,
/** Gates per layer of one kernel. */
perception: Array<number>,
/** Gates per layer of the update. */
update: Array<number>,
/** Number of learned gates. */
gates: number,
/** Number of gates evaluated per cell and step. */
gates_per_cell: number, parameters: number,
/** Gates per layer in the order of [`GatesView`]; a perception layer counts the gates of all kernels. */
layers: Array<number>,
/**
 * The target according to the present knobs; null for a rule. A grid of the target's size should become the target in `steps`
 * steps.
 */
target: Picture | null, steps: number,
/** Displayed channels of the target. */
shows: Shows, };

export type PopulationView = { members: Array<MemberView>,
/** Number of members that became perfect. */
perfect: number,
/** Number of members that became perfect or were restarted. */
ended: number,
/** Index of the best member: a confirmed member, else a perfect member without a test, else the member with the lowest hard loss. */
best: number, };

export type MemberView = { seed: number, updates: number,
/** Squared error per cell of the soft automaton, mean over the newest iteration; null before the first iteration. */
loss: number | null,
/** Error of the hardened automaton in its newest test: share of cells and colours that differ. */
hard_loss: number, state: MemberState,
/**
 * Output of the hardened automaton on the first grid of its newest test. For a rule: its output for each of the 512
 * neighbourhoods, by number.
 */
picture: Picture, };

export type MemberState = "learning" | "perfect";

export type GatesView = {
/** Operation to which each gate hardens. */
ops: Uint8Array,
/** Certainty of each gate's operation, from 0 to 1, as floats. */
certainty: Uint8Array, };

export type Start = "learned" | "random" | "blank" | "target";

export type Damage = "blank" | "noise" | "flip";

export type GridView = { width: number, height: number, step: number,
/** Number of updates of the member when its automaton was taken. */
updates: number,
/** Values as in [`Picture::values`]; the values of a soft grid are rounded. */
values: Uint8Array,
/** Displayed channels of a soft grid, `[channel][cell]`, as floats; empty for a hardened grid. */
soft: Uint8Array,
/**
 * Share of cells that differ from the target; null if the experiment has no target of this size. For a rule: share of cells that
 * the last step computed wrong.
 */
wrong: number | null, };

export type CircuitView = {
/** Number of updates of the member when the circuit was taken. */
updates: number,
/** Inputs in use, in words: `north-west channel 3`. */
inputs: Array<string>, gates: Array<GateView>,
/** Wires, one per channel of the cell's next state. A constant is a gate with operation 0 or 15. */
outputs: Array<number>,
/** Number of gates evaluated per cell, before pruning. */
evaluated: number,
/** Number of gates that pass an input through. */
pass_through: number,
/** Number of gates without effect on an output. */
dead: number,
/** Number of gates on the longest path. */
depth: number,
/** Number of neighbourhoods or cells on which circuit and automaton were compared. */
verified: number,
/** Circuit and automaton agreed wherever they were compared. */
equal: boolean,
/** The member was perfect when the circuit was taken. */
perfect: boolean, };

export type GateView = { op: number,
/** First input wire: an index below the number of inputs is an input; other indices are gates, offset by the number of inputs. */
a: number,
/** Second input wire, numbered like `a`. */
b: number,
/** Length of the longest path from an input. */
layer: number, };

export type ValuesView = {
/** Number of updates of the member when the circuit was taken. */
updates: number, inputs: Uint8Array, gates: Uint8Array, };

export type Format = "svg" | "json" | "verilog" | "rust";

export type ExportView = {
/** Name of the file, for example `life.v`. */
name: string, text: string, };

export type BigView = { width: number, height: number, step: number,
/** The first channel, one bit per cell, lowest bit first; rows are padded to whole bytes. */
words: Uint8Array,
/** Cells computed per second in the newest call. */
cells_per_s: number,
/** Gate evaluations per second in the newest call. */
gate_cells_per_s: number,
/** Number of gates of the pruned circuit. */
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
