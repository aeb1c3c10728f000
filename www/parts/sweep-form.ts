// Form for a sweep: knob, values, seeds and budget. It also shows the same sweep as a command for a terminal.

import type { Config, Knob, RoomInfo, SweepSpec, Value, Variant } from "../run/protocol";
import { copyField } from "./dialog";
import { form, h, id, labelled, select } from "./dom";
import { capital, exact, short } from "./format";
import { quoted } from "./shell";
import { VARIANT } from "./sweep-knob";

/** Budgets that the form offers by default, in units of the first counter. */
const BUDGETS = [1_000, 10_000, 100_000, 1_000_000];
/**
 * Factor of the suggested range of a logarithmic knob. The range extends from the current value divided by the factor to the value times
 * the factor.
 */
const FACTOR = 5;
/**
 * Half-width of the suggested range of any other knob, as a share of the distance between the knob's limits. The current value is in the
 * middle of the range.
 */
const PART = 0.2;

/** Options of a room's form. `budgets` are in units of the first counter. `comparable` decides whether a sweep may compare two variants. */
export type Choices = { budgets?: number[] | undefined; comparable?: ((a: Variant, b: Variant) => boolean) | undefined };
export type Varied = { config: Config; variant: Variant; knobs: Knob[]; values: Record<string, Value> };

/** Creates a select whose options are numbers. The last number is selected at first. */
const count = (stem: string, numbers: number[]): HTMLSelectElement =>
  select(
    stem,
    numbers.map((n) => [n, String(n)]),
    numbers.at(-1),
  );

export class SweepForm {
  readonly element: HTMLFormElement;
  readonly command = h("div");
  private readonly knob = h("select", { id: id("sweep-knob") });
  private readonly from = h("input", { type: "number", id: id("sweep-from"), step: "any", inputmode: "decimal" });
  private readonly to = h("input", { type: "number", id: id("sweep-to"), step: "any", inputmode: "decimal" });
  private readonly count = count("sweep-count", [3, 4, 5]);
  private readonly seeds = count("sweep-seeds", [1, 2, 3]);
  private readonly budget = h("select", { id: id("sweep-budget") });
  private readonly ends: HTMLElement[];
  private readonly budgets: number[];
  private readonly comparable: (a: Variant, b: Variant) => boolean;
  private knobs: Knob[] = [];
  private run: Varied | undefined;
  private budgetChosen = false;

  /** `buttons` are placed at the end of the form. The button of the type `submit` submits the form. */
  constructor(
    private readonly room: RoomInfo,
    unit: string,
    { budgets = BUDGETS, comparable = () => false }: Choices,
    buttons: HTMLElement[],
    start: () => void,
  ) {
    this.budgets = budgets;
    this.comparable = comparable;
    this.budget.append(...budgets.map((n, k) => h("option", { value: n, selected: k === 1 }, short(n))));
    this.ends = [labelled("From", this.from), labelled("To", this.to), labelled("Values", this.count)];
    this.element = form("sweep-form wrap foot", start, [
      labelled("Knob", this.knob),
      ...this.ends,
      labelled("Seeds each", this.seeds),
      labelled(`${unit} each`, this.budget),
      h("p.row", ...buttons),
    ]);
    this.knob.addEventListener("change", () => this.suggest());
    for (const input of [this.from, this.to, this.count, this.seeds, this.budget])
      input.addEventListener("change", () => this.writeCommand());
    this.budget.addEventListener("change", () => (this.budgetChosen = true));
  }

  /** Updates the form for a new run. `another` is true after a change of variant. */
  begin(run: Varied, another: boolean): void {
    this.run = run;
    if (another) {
      this.budgetChosen = false;
      this.budget.value = String(this.budgets[Math.min(1, this.budgets.length - 1)]);
    }
    // Only numbers and choices can be swept.
    this.knobs = [...this.variants(run.variant), ...run.knobs.filter(({ kind }) => kind.kind !== "bool" && kind.kind !== "text")];
    if (!another && this.knob.options.length === this.knobs.length) {
      this.writeCommand();
      return;
    }
    const chosen = this.knob.value;
    const first = this.knobs[0]?.name === VARIANT ? VARIANT : "lr";
    this.knob.replaceChildren(
      ...this.knobs.map(({ name, label }) => h("option", { value: name, selected: name === (chosen || first) }, label)),
    );
    this.suggest();
  }

  /** Called when the current run is solved at `count`. Selects the smallest offered budget that is at least 1.2 times this count. */
  solvedAfter(count: number): void {
    if (this.budgetChosen) return;
    const suggested = this.budgets.find((each) => each >= 1.2 * count) ?? this.budgets.at(-1)!;
    this.budget.value = String(suggested);
    this.writeCommand();
  }

  get label(): string | undefined {
    return this.current()?.label;
  }

  /** Returns a list with the knob that compares variants. The list is empty if fewer than two variants are comparable. */
  private variants(variant: Variant): Knob[] {
    const options = this.room.variants
      .filter((other) => this.comparable(variant, other))
      .map(({ id: name, name: label }) => ({ name, label }));
    const word = this.room.variant_word;
    if (options.length < 2) return [];
    return [
      {
        name: VARIANT,
        label: capital(word),
        kind: { kind: "choice", options },
        default: variant.id,
        unit: "",
        help: "",
        live: false,
      },
    ];
  }

  private current(): Knob | undefined {
    return this.knobs.find(({ name }) => name === this.knob.value);
  }

  private suggest(): void {
    const knob = this.current();
    const kind = knob?.kind;
    for (const end of this.ends) end.hidden = kind?.kind === "choice";
    if (knob && (kind?.kind === "float" || kind?.kind === "int")) {
      const { min, max, log } = kind;
      const now = Number(this.run?.values[knob.name] ?? knob.default);
      const around = log && now > 0 ? [now / FACTOR, now * FACTOR] : [now - PART * (max - min), now + PART * (max - min)];
      const [low, high] = around.map((value) => tidy(knob, Math.max(min, Math.min(max, value)))) as [number, number];
      this.from.value = exact(low);
      this.to.value = exact(high);
    }
    this.writeCommand();
  }

  /** Returns the requested sweep, or an error message. */
  wanted(): SweepSpec | string {
    const knob = this.current();
    const config = this.run?.config;
    if (!knob || !config) return "Choose a knob.";
    // Seeds start at 1 as in the native program, so that page and program run the same sweep.
    const spec = (values: Value[]): SweepSpec => ({
      config: { ...config, seed: 1 },
      knob: knob.name,
      values,
      seeds: Number(this.seeds.value),
      budget: Number(this.budget.value),
    });
    const { kind } = knob;
    if (kind.kind === "choice") return spec(kind.options.map(({ name }) => name));
    if (kind.kind !== "float" && kind.kind !== "int") return "Choose a knob.";
    const { min, max, log } = kind;
    const [from, to, count] = [this.from.valueAsNumber, this.to.valueAsNumber, Number(this.count.value)];
    const fits = (value: number): boolean => Number.isFinite(value) && value >= min && value <= max;
    if (!fits(from) || !fits(to) || from >= to) return `Enter two numbers from ${exact(min)} to ${exact(max)}, the smaller one first.`;
    const even = (k: number): number =>
      log && from > 0 ? from * (to / from) ** (k / (count - 1)) : from + ((to - from) * k) / (count - 1);
    const values = [...new Set(Array.from({ length: count }, (_, k) => tidy(knob, even(k))))];
    if (values.length < 2) return "The limits are too close for several values. Set them further apart.";
    return spec(values);
  }

  writeCommand(): void {
    const wanted = this.wanted();
    if (typeof wanted === "string") return;
    const { config, knob, values, seeds, budget } = wanted;
    const set = Object.entries(config.knobs)
      .filter(([name]) => name !== knob)
      .map(([name, value]) => ` --set ${quoted(`${name}=${value}`)}`)
      .join("");
    const command =
      `cargo run --release -- sweep ${config.room} --variant ${quoted(config.variant)} --knob ` +
      `${quoted(`${knob}=${values.join(",")}`)} --seeds ${seeds} --steps ${budget}${set}`;
    this.command.replaceChildren(h("p.small", "The same sweep in a terminal, at full speed:"), copyField("Sweep command", command));
  }
}

/** Rounds a value to three significant digits, or to a whole number if the knob is an integer. */
function tidy({ kind }: Knob, value: number): number {
  return kind.kind === "int" ? Math.round(value) : Number(value.toPrecision(3));
}
