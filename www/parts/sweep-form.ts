// What a sweep varies: a knob, its values, and for how long. It says the same as a command for a terminal.

import type { Config, Knob, RoomInfo, SweepSpec, Value, Variant } from "../run/protocol";
import { copyField } from "./dialog";
import { form, h, id, labelled, select } from "./dom";
import { capital, exact, short } from "./format";
import { quoted } from "./shell";

/** Of the first counter, where the room says nothing better. */
const BUDGETS = [1_000, 10_000, 100_000, 1_000_000];
/** A logarithmic knob is varied from a fifth of its value to five times it, another by a fifth of its range. */
const FACTOR = 5;
const PART = 0.2;
/** What stands for a knob where variants are compared. */
export const VARIANT = "variant";

/** How much of the first counter a learner may be given, and whether two variants can be told which is better. */
export type Choices = { budgets?: number[] | undefined; comparable?: ((a: Variant, b: Variant) => boolean) | undefined };
export type Varied = { config: Config; variant: Variant; knobs: Knob[]; values: Record<string, Value> };

/** A choice of numbers, of which the last is chosen. */
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

  /** `buttons` stand last, of which one submits. */
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

  /** A run has begun, of `another` variant than the one before it. */
  begin(run: Varied, another: boolean): void {
    this.run = run;
    if (another) {
      this.budgetChosen = false;
      this.budget.value = String(this.budgets[Math.min(1, this.budgets.length - 1)]);
    }
    // Of a text there is no next value.
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

  /** So much solves the present run: about as much is a fair length for each learner. */
  solvedAfter(count: number): void {
    if (this.budgetChosen) return;
    const fair = this.budgets.find((each) => each >= 1.2 * count) ?? this.budgets.at(-1)!;
    this.budget.value = String(fair);
    this.writeCommand();
  }

  get label(): string | undefined {
    return this.current()?.label;
  }

  /** The room's variants beside this one, as if they were a knob. */
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

  /** What is asked for, or what is wrong with it. */
  wanted(): SweepSpec | string {
    const knob = this.current();
    const config = this.run?.config;
    if (!knob || !config) return "Choose a knob.";
    // The native program counts seeds from 1, so that its sweep is the same.
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
    if (!fits(from) || !fits(to) || from >= to) return `Give two numbers from ${exact(min)} to ${exact(max)}, the smaller one first.`;
    const even = (k: number): number =>
      log && from > 0 ? from * (to / from) ** (k / (count - 1)) : from + ((to - from) * k) / (count - 1);
    const values = [...new Set(Array.from({ length: count }, (_, k) => tidy(knob, even(k))))];
    if (values.length < 2) return "These ends are too close for several values; set them further apart.";
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
    this.command.replaceChildren(h("p.small", "The same sweep at the full speed of this machine:"), copyField("Sweep command", command));
  }
}

/** Three digits, whole where the knob is. */
function tidy({ kind }: Knob, value: number): number {
  return kind.kind === "int" ? Math.round(value) : Number(value.toPrecision(3));
}
