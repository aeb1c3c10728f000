// Rates of a run, from the room's rate columns. The values are smoothed, so that they do not change too fast to read.

import type { Column, RoomInfo, Row } from "../run/protocol";
import { plural } from "./format";
import { state, type State } from "./signal";

/** Weight of the latest row in the exponential average. */
const WEIGHT = 0.2;

export class Rates {
  /** At most two rate columns. The first is the rate of the first counter, if the room has one. */
  readonly columns: Column[];
  /** Unit, in words, of the counter to which the last rate column refers. */
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
