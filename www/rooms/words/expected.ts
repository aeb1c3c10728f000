// The list beside a text. It shows the model's predictions at the selected token, or other values of tokens, such as attention weights.

import { h, write } from "../../parts/dom";
import { figure } from "../../parts/format";
import { untilClosed } from "../../parts/life";
import { LikelyList, percent, type Likely } from "./likely";
import type { Reading } from "./read";
import { label, spoken } from "./tokens";

/** Heights in the list: of the heading with the line below it, and of a row. */
const [HEAD_PX, ROW_PX] = [56, 20];
const LEAST_ROWS = 10;

export class Expected {
  private readonly list = new LikelyList();
  private readonly heading = h("h3");
  private readonly where = h("p.small");
  private readonly message = h("p.unseen", { role: "status" });
  readonly element = h("div.expected", this.heading, this.where, this.list.element, this.message);
  /** Number of rows for which there is room. */
  private room = LEAST_ROWS;

  constructor() {
    const sizes = new ResizeObserver(() => {
      this.room = Math.max(LEAST_ROWS, Math.floor((this.element.clientHeight - HEAD_PX) / ROW_PX));
    });
    sizes.observe(this.element);
    untilClosed(() => sizes.disconnect());
  }

  show(heading: string, where: string, rows: Likely[]): void {
    write(this.heading, heading);
    write(this.where, where);
    this.list.show(rows);
  }

  /**
   * Shows the predictions for the token at `place`, as many as there is room for. If `place` is the number of tokens, shows the predictions
   * for the next token after the text.
   */
  predictions(reading: Reading, place: number): void {
    const token = reading.tokens[place];
    const own = reading.surprise[place];
    const expected = (reading.expected[place] ?? []).slice(0, this.room);
    const rows: Likely[] = expected.map(({ id, text, probability }) => ({
      text,
      share: probability,
      mark: id === token?.id ? "actual" : undefined,
    }));
    // If the actual token is not among the predictions, it replaces the last prediction.
    if (token && own !== undefined && !expected.some(({ id }) => id === token.id))
      rows[Math.max(0, rows.length - 1)] = { text: token.text, share: Math.exp(-own), mark: "actual" };
    this.show("Predictions", whereOf(reading, place), rows);
  }

  /** Announces the token at `place` and the most probable prediction to screen readers. */
  say({ tokens, surprise, expected }: Reading, place: number): void {
    const token = tokens[place];
    const own = surprise[place];
    const first = expected[place]?.[0];
    const here = token ? `${spoken(token.text)}${own === undefined ? "" : `, ${percent(Math.exp(-own))}`}` : "The end";
    write(this.message, `${here}.${first ? ` Expected: ${spoken(first.text)}, ${percent(first.probability)}.` : ""}`);
  }
}

function whereOf({ tokens, surprise }: Reading, place: number): string {
  if (place === 0) return "No predictions before the first token.";
  const after = label(tokens[place - 1]!.text);
  const token = tokens[place];
  const own = surprise[place];
  if (!token || own === undefined) return `Next token after ${after}`;
  return `${label(token.text)} after ${after}: ${percent(Math.exp(-own))}, surprise ${figure(own)} nats.`;
}
