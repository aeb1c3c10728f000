// The past run of each variant: the last run that a new run of the same variant replaced. It is shown as a grey curve behind the current
// run's curve, with a description and a button that restores it.

import type { RoomInfo } from "../run/protocol";
import { h } from "./dom";
import { short, valueText } from "./format";
import { startOf, valuesOf, type History } from "./history";
import { atOnce, derived, effect, state, type Readable } from "./signal";

type Past = { history: History; bytes: Uint8Array | undefined };

export class Ghost {
  readonly element = h("span.ghost-line", { hidden: true });
  readonly shown: Readable<History | undefined>;
  private readonly box = h("input", { type: "checkbox", checked: true, id: "ghost" });
  private readonly words = h("label", { for: "ghost" });
  private readonly ticked = state(true);
  private readonly past = state<Past | undefined>(undefined);
  private readonly pasts = new Map<string, Past>();

  constructor(
    private readonly room: RoomInfo,
    private readonly unit: string,
    private readonly label: (knob: string) => string,
    goBack: (bytes: Uint8Array) => void,
  ) {
    const restore = h("button.small", "Back to the previous run");
    restore.addEventListener("click", () => this.past.value?.bytes && goBack(this.past.value.bytes));
    this.box.addEventListener("change", () => (this.ticked.value = this.box.checked));
    this.element.append(this.box, this.words, restore);
    this.shown = derived(() => (this.ticked.value ? this.past.value?.history : undefined));
    effect(() => {
      this.element.hidden = !this.past.value;
      restore.hidden = !this.past.value?.bytes;
    }, atOnce);
  }

  keep(variant: string, history: History, bytes: Uint8Array | undefined): void {
    this.pasts.set(variant, { history, bytes });
  }

  begin(present: History): void {
    const past = this.pasts.get(present.config.variant);
    this.past.value = past;
    if (past) this.words.textContent = `Past run: ${this.differences(past.history, present)}`;
  }

  toggle(): void {
    this.box.click();
  }

  /** Describes the past run: the data, seed and settings in which it differs from the current run, its live changes, and its result. */
  private differences(past: History, present: History): string {
    const { marks } = past;
    const other = startOf(present.settings, present.marks);
    const settings = Object.entries(startOf(past.settings, marks)).flatMap(([name, value]) =>
      other[name] !== value || marks.some(({ knob }) => knob === name)
        ? [`${this.label(name)} ${valuesOf(name, value, marks, valueText)}`]
        : [],
    );
    const data = past.config.data?.hash === present.config.data?.hash ? [] : ["other data"];
    const seed = past.config.seed === present.config.seed ? [] : [`seed ${past.config.seed}`];
    const parts = [...data, ...seed, ...settings];
    return [...(parts.length ? parts.slice(0, 3) : ["same settings"]), this.end(past, present.config.variant)].join(", ");
  }

  private end(past: History, variant: string): string {
    const { unit } = this;
    if (past.solved) return `solved after ${short(past.solved.counts[0] ?? 0)} ${unit}`;
    const length = `${short(past.counts.at(-1) ?? 0)} ${unit}`;
    return this.room.variants.find(({ id }) => id === variant)?.goal ? `${length}, not solved` : length;
  }
}
