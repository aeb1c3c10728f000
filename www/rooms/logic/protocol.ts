// Questions and answers of the logic room.
// Generated from crates/run/src/logic/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "automaton", } | { "ask": "population", } | { "ask": "gates", member: number, } | { "ask": "grid", width: number, height: number, start: Start, seed: number, member: number, soft: boolean, } | { "ask": "advance", steps: number, } | { "ask": "damage", x: number, y: number, radius: number, how: Damage, } | { "ask": "circuit", member: number, } | { "ask": "values", x: number, y: number, } | { "ask": "export", member: number, format: Format, } | { "ask": "big", width: number, height: number, seed: number, member: number, } | { "ask": "big_advance", ms: number, };

/** What a variant is, in [`crate::protocol::Variant::about`]. */
export type Experiment = { width: number, height: number, channels: number, steps: number, periodic: boolean, asynchronous: boolean, shows: Shows,
/** It learns one step of a rule and no pattern. */
rule: boolean,
/** What it is tested by, in words. */
tests: Array<string>,
/** Its target is the user's: knob `target`. */
own: boolean, };

/** What of a cell is looked at. */
export type Shows = "channel" | "rgb";

export type Picture = { width: number, height: number,
/** A byte a cell, row by row: 0 or 1; where colours are shown 1 for red, 2 for green and 4 for blue together. */
values: Uint8Array, };

export type AutomatonView = { channels: number, kernels: number,
/** Gates of each layer of one kernel, and of the update. */
perception: Array<number>, update: Array<number>,
/** Gates that are learned, and that are evaluated for a cell and a step. */
gates: number, gates_per_cell: number, parameters: number,
/** Gates of each layer in the order of [`GatesView`]: of the perception the gates of all kernels. */
layers: Array<number>,
/** What is learned now, by the knobs in force; a rule has none. A grid of its size becomes it in so many steps. */
target: Picture | null, steps: number,
/** Of the cells of the target. */
shows: Shows, };

export type PopulationView = { members: Array<MemberView>,
/** Runs that ended perfect so far, and that ended at all: perfect or dead. */
perfect: number, ended: number,
/** The member with the lowest hard loss. */
best: number, };

export type MemberView = { seed: number, updates: number,
/** Squared error a cell of the soft automaton, as a mean over the newest iteration; nothing before the first. */
loss: number | null,
/** The same of the hardened one on its newest test: the share of cells and colours that differ. */
hard_loss: number, state: MemberState,
/**
 * How its hardened automaton left the first grid of that test. Where it learns a rule: what it gives for each of the 512
 * neighbourhoods, in the order of their numbers.
 */
picture: Picture, };

export type MemberState = "learning" | "perfect";

export type GatesView = {
/** The operation that each gate hardens to. */
ops: Uint8Array,
/** How much of each gate it is, 0 to 1: floats. */
certainty: Uint8Array, };

export type Start = "learned" | "random" | "blank" | "target";

export type Damage = "blank" | "noise" | "flip";

export type GridView = { width: number, height: number, step: number,
/** Of the member that it was taken from. */
updates: number,
/** As in [`Picture`]; of a soft grid rounded. */
values: Uint8Array,
/** Of a soft grid the channels that are shown, `[channel][cell]`: floats. */
soft: Uint8Array,
/**
 * Share of cells that differ from the target, where there is one of this size. Where a rule is learned, of those of the last
 * step that the rule gives another value.
 */
wrong: number | null, };

export type CircuitView = {
/** Of the member that it was taken from. */
updates: number,
/** Those in use, in words: `north-west channel 3`. */
inputs: Array<string>, gates: Array<GateView>,
/** Wires, one a channel of the cell's next state. A constant is a gate of operation 0 or 15. */
outputs: Array<number>,
/** Gates of the automaton that are evaluated for a cell; those that pass an input through, and that nothing depends on. */
evaluated: number, pass_through: number, dead: number,
/** Gates on the longest way. */
depth: number,
/** Neighbourhoods or cells that circuit and automaton were compared on. */
verified: number, equal: boolean,
/** The member is perfect. */
perfect: boolean, };

export type GateView = { op: number,
/** Wires: an input below the number of inputs, else a gate plus that number. */
a: number, b: number,
/** Longest way from an input. */
layer: number, };

export type ValuesView = {
/** Of the circuit's member: as in [`CircuitView::updates`]. */
updates: number, inputs: Uint8Array, gates: Uint8Array, };

export type Format = "svg" | "json" | "verilog" | "rust";

export type ExportView = {
/** `life.v` */
name: string, text: string, };

export type BigView = { width: number, height: number, step: number,
/** The first channel, a bit a cell, the lowest first; rows are padded to whole bytes. */
words: Uint8Array,
/** In the newest call. */
cells_per_s: number, gate_cells_per_s: number,
/** Of the pruned circuit. */
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
