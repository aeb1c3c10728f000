// Controls for a run's settings, built from the declarations of the knobs. A live knob changes the run when the control is released. Any
// other knob applies to the next run and is marked as pending. A few important knobs are placed beside the curve.

import type { Knob, KnobKind, Value } from "../run/protocol";
import { button, h, id, write } from "./dom";
import { exact, exactText } from "./format";
import type { Command } from "./commands";
import { reveal } from "./tabs";

const SLIDER_STEPS = 200;
const SETTLE_MS = 350;
const FIRST = 3;

type Parts = { knob: Knob; set: (value: Value) => void; row: HTMLElement; waiting: HTMLElement; now?: HTMLElement };
/** Kind of a numeric knob, which has a minimum and a maximum. */
type Range = Extract<KnobKind, { min: number }>;

/** Returns the conversions between a value and its position on the slider, from 0 to 1. */
function scale({ min, max, log }: Range): { place: (value: number) => number; value: (place: number) => number } {
  // A logarithmic slider requires a positive minimum.
  if (log && min > 0) {
    const ratio = Math.log(max / min);
    return { place: (v) => Math.log(v / min) / ratio, value: (p) => min * Math.exp(p * ratio) };
  }
  return { place: (v) => (v - min) / (max - min), value: (p) => min + p * (max - min) };
}

/** Rounds a slider's value to the precision of the slider's steps. */
function rounded({ kind, min, max, log }: Range, value: number): number {
  const step = (log && min > 0 ? value : max - min) / SLIDER_STEPS;
  const digits = kind === "int" ? 0 : Math.min(12, Math.max(0, Math.ceil(-Math.log10(step))));
  return Math.min(max, Math.max(min, Number(value.toFixed(digits))));
}

/** Returns the error message for a number that a knob does not accept; empty for a valid number. */
function wrong({ kind, min, max }: Range, value: number): string {
  const whole = kind === "int";
  const fits = Number.isFinite(value) && value >= min && value <= max && (!whole || Number.isInteger(value));
  return fits ? "" : `Enter a ${whole ? "whole " : ""}number from ${exact(min)} to ${exact(max)}.`;
}

/** Chooses at most `FIRST` knobs to show beside the curve. The existing knobs of `wanted` are first, and the other live knobs follow. */
function foremost(knobs: Knob[], wanted: string[]): Knob[] {
  const named = wanted.flatMap((name) => knobs.find((knob) => knob.name === name) ?? []);
  return [...new Set([...named, ...knobs.filter(({ live }) => live)])].slice(0, FIRST);
}

export type Wanted = { knobs: Record<string, Value>; seed: number };

export interface KnobActions {
  change(name: string, value: Value): void;
  /** Starts a new run with the pending changes. */
  reset(): void;
}

/** Elements of a knob's control. `set` shows a value in these elements. */
type Field = {
  input: HTMLElement;
  set: (value: Value) => void;
  error?: HTMLElement;
  beside?: HTMLElement;
  slider?: HTMLElement;
  now?: HTMLElement;
};

/** Creates the error message of an input. `judge` hides the message if `good` is true; otherwise it shows `words` as the message. */
function judged(input: HTMLElement): { error: HTMLElement; judge: (good: boolean, words?: string) => boolean } {
  const error = h("p.error", { id: id("error"), role: "alert" });
  const judge = (good: boolean, words = ""): boolean => {
    input.setAttribute("aria-invalid", String(!good));
    error.textContent = good ? "" : words;
    return good;
  };
  return { error, judge };
}

const group = (heading: HTMLElement, words: string, rows: HTMLElement[], ...below: HTMLElement[]): HTMLElement =>
  h("section.knob-group", { "aria-labelledby": heading.id }, heading, h("p.small", words), h("div.knob-grid", rows), below);

export class Knobs {
  /** Element with the most important knobs, which is placed beside the curve. */
  readonly first = h("div");
  /** Button that leads to the other knobs. It is hidden in the tab that contains these knobs. */
  readonly others = button("All knobs", () => this.goToOthers(), { class: "quiet small all-knobs" });
  /** Element with the live knobs that are not in `first`. They apply during training. */
  readonly live = h("div");
  /** Element with the seed and the other knobs, which apply to a new run. */
  readonly fixed = h("div");
  /** True if the variant has live knobs besides the first ones. */
  hasLive = false;
  private readonly parts = new Map<string, Parts>();
  /** Knobs that have rows. */
  private suited: Knob[] | undefined;
  private inForce: Record<string, Value> = {};
  /** Values of changed knobs that apply to the next run. */
  private readonly pending = new Map<string, Value>();
  private readonly seed = h("input", { type: "number", min: 0, max: 4294967295, step: 1, id: id("seed"), inputmode: "numeric" });
  private seedInForce = 0;
  private readonly fixedHeading = h("h3", { id: "knobs-fixed", tabindex: -1 }, "Apply to a new run");
  private readonly banner = h("div.pending.wrap", { role: "status" });

  constructor(
    private readonly actions: KnobActions,
    /** Unit of training after which a live change takes effect. */
    private readonly unit = "iteration",
    private readonly foremost: string[] = [],
  ) {
    this.seed.addEventListener("input", () => this.writeBanner());
  }

  suit(knobs: Knob[]): void {
    if (knobs === this.suited) return;
    this.suited = knobs;
    this.parts.clear();
    const first = foremost(knobs, this.foremost);
    const live = knobs.filter((knob) => knob.live && !first.includes(knob));
    const fixed = knobs.filter((knob) => !knob.live && !first.includes(knob));
    this.first.replaceChildren(
      h("div.first-knobs", { role: "group", "aria-label": "Main knobs" }, ...first.map((knob) => this.row(knob, true))),
    );
    this.live.replaceChildren(
      group(
        h("h3", { id: "knobs-live", tabindex: -1 }, "Apply during training"),
        `These take effect with the next ${this.unit}, like the knobs under the curve. Each change marks the curves.`,
        live.map((knob) => this.row(knob)),
      ),
    );
    this.fixed.replaceChildren(
      group(
        this.fixedHeading,
        "These start a new run. The current run stays as a grey curve.",
        [...fixed.map((knob) => this.row(knob)), this.seedRow()],
        this.banner,
      ),
    );
    this.hasLive = live.length > 0;
  }

  private goToOthers(): void {
    const heading = (this.hasLive ? this.live : this.fixed).querySelector("h3")!;
    reveal(heading);
    heading.focus();
  }

  begin(values: Record<string, Value>, seed: number): void {
    this.inForce = { ...values };
    this.pending.clear();
    this.seedInForce = seed;
    this.seed.value = String(seed);
    for (const [name, parts] of this.parts) {
      parts.set(values[name] ?? parts.knob.default);
      parts.row.classList.remove("waits");
      write(parts.waiting, "");
    }
    this.writeBanner();
  }

  /** Shows a live change that the run has applied. */
  applied(name: string, value: Value): void {
    this.inForce[name] = value;
    this.parts.get(name)?.set(value);
  }

  /** Shows the current value of a knob that the run changes by a schedule. */
  showNow(name: string, text: string): void {
    const now = this.parts.get(name)?.now;
    if (now) write(now, text);
  }

  /**
   * Returns the seed of the next run and its settings that differ from the defaults: pending changes, and the current values of all other
   * knobs.
   */
  wanted(): Wanted {
    const knobs: Record<string, Value> = {};
    for (const [name, { knob }] of this.parts) {
      const value = this.valueOf(knob);
      if (value !== knob.default) knobs[name] = value;
    }
    const seed = Number(this.seed.value);
    return { knobs, seed: Number.isInteger(seed) && seed >= 0 && seed <= 4294967295 ? seed : this.seedInForce };
  }

  /** Returns commands that focus each knob. If a query ends in a number, returns commands that set live knobs to this number too. */
  commands(query: string): Command[] {
    const [number] = /-?\d*\.?\d+(e-?\d+)?$/i.exec(query.trim()) ?? [];
    const to = (input: HTMLElement) => (): void => {
      reveal(input);
      input.focus();
    };
    const knobs = [...this.parts.values()].flatMap(({ knob, row }) => {
      const { name, label, kind, live } = knob;
      const run = to(row.querySelector<HTMLElement>("input:not([type=range]), select")!);
      const known = { kind: "Knobs", name: label, note: exactText(this.valueOf(knob)), words: name, run };
      if (number === undefined || !live || !("min" in kind)) return known;
      const note = wrong(kind, Number(number));
      if (note) return { ...known, note, words: `${name} set to ${number}` };
      return [{ kind: "Knobs", name: `Set ${label} to ${number}`, run: () => this.commit(knob, Number(number)) }, known];
    });
    return [...knobs, { kind: "Knobs", name: "Seed", note: this.seed.value, run: to(this.seed) }];
  }

  /** Returns the value of a knob in the next run. */
  private valueOf({ name, default: other }: Knob): Value {
    return this.pending.get(name) ?? this.inForce[name] ?? other;
  }

  private commit(knob: Knob, value: Value): void {
    if (knob.live) {
      if (value !== this.inForce[knob.name]) this.actions.change(knob.name, value);
      return;
    }
    const parts = this.parts.get(knob.name)!;
    const waits = value !== this.inForce[knob.name];
    if (waits) this.pending.set(knob.name, value);
    else this.pending.delete(knob.name);
    parts.row.classList.toggle("waits", waits);
    write(parts.waiting, waits ? `Applies to a new run. Current value: ${exactText(this.inForce[knob.name] ?? knob.default)}.` : "");
    this.writeBanner();
  }

  private writeBanner(): void {
    const changes = this.pending.size + (Number(this.seed.value) !== this.seedInForce ? 1 : 0);
    if (changes === 0) {
      this.banner.replaceChildren();
      return;
    }
    const words = `${changes === 1 ? "One change applies" : `${changes} changes apply`} to a new run.`;
    if (this.banner.firstChild) {
      write(this.banner.firstElementChild!, words);
      return;
    }
    this.banner.replaceChildren(
      h("span", words),
      h("button.strong", { onclick: () => (this.actions.reset(), this.fixedHeading.focus()) }, "Start new run"),
      h("button", { onclick: () => (this.begin(this.inForce, this.seedInForce), this.fixedHeading.focus()) }, "Undo"),
    );
  }

  /**
   * Creates the row of a knob. A `brief` row shows the short label, and has the help in its tooltip and description. A tap on its label
   * shows or hides the help, because a touch screen has no tooltips.
   */
  private row(knob: Knob, brief = false): HTMLElement {
    const { kind } = knob;
    const {
      input,
      set,
      error,
      beside = input,
      slider,
      now,
    } = "min" in kind ? this.range(knob, kind, brief) : kind.kind === "text" ? this.text(knob, kind.most) : this.field(knob);
    const help = h("p", { class: brief ? "unseen" : "small", id: id("help") }, knob.help);
    const waiting = h("p.waiting");
    input.id = id("knob");
    input.setAttribute("aria-describedby", error ? `${help.id} ${error.id}` : help.id);
    const [term = ""] = knob.label.split(":");
    const label = h("label", { for: input.id, title: brief && `${knob.label}. ${knob.help}` }, brief ? term : knob.label);
    if (brief)
      label.addEventListener("click", (event) => {
        event.preventDefault();
        help.className = help.className === "small" ? "unseen" : "small";
      });
    const row = h("div.knob", h("div.knob-head", label, now, slider, beside), help, waiting, error);
    this.parts.set(knob.name, { knob, row, waiting, now, set });
    return row;
  }

  private field(knob: Knob): Field {
    const { kind } = knob;
    if (kind.kind === "choice") {
      const input = h("select", ...kind.options.map(({ name, label }) => h("option", { value: name }, label)));
      input.addEventListener("change", () => this.commit(knob, input.value));
      return { input, set: (value) => (input.value = String(value)) };
    }
    const input = h("input", { type: "checkbox", role: "switch" });
    input.addEventListener("change", () => this.commit(knob, input.checked ? 1 : 0));
    return { input, set: (value) => (input.checked = value !== 0) };
  }

  private text(knob: Knob, most: number): Field {
    const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
    const { error, judge } = judged(input);
    input.addEventListener("change", () => {
      const good = new TextEncoder().encode(input.value).length <= most;
      if (judge(good, `Enter a text of at most ${most} bytes.`)) this.commit(knob, input.value);
    });
    const set = (value: Value): void => {
      if (document.activeElement !== input) input.value = String(value);
      judge(true);
    };
    return { input, error, set };
  }

  private range(knob: Knob, kind: Range, brief: boolean): Field {
    // A unit that the label contains is omitted, as in "Hidden units: 64 units".
    const unit = brief || knob.label.toLowerCase().includes(knob.unit) ? "" : knob.unit;
    const whole = kind.kind === "int";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const { place, value: valueAt } = scale(kind);
    const step = whole ? 1 : "any";
    const input = h("input", { type: "number", min: kind.min, max: kind.max, step, inputmode: whole ? "numeric" : "decimal" });
    const { error, judge } = judged(input);
    const slider = h("input", { type: "range", min: 0, max: SLIDER_STEPS, step: 1, "aria-label": `${knob.label}, slider` });
    const slid = (): number => rounded(kind, valueAt(Number(slider.value) / SLIDER_STEPS));
    const describeSlider = (share: number, value: number): void => {
      slider.style.setProperty("--share", `${share * 100}%`);
      slider.setAttribute("aria-valuetext", `${exact(value)}${knob.unit ? ` ${knob.unit}` : ""}`);
    };
    const showSlider = (value: number): void => {
      slider.value = String(Math.round(place(value) * SLIDER_STEPS));
      describeSlider(place(value), value);
    };
    slider.addEventListener("input", () => {
      input.value = exact(slid());
      describeSlider(Number(slider.value) / SLIDER_STEPS, slid());
      error.textContent = "";
    });
    slider.addEventListener("change", () => {
      clearTimeout(timer);
      const value = slid();
      timer = setTimeout(() => this.commit(knob, value), SETTLE_MS);
    });
    input.addEventListener("change", () => {
      const value = input.value.trim() === "" ? NaN : Number(input.value);
      const message = wrong(kind, value);
      if (!judge(!message, message)) return;
      showSlider(value);
      this.commit(knob, value);
    });
    const set = (given: Value): void => {
      const value = Number(given);
      clearTimeout(timer);
      if (document.activeElement !== input) input.value = exact(value);
      judge(true);
      if (document.activeElement !== slider || Math.abs(slid() - value) > 1e-12) showSlider(value);
    };
    const beside = h("span.knob-value", input, unit && h("span.unit", unit));
    return { input, set, error, beside, slider, now: h("span.small.now") };
  }

  private seedRow(): HTMLElement {
    return h("div.knob", [
      h("div.knob-head", [h("label", { for: this.seed.id }, "Seed"), this.seed]),
      h("p.small", [
        "Source of all random numbers of a run. The same seed and knobs reproduce the run exactly. The list in the tab Compare starts " +
          "the current run again with another seed.",
      ]),
    ]);
  }
}
