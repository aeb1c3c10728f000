// How fast a run goes: the columns of its room that are rates, calmed so that one can read them.

import type { Column, RoomInfo, Row } from "../run/protocol";
import { plural } from "./format";
import { state, type State } from "./signal";

/** Of a new row. */
const WEIGHT = 0.2;

export class Rates {
  /** That of the first counter leads; the last one is of what takes the most work. */
  readonly columns: Column[];
  /** What takes the most work, as it is counted. */
  readonly work: string;
  readonly values: State<(number | undefined)[]> = state([]);
  private readonly places: number[];

  constructor({ counters, metrics }: RoomInfo) {
    const counter = counters[0]!;
    const rates = metrics.filter(({ rate }) => rate);
    const lead = rates.find(({ rate }) => rate!.counter === counter.name) ?? rates[0];
    this.columns = [lead, rates.find((column) => column !== lead)].flatMap((column) => column ?? []);
    this.places = this.columns.map((column) => metrics.indexOf(column));
    const most = counters.find(({ name }) => name === rates.at(-1)?.rate?.counter) ?? counter;
    this.work = plural(most);
  }

  begin(): void {
    this.values.value = [];
  }

  push({ values }: Row): void {
    this.values.value = this.places.map((place, k) => {
      const [before, now] = [this.values.value[k], values[place] ?? undefined];
      return before === undefined || now === undefined ? (now ?? before) : before + (now - before) * WEIGHT;
    });
  }
}
