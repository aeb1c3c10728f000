// Fixed data of the samples: a room with its knobs, and runs with computed curves.

import { History } from "../parts/history";
import type { Column, Knob, KnobKind, Progress, RoomInfo, Row, Standing, Variant } from "../run/protocol";

const ROWS = 60;
const STEPS = 8000;
const BEST = 500;

const column = (name: string, label: string, own: Partial<Column> = {}): Column => ({
  ...{ name, label, unit: "", help: "", chart: "", log: false, share: false, brief: "", spread: [], rate: null },
  ...own,
});

const variant = (id: string, name: string): Variant => ({
  ...{ id, name, summary: "Balance a pole on a cart.", goal: { column: "mean", at: 475 }, sweep_budget: 100_000, about: null },
});

export const VARIANTS = [variant("pole", "CartPole"), variant("car", "MountainCar"), variant("swing", "Pendulum")];

export const ROOM: RoomInfo = {
  ...{ id: "samples", title: "Samples", variant_word: "environment", iteration_word: "iteration" },
  counters: [column("steps", "Steps")],
  metrics: [
    column("return", "Mean return", { chart: "return", brief: "training", help: "Mean return of the episodes that ended." }),
    column("lr", "Learning rate"),
  ],
  tests: [
    column("mean", "Test return", { chart: "return", brief: "test", spread: ["least", "most"] }),
    column("least", "Least return"),
    column("most", "Largest return"),
  ],
  ...{ parts: [], variants: VARIANTS, data: null, data_variant: null },
};

const knob = (name: string, label: string, kind: KnobKind, value: Knob["default"], own: Partial<Knob> = {}): Knob => ({
  ...{ name, label, kind, default: value, unit: "", help: "Its effect on training.", live: false },
  ...own,
});
const whole = (min: number, max: number): KnobKind => ({ kind: "int", min, max, log: true });
const number = (min: number, max: number, log = false): KnobKind => ({ kind: "float", min, max, log });

export const KNOBS = [
  knob("lr", "Learning rate", number(1e-5, 0.1, true), 0.01, { live: true }),
  knob("entropy", "Entropy bonus", number(0, 0.1), 0.01, { live: true }),
  knob("gamma", "Discount γ: patience", number(0.8, 1), 0.98, { live: true }),
  knob("clip", "Clip range", number(0.05, 0.5), 0.2, { live: true }),
  knob("replay", "Use replay", { kind: "bool" }, 1, { live: true }),
  knob("envs", "Environments", whole(1, 8192), 2048, { unit: "environments" }),
  knob("rollout", "Rollout length", whole(1, 1024), 32, { unit: "steps" }),
  knob("net", "Network", { kind: "choice", options: ["small", "large"].map((name) => ({ name, label: `${name} network` })) }, "small"),
  knob("start", "First words", { kind: "text", most: 40 }, "Once upon a time"),
];
export const SETTINGS = Object.fromEntries(KNOBS.map(({ name, default: value }) => [name, value]));

const progressAt = (iteration: number): Progress => ({ iteration, counts: [iteration * STEPS], train_s: iteration / 4 });
/** Returns a return that grows along a logistic curve with a fixed ripple. The middle of the curve is at the iteration `middle`. */
const returnAt = (iteration: number, middle: number): number => {
  const grown = 1 / (1 + Math.exp((middle - iteration) / 5));
  return BEST * grown + 40 * grown * (1 - grown) * Math.sin(1.7 * iteration);
};

/** Returns a run of `rows` iterations with a test after every tenth iteration. */
function run(seed: number, rows: number, middle: number): History {
  const iterations = Array.from({ length: rows }, (_, k) => k + 1);
  const history = iterations.map((at): Row => ({ progress: progressAt(at), values: [returnAt(at, middle), 0.01 * (1 - at / 90)] }));
  const tests = history
    .filter(({ progress }) => progress.iteration % 10 === 0)
    .map(({ progress, values: [mean = 0] }): Row => ({ progress, values: [mean, 0.9 * mean!, Math.min(BEST, 1.1 * mean!)] }));
  return new History(ROOM, {
    ...{ config: { version: 2, room: ROOM.id, variant: VARIANTS[0]!.id, seed, knobs: {} }, knobs: SETTINGS, history, tests },
    ...{ progress: progressAt(rows), solved: null, attempts: 0, marks: [], room: null },
  });
}

/** Standing of the current run. */
export const STANDING: Standing = {
  ...{ progress: progressAt(ROWS), state: "learning", since: null, words: "learning" },
  ...{ name: "average of 100 test episodes", value: 500, number: "500" },
};

/** Returns the current run, in which the learning rate is changed once. */
export function presentRun(): History {
  const present = run(101, ROWS, 22);
  present.mark({ progress: progressAt(34), knob: "lr", from: 0.01, to: 0.003 });
  return present;
}

export const pastRun = (): History => run(102, ROWS - 15, 34);
