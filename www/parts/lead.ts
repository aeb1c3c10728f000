// The leading number of the run above the large chart: a number of the latest test, and below it the name of the number.

import type { Standing } from "../run/protocol";
import { h, write } from "./dom";
import { capital, minus } from "./format";

export class Lead {
  readonly number = h("output.number");
  private readonly name = h("span.small");
  readonly element = h("div.lead-number", this.number, this.name);

  show({ number, name }: Standing): void {
    write(this.number, capital(minus(number)));
    write(this.name, name);
  }
}
