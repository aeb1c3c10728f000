// Readings beside the stage. While the agent acts, they show its action probabilities and the critic's value. While the visitor plays, they
// show the score against the agent.

import { h, write } from "../../parts/dom";
import { capital, figure } from "../../parts/format";
import { Surface } from "../../parts/loop";
import { palette } from "../../parts/theme";
import { pen, stroke } from "../../parts/canvas";
import { clamp } from "../../parts/keys";
import { bodyRow, headRow } from "../shared/tables";
import type { Scene } from "./hands";
import type { Round, Stage } from "./protocol";
import * as text from "./text";

/** Number of critic values that the curve shows. */
const MEMORY = 240;
const SHOWN_ROUNDS = 4;

const number = (): HTMLOutputElement => h("output.number");
const reading = (name: string, value: HTMLElement): HTMLElement => h("p.reading", h("span.small", name), value);

/** Readings while the agent acts: action probabilities and the critic's value. */
export class Watching {
  readonly element: HTMLElement;
  private readonly odds = h("div.odds");
  private readonly value = number();
  private readonly total = number();
  private readonly best = number();
  private readonly curve = h("canvas", { role: "img", "aria-label": "The critic's value over the last seconds" });
  private readonly surface = new Surface(this.curve);
  private bars: { bar: HTMLElement; number: HTMLElement }[] = [];
  private range: [number, number] | undefined;
  private readonly values: number[] = [];

  constructor() {
    this.element = h("div.watching", [
      this.odds,
      h("div.critic", reading(text.stage.value, this.value), this.curve),
      h("div", reading(text.stage.total, this.total), reading(text.stage.best, this.best)),
    ]);
  }

  begin({ environment: { choices, range }, world }: Scene): void {
    this.values.length = 0;
    this.range = choices.length > 0 ? undefined : range;
    const rows = choices.length > 0 ? choices : [text.stage.action];
    this.bars = rows.map((_, k) => {
      const bar = h("span", { class: this.range ? "bar both" : "bar", "aria-hidden": "true" });
      if (!this.range) bar.style.setProperty("--hue", `var(--${world.hues[k] ?? "agent"})`);
      return { bar, number: h("output.small.number") };
    });
    this.odds.replaceChildren(
      ...rows.map((name, k) => {
        const { bar, number } = this.bars[k]!;
        return h("p.odd", h("span.small", name), bar, number);
      }),
    );
  }

  remember(value: number): void {
    this.values.push(value);
    if (this.values.length > MEMORY) this.values.shift();
  }

  show({ player, odds, value, best }: Stage): void {
    if (this.range) this.showSpread(this.range, odds);
    else
      this.bars.forEach(({ bar, number }, k) => {
        const share = odds[k] ?? 0;
        bar.style.setProperty("--share", `${(100 * share).toFixed(0)}%`);
        write(number, `${Math.round(100 * share)}%`);
      });
    write(this.value, figure(Math.round(value * 10) / 10));
    write(this.total, player.over && player.terminated ? `${figure(player.total)}, episode over` : figure(player.total));
    write(this.best, best === null ? "–" : figure(best));
    this.drawCurve();
  }

  /** Shows the mean and the spread of a continuous action's distribution. */
  private showSpread([low, high]: [number, number], [mean = 0, spread = 0]: number[]): void {
    const place = clamp((mean - low) / (high - low), 0, 1);
    const wide = Math.min(0.5, spread / (high - low));
    const { bar, number } = this.bars[0]!;
    bar.style.setProperty("--from", `${(100 * Math.max(0, place - wide)).toFixed(0)}%`);
    bar.style.setProperty("--to", `${(100 * (1 - Math.min(1, place + wide))).toFixed(0)}%`);
    bar.style.setProperty("--at", `${(100 * place).toFixed(1)}%`);
    write(number, figure(Math.round(mean * 100) / 100));
  }

  private drawCurve(): void {
    const c = this.surface.begin();
    const { width, height } = this.surface;
    const { values } = this;
    let [least, most] = [Math.min(...values), Math.max(...values)];
    const room = Math.max(1, most - least) * 0.1;
    [least, most] = [least - room, most + room];
    c.strokeStyle = palette.hair;
    stroke(c, 0, height - 0.5, width, height - 0.5);
    pen(c, palette.agent, 1.5);
    c.lineJoin = "round";
    c.beginPath();
    values.forEach((value, k) => {
      const x = width - ((values.length - 1 - k) / (MEMORY - 1)) * width;
      c.lineTo(x, 2 + (height - 4) * (1 - (value - least) / (most - least)));
    });
    c.stroke();
  }
}

/** Readings while the visitor plays against the agent: the returns of both in this round and in the previous ones. */
export class Duel {
  readonly element: HTMLElement;
  private readonly yours = number();
  private readonly agents = number();
  private readonly number = h("span");
  private readonly message = h("p.small");
  private readonly past = h("tbody.past");
  private seen = "[]";

  /** `say` announces a finished round. */
  constructor(private readonly say: (text: string, about: string) => void) {
    this.element = h("div.driving", { hidden: true }, [
      h("table.rounds", [
        h("caption.unseen", "This round and the last ones, latest first"),
        headRow("Round", "You", "Agent"),
        h("tbody.present", bodyRow(false, this.number, this.yours, this.agents)),
        this.past,
      ]),
      this.message,
    ]);
  }

  begin(): void {
    this.seen = "[]";
    this.past.replaceChildren();
  }

  /** Shows help about the keys, unless a round has ended. */
  showKeys(words: string): void {
    if (this.seen === "[]") write(this.message, words);
  }

  show({ player, rival, rounds }: Stage): void {
    write(this.number, String(rounds.length + (player.over && rival?.over ? 0 : 1)));
    write(this.yours, figure(player.total));
    write(this.agents, rival ? figure(rival.total) : "–");
  }

  take(rounds: Round[]): void {
    const seen = JSON.stringify(rounds);
    if (seen === this.seen) return;
    this.seen = seen;
    const won = rounds.filter(({ yours, agents }) => yours > agents).length;
    const lost = rounds.filter(({ yours, agents }) => yours < agents).length;
    const standing =
      won === lost ? (won ? `${won} all` : "even") : won > lost ? `you lead ${won} to ${lost}` : `the agent leads ${lost} to ${won}`;
    write(this.message, rounds.length ? `${capital(standing)}.` : "");
    const points = (own: number, other: number): { class: string; words: string } => ({
      class: own > other ? "won" : "",
      words: figure(own),
    });
    this.past.replaceChildren(
      ...rounds
        .map(({ yours, agents }, k) => bodyRow(false, String(k + 1), points(yours, agents), points(agents, yours)))
        .slice(-SHOWN_ROUNDS)
        .reverse(),
    );
    const last = rounds.at(-1);
    if (last) this.say(`Round ${rounds.length}: you ${figure(last.yours)}, the agent ${figure(last.agents)}. ${standing}.`, "round");
  }
}
