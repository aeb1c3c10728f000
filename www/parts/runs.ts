// List of runs to compare: the current run, and curves of runs that are stored from this and earlier visits. Selected runs are drawn beside
// the current run. The visitor can rename and remove each run, and start a new run with its settings.

import { bytesOf, dropRecord, loadRecords, putRecord, type RunRecord } from "../run/records";
import { textOf } from "../run/notice";
import type { Config, Progress, RoomInfo, Row, Value, Variant } from "../run/protocol";
import type { ChartPicture } from "./chart-picture";
import { columnText, type Compared, type RunData } from "./charting";
import { spread } from "./curve-tables";
import { button, h, id, labelled, select, write } from "./dom";
import type { CurveFormat } from "./export";
import { exactText, plural, seconds, short } from "./format";
import { startOf, valuesOf, type History } from "./history";
import { pageLife, untilClosed } from "./life";
import { LOOKS, PAST, PRESENT, swatch, type Look } from "./looks";
import type { Command } from "./commands";
import { atOnce, effect, state, untracked } from "./signal";
import { reveal } from "./tabs";
import "./runs.css";

const MOST_RUNS = 40;
const MOST_BYTES = 6e6;
const MOST_ROWS = 300;
/** Minimum number of rows of a stored run. */
const LEAST_ROWS = 3;
const WRITE_EVERY_MS = 1000;
const KEEP_EVERY_MS = 4000;
/**
 * Maximum training time, in seconds, by which a stored run may be ahead of a run that continues it. A stored run can be ahead, because the
 * page stores its curves more often than its checkpoint.
 */
const SAME_S = 15;
const NAMED = 3;
const CHANGES = 3;
const SEEDS = 1_000_000;
const FORMATS: [CurveFormat, words: string][] = [
  ["csv", "CSV"],
  ["json", "JSON"],
  ["png", "PNG"],
  ["svg", "SVG"],
];

export interface RunActions {
  /** Starts a new run with the settings of a stored run. */
  begin(config: Config): void;
  /** Returns the past run if its grey curve is shown. */
  past(): History | undefined;
  hidePast(): void;
  say(words: string): void;
  /** Reports that the curves could not be exported. */
  failed(error: unknown): void;
  /** Returns the chart beside the list. */
  picture(): ChartPicture;
}

/** The current run. `kept` is the revision of its history that was last stored. */
type Present = Pick<RunRecord, "id" | "name" | "beganMs" | "defaults" | "labels"> & { history: History; variant: Variant; kept: number };
type Entry = { record: RunRecord; element: HTMLElement; name: HTMLTextAreaElement; show(): void; tick: HTMLInputElement };
type Curve = Compared & { config: Config; settings: Record<string, Value> };

/** The runs of this visit, by history. The map outlives a room's page, because a past run may have begun on an earlier page of the room. */
const presents = new WeakMap<History, Present>();

export class Runs {
  readonly element: HTMLElement;
  private readonly entries = new Map<string, Entry>();
  /** Selected runs: maps a run's id to an index into `LOOKS`. */
  private readonly ticked = new Map<string, number>();
  private readonly list = h("ul.run-list", { "aria-label": "Runs" });
  private readonly from = h("select", { id: id("differences") });
  /** Field that selects a run for the comparison of settings. It is hidden while the list contains only one run. */
  private readonly fromField = labelled("Differences from", this.from);
  private readonly kept = h("p.small");
  private readonly format = select("curve-format", FORMATS);
  private readonly removed = h("p.row.removed", { role: "status" });
  private present: Present | undefined;
  /** Number that increases with each change of the selection or of a name. */
  private readonly chosen = state(0);
  private keptMs = 0;
  private refused = "";
  private readonly data = new WeakMap<RunRecord, RunData>();
  private writing: Promise<unknown>;

  constructor(
    private readonly room: RoomInfo,
    private readonly actions: RunActions,
  ) {
    this.from.addEventListener("change", () => this.writeAll());
    this.element = h("div.runs", [
      this.fromField,
      this.removed,
      this.list,
      this.kept,
      h("div.row.foot", [
        labelled("Export as", this.format),
        button("Export", () => this.export(), { "aria-label": "Export the shown curves" }),
      ]),
    ]);
    this.writeKept();
    this.writing = loadRecords(room.id).then(
      (records) => {
        for (const record of records) if (!this.entries.has(record.id)) this.add(record);
        this.adoptStored();
        this.bound();
        this.arrange();
      },
      (error) => this.refuse(error),
    );
    const timer = setInterval(() => this.refresh(), WRITE_EVERY_MS);
    untilClosed(() => (clearInterval(timer), this.keep()));
    const past = (): void => {
      actions.past();
      untracked(() => this.writeAll());
    };
    untilClosed(effect(past, atOnce));
    document.addEventListener("visibilitychange", () => this.keep(), { signal: pageLife() });
    addEventListener("pagehide", () => this.keep(), { signal: pageLife() });
  }

  /** Sets the current run and stores the previous run. */
  begin(history: History, variant: Variant, knobs: { name: string; label: string; default: Value }[]): void {
    this.keep();
    this.present = {
      id: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`,
      history,
      beganMs: Date.now(),
      name: "",
      variant,
      defaults: Object.fromEntries(knobs.map((knob) => [knob.name, knob.default])),
      labels: Object.fromEntries(knobs.map((knob) => [knob.name, knob.label])),
      kept: 0,
    };
    presents.set(history, this.present);
    this.adoptStored();
    this.refresh();
    this.writeAll();
  }

  /** Returns the curves of the selected runs, in the order of their letters. */
  compared(): Curve[] {
    if (this.chosen.value === 0) return [];
    return [...this.ticked].sort((a, b) => a[1] - b[1]).flatMap(([ticked, place]) => this.curve(ticked, LOOKS[place]!));
  }

  /** Returns a list with the curve of a listed run. The list is empty for the current run. */
  private curve(of: string, look: Look): Curve[] {
    const record = this.entries.get(of)?.record;
    if (!record || of === this.present?.id) return [];
    if (!this.data.has(record)) this.data.set(record, dataOf(record, this.room));
    return [{ ...look, name: this.nameOf(record), run: this.data.get(record)!, config: record.config, settings: setOf(record) }];
  }

  /** Returns commands that go to each run of the list. */
  commands(): Command[] {
    return [...this.entries.values()].map(({ name, tick }) => ({
      kind: "Runs",
      name: name.value,
      run: () => {
        reveal(name);
        (tick.hidden ? name : tick).focus();
      },
    }));
  }

  // ---- storage

  /** If the current run continues a stored run, takes the id, name and start of the stored run. */
  private adoptStored(): void {
    const { present } = this;
    if (!present || present.history.length === 0) return;
    for (const { record } of this.entries.values()) {
      if (!continues(present.history, record)) continue;
      Object.assign(present, { id: record.id, beganMs: record.beganMs, name: record.name });
      this.untick(record.id);
      return;
    }
  }

  private keep(): void {
    const { present } = this;
    if (!present || present.history.length < LEAST_ROWS) return;
    const { value: revision } = present.history.revision;
    if (revision === present.kept) return;
    present.kept = revision;
    this.keptMs = performance.now();
    const record = recordOf(present);
    const entry = this.entries.get(record.id);
    if (entry) entry.record = record;
    else {
      this.add(record);
      this.bound();
    }
    this.sort();
    this.store(record);
  }

  private store(record: RunRecord): void {
    this.write(() => putRecord(this.room.id, record));
  }

  private write(work: () => Promise<unknown>): void {
    if (this.refused) return;
    this.writing = this.writing.then(() => (this.refused ? undefined : work())).catch((error) => this.refuse(error));
  }

  private refuse(error: unknown): void {
    this.refused = textOf(error);
    this.writeKept();
  }

  private writeKept(): void {
    write(
      this.kept,
      this.refused
        ? `This browser could not store runs (${this.refused}). They stay until the page is closed; save the curves that you want to keep.`
        : `This browser keeps the curves of the latest ${MOST_RUNS} runs of this room, without weights.`,
    );
    this.kept.classList.toggle("error", this.refused !== "");
  }

  /** Drops the oldest runs until the list is within its limits. Keeps the current run and the selected runs. */
  private bound(): void {
    const old = [...this.entries.values()].map(({ record }) => record).sort((a, b) => a.beganMs - b.beganMs);
    let bytes = old.reduce((sum, record) => sum + bytesOf(record), 0);
    for (const record of old) {
      if (this.entries.size <= MOST_RUNS && bytes <= MOST_BYTES) return;
      if (record.id === this.present?.id || this.ticked.has(record.id)) continue;
      bytes -= bytesOf(record);
      this.drop(record);
    }
  }

  private drop(record: RunRecord): void {
    this.entries.get(record.id)?.element.remove();
    this.entries.delete(record.id);
    this.write(() => dropRecord(this.room.id, record.id));
  }

  // ---- the list

  private add(record: RunRecord): void {
    const isPresent = (): boolean => this.present?.id === record.id;
    const mark = h("span.run-mark");
    const tick = h("input", { type: "checkbox" });
    tick.addEventListener("change", () => this.tick(record.id, tick.checked));
    // A name is one line of text, but wraps if there is too little space for it.
    const name = h("textarea", { "aria-label": "Name of the run", maxlength: 80, rows: 1, spellcheck: "false" });
    const named = h("span.run-name", name);
    const fit = (): void => void (named.dataset.name = name.value);
    name.addEventListener("input", fit);
    name.addEventListener("change", () => this.rename(record.id, name.value.replace(/\s+/g, " ").trim()));
    name.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), name.blur()));
    const settings = h("p.small.run-settings");
    const figures = h("p.run-figures");
    // The current run starts again with another seed, any other run with its own seed.
    const beginAgain = (): void => {
      const now = this.entries.get(record.id)!.record;
      const seed = isPresent() ? Math.floor(Math.random() * SEEDS) : now.config.seed;
      this.actions.begin({ ...now.config, seed, knobs: setOf(now) });
    };
    const begin = button("", beginAgain, { class: "small" });
    const remove = button("Remove", () => this.remove(record.id), { class: "small" });
    const element = h("li", h("span.run-tick", tick, mark), named, figures, settings, h("span.row", begin, remove));
    const show = (): void => {
      const entry = this.entries.get(record.id)!;
      const called = this.nameOf(entry.record);
      if (document.activeElement !== name) name.value = called;
      fit();
      tick.setAttribute("aria-label", `Compare with ${called}`);
      const again = isPresent() ? "Another seed" : "Run again";
      write(begin, again);
      begin.setAttribute("aria-label", `${again}: ${called}`);
      remove.setAttribute("aria-label", `Remove ${called}`);
      const look = this.lookOf(record.id);
      tick.checked = look !== undefined;
      tick.hidden = isPresent();
      tick.disabled = !look && this.ticked.size >= LOOKS.length;
      remove.hidden = isPresent();
      mark.replaceChildren(...(look ? [swatch(look), isPresent() ? "now" : look === PAST ? "past" : h("b", look.letter)] : []));
      write(settings, this.differences(entry.record));
      write(figures, isPresent() ? this.figures(this.present!.history) : `${this.figures(entry.record)} · ${beganAt(entry.record)}`);
      element.classList.toggle("is-present", isPresent());
    };
    this.entries.set(record.id, { record, element, name, show, tick });
    this.list.append(element);
  }

  /** Sorts the list: the current run first, then from the latest to the oldest. */
  private sort(): void {
    const order = [...this.entries.values()].sort(
      (a, b) => Number(b.record.id === this.present?.id) - Number(a.record.id === this.present?.id) || b.record.beganMs - a.record.beganMs,
    );
    // Elements in their right place are not moved, because a move would remove the focus.
    order.forEach(({ element }, k) => this.list.children[k] !== element && this.list.insertBefore(element, this.list.children[k] ?? null));
    const options = [
      ["", "the defaults"],
      ["present", "the current run"],
      ...order.filter(({ record }) => record.id !== this.present?.id).map(({ record }) => [record.id, this.nameOf(record)]),
    ] as [string, string][];
    this.fromField.hidden = order.length < 2;
    const chosen = this.from.value;
    if (options.map(String).join() !== [...this.from.options].map(({ value, text }) => String([value, text])).join())
      this.from.replaceChildren(...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  }

  private refresh(): void {
    const isNew = !this.entries.has(this.present?.id ?? "");
    if (isNew || performance.now() - this.keptMs > KEEP_EVERY_MS) this.keep();
    if (isNew) this.writeAll();
    else this.entries.get(this.present?.id ?? "")?.show();
  }

  private arrange(): void {
    this.sort();
    this.writeAll();
  }

  private writeAll(): void {
    for (const { show } of this.entries.values()) show();
  }

  /** Returns the name that the visitor gave a run; otherwise a name from the variant and the changed settings. */
  private nameOf(of: RunRecord): string {
    if (of.name) return of.name;
    const own = automatic(of);
    // Runs with equal automatic names are numbered.
    const before = [...this.entries.values()].filter(
      ({ record }) => record.id !== of.id && !record.name && record.beganMs < of.beganMs && automatic(record) === own,
    ).length;
    return before ? `${own}, run ${before + 1}` : own;
  }

  private differences(record: RunRecord): string {
    const chosen = this.from.value === "present" ? this.present?.id : this.from.value;
    const other = chosen ? this.entries.get(chosen)?.record : undefined;
    if (chosen && record.id === chosen) return "The run to compare with.";
    const start = startOf(record.settings, record.marks);
    const against = other ? startOf(other.settings, other.marks) : record.defaults;
    const label = (knob: string): string => record.labels[knob] ?? other?.labels[knob] ?? knob;
    const parts = [
      ...(other && other.variant !== record.variant ? [record.variant] : []),
      ...Object.entries(start).flatMap(([knob, value]) =>
        against[knob] === value
          ? []
          : [`${label(knob)} ${exactText(value)}${against[knob] === undefined ? "" : ` (${exactText(against[knob])})`}`],
      ),
      ...(record.config.seed !== (other?.config.seed ?? 1) ? [`seed ${record.config.seed}`] : []),
      ...(record.config.data ? [record.config.data.name] : []),
    ];
    const began = parts.length ? parts.join("; ") : other ? "The same settings." : "All settings are the defaults.";
    const changes = this.changes(record);
    return changes.length ? `${began.replace(/\.$/, "")}; then ${changes.join(", ")}` : began;
  }

  private changes({ marks, labels }: RunRecord): string[] {
    const unit = this.unit;
    const last = marks
      .slice(-CHANGES)
      .map(({ knob, to, progress }) => `${labels[knob] ?? knob} ${exactText(to)} after ${short(progress.counts[0] ?? 0)} ${unit}`);
    const more = marks.length - last.length;
    return more > 0 ? [more === 1 ? "1 more change" : `${more} more changes`, ...last] : last;
  }

  /** Unit of the first counter, in words. */
  private get unit(): string {
    return plural(this.room.counters[0]!);
  }

  private figures({ progress, solved, tests }: { progress: Progress; solved: Progress | null | undefined; tests: Row[] }): string {
    const { unit } = this;
    const column = this.room.tests[0];
    const value = tests.at(-1)?.values[0];
    return [
      `${short(progress.counts[0] ?? 0)} ${unit}`,
      seconds(progress.train_s),
      ...(column && value != null ? [`${column.label.toLowerCase()} ${columnText(column, value)}`] : []),
      ...(solved ? [`solved after ${short(solved.counts[0] ?? 0)} ${unit}`] : []),
    ].join(" · ");
  }

  // ---- actions of the visitor

  /** Returns the style of a run's curve; undefined if the curve is not drawn. */
  private lookOf(id: string): Look | undefined {
    if (id === this.present?.id) return PRESENT;
    const place = this.ticked.get(id);
    return place !== undefined ? LOOKS[place] : id === this.past ? PAST : undefined;
  }

  /** Id of the past run if its grey curve is shown. */
  private get past(): string | undefined {
    const past = this.actions.past();
    return past && presents.get(past)?.id;
  }

  private tick(id: string, on: boolean): void {
    if (on) {
      const taken = new Set(this.ticked.values());
      const place = LOOKS.findIndex((_, k) => !taken.has(k));
      if (place >= 0) this.ticked.set(id, place);
    } else {
      this.ticked.delete(id);
      if (id === this.past) this.actions.hidePast();
    }
    this.writeAll();
    this.chosen.value++;
  }

  private untick(id: string): void {
    if (this.ticked.delete(id)) this.chosen.value++;
  }

  private rename(id: string, name: string): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    const automatic = this.nameOf({ ...entry.record, name: "" });
    const called = name === automatic ? "" : name;
    if (called === entry.record.name) return void (entry.name.value = this.nameOf(entry.record));
    entry.record = { ...entry.record, name: called };
    if (this.present?.id === id) this.present.name = called;
    entry.name.value = this.nameOf(entry.record);
    this.store(entry.record);
    this.arrange();
    this.chosen.value++;
  }

  private remove(id: string): void {
    const record = this.entries.get(id)?.record;
    if (!record) return;
    const drawn = this.lookOf(id) !== undefined;
    const name = this.nameOf(record);
    this.tick(id, false);
    this.drop(record);
    const undo = button("Undo", () => this.restore(record, drawn), { class: "small" });
    this.removed.replaceChildren(h("span", `Removed: ${name}.`), undo);
    undo.focus();
    this.arrange();
  }

  private restore(record: RunRecord, drawn: boolean): void {
    this.add(record);
    this.store(record);
    this.removed.replaceChildren();
    this.arrange();
    if (drawn) this.tick(record.id, true);
    this.entries.get(record.id)?.tick.focus();
  }

  // ---- files

  /** Returns the runs to export, the current run first. */
  private shown({ history, ...present }: Present): Pick<Curve, "name" | "config" | "settings" | "run">[] {
    const record = recordOf({ history, ...present });
    const { past } = this;
    const grey = past && !this.ticked.has(past) ? this.curve(past, PAST) : [];
    const current = { name: this.nameOf(record), config: history.config, settings: setOf(record), run: history };
    return [current, ...grey, ...this.compared()];
  }

  private async export(): Promise<void> {
    const { present, actions } = this;
    if (!present) return;
    try {
      const { exportCurves } = await import("./export");
      await exportCurves(this.format.value as CurveFormat, this.room, this.shown(present), actions.picture());
      actions.say("Curves exported.");
    } catch (error) {
      actions.failed(error);
    }
  }
}

/** Returns the initial settings of a run that differ from the defaults. */
const setOf = ({ settings, defaults, marks }: RunRecord): Record<string, Value> =>
  Object.fromEntries(Object.entries(startOf(settings, marks)).filter(([knob, value]) => defaults[knob] !== value));

/** Returns the automatic name of a run: its variant, changed settings, and the seed unless the seed is 1. */
function automatic({ variant, config, settings, defaults, labels, marks }: RunRecord): string {
  const named = Object.entries(startOf(settings, marks)).filter(
    ([knob, value]) => defaults[knob] !== value || marks.some((mark) => mark.knob === knob),
  );
  const set = named.map(([knob, value]) => `${labels[knob] ?? knob} ${valuesOf(knob, value, marks, exactText)}`);
  const more = set.length - NAMED;
  return [
    variant,
    ...set.slice(0, NAMED),
    ...(more > 0 ? [`${more} more`] : []),
    ...(config.seed === 1 ? [] : [`seed ${config.seed}`]),
  ].join(", ");
}

function recordOf({ id, history, beganMs, name, variant, defaults, labels }: Present): RunRecord {
  const rows = spread(history.length, MOST_ROWS);
  const pick = (values: readonly (number | null)[]): Float64Array => Float64Array.from(rows, (row) => values[row] ?? NaN);
  const tests = spread(history.tests.length, MOST_ROWS).map((row) => history.tests[row]!);
  const { data, ...config } = history.config;
  return {
    id,
    name,
    variant: variant.name,
    beganMs,
    config: data ? { ...config, data: { name: data.name, bytes: data.bytes, hash: data.hash } } : config,
    settings: history.settings,
    defaults,
    labels,
    marks: [...history.marks],
    progress: history.progress,
    solved: history.solved ?? null,
    iterations: pick(history.iterations),
    counts: pick(history.counts),
    train_s: pick(history.train_s),
    // Omits the time shares, because runs are not compared by them.
    columns: Object.fromEntries(history.room.metrics.map(({ name }) => [name, pick(history.columns[name] ?? [])])),
    tests,
  };
}

function dataOf(record: RunRecord, room: RoomInfo): RunData {
  const plain = (values: Float64Array): (number | null)[] => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
  return {
    counts: Array.from(record.counts),
    train_s: Array.from(record.train_s),
    iterations: Array.from(record.iterations),
    columns: Object.fromEntries(Object.entries(record.columns).map(([name, values]) => [name, plain(values)])),
    tests: record.tests,
    marks: record.marks,
    notes: [],
    progress: record.progress,
    solved: record.solved ?? undefined,
    lost: undefined,
    test: (name, row = record.tests.at(-1)) => row?.values[room.tests.findIndex((column) => column.name === name)] ?? undefined,
  };
}

/**
 * Returns true if a run continues a stored run. In this case, both have the same training time at their latest common iteration. Other runs
 * have different times.
 */
function continues(history: History, record: RunRecord): boolean {
  const { config } = history;
  if (config.variant !== record.config.variant || config.seed !== record.config.seed) return false;
  if (record.progress.train_s - history.progress.train_s > SAME_S || record.marks.length > history.marks.length) return false;
  const times = new Map(history.iterations.map((iteration, row) => [iteration, history.train_s[row]!]));
  for (let row = record.iterations.length - 1; row >= 0; row--) {
    const time = times.get(record.iterations[row]!);
    if (time !== undefined) return time === record.train_s[row];
  }
  return false;
}

/** Returns the time at which a run began, for example `26 Nov, 18:05`. */
const beganAt = ({ beganMs }: RunRecord): string =>
  new Date(beganMs).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
