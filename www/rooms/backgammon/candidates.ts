// What somebody thinks of a roll: every candidate with its equity, what the search looked at, and how games end from there.

import type { Candidate } from "./protocol";
import { h, id } from "../../parts/dom";
import { minus } from "../../parts/format";

/** `+0.123`, in points a game. */
export const signed = (equity: number): string => minus(`${equity < 0 ? "" : "+"}${equity.toFixed(3)}`);

const percent = (share: number): string => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)}%`;

type Chances = Candidate["chances"];

/** In the order in which they lie on the bar: the best end first. */
const ENDS: { at: number; name: string; words: string; short: string }[] = [
  { at: 2, name: "win-3", words: "won by a backgammon", short: "won: backgammon" },
  { at: 1, name: "win-2", words: "won by a gammon", short: "gammon" },
  { at: 0, name: "win-1", words: "won", short: "single game" },
  { at: 3, name: "lose-1", words: "lost", short: "lost: single game" },
  { at: 4, name: "lose-2", words: "lost by a gammon", short: "gammon" },
  { at: 5, name: "lose-3", words: "lost by a backgammon", short: "backgammon" },
];

/** `62% won, 17% of them by a gammon or more` */
export function spokenChances(chances: Chances): string {
  const told = ENDS.filter(({ at }) => chances[at]! >= 0.0005).map(({ at, words }) => `${percent(chances[at]!)} ${words}`);
  return told.join(", ");
}

/** The six ends of a game as one bar. */
export function outcomeBar(chances: Chances): HTMLElement {
  const whole = chances.reduce((sum, chance) => sum + chance, 0) || 1;
  const words = spokenChances(chances);
  return h(
    "span",
    { class: "outcomes", role: "img", "aria-label": words, title: words },
    ...ENDS.map(({ at, name }) => h("span", { class: name, style: `flex-grow:${chances[at]! / whole}` })),
  );
}

/** The same as numbers in words, for a position of its own. */
export function outcomeTable(chances: Chances): HTMLElement {
  const win = chances[0] + chances[1] + chances[2];
  const rows: [string, number][] = [
    ["wins", win],
    ["gammons", chances[1] + chances[2]],
    ["backgammons", chances[2]],
    ["losses", 1 - win],
    ["gammons", chances[4] + chances[5]],
    ["backgammons", chances[5]],
  ];
  return h(
    "dl",
    { class: "outcome-table" },
    ...rows.map(([name, share]) => h("div", {}, h("dt", {}, name), h("dd", { class: "number" }, percent(share)))),
  );
}

/** What the colours of an outcome bar mean. */
export const outcomeLegend = (): HTMLElement =>
  h(
    "ul",
    { class: "outcome-legend small", "aria-label": "How games end" },
    ...ENDS.map(({ name, short }) => h("li", { class: name }, short)),
  );

export type Choice = { pick: (candidate: Candidate) => void; chosen?: string };

/** Ranked moves. Without a `choice` they are only told. */
export function candidateTable(caption: string, candidates: Candidate[], choice?: Choice): HTMLElement {
  const searched = candidates.some(({ share }) => share > 0);
  return h(
    "table",
    { class: "candidates" },
    h("caption", { class: "unseen" }, caption),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ...[["Move", "text"], ["Equity", ""], ["Behind", ""], ["How games end", "ends"]].map(([title, kind]) => h("th", { scope: "col", class: kind }, title)),
      ),
    ),
    h(
      "tbody",
      {},
      ...candidates.map((candidate) => {
        const { text, equity, loss, share, prior, chances } = candidate;
        const attention = searched ? share : prior;
        const bar = h("span", {
          class: "share",
          role: "img",
          style: `--share:${100 * attention}%`,
          "aria-label": searched ? `${percent(share)} of the search` : `${percent(prior)} of its attention`,
          title: searched ? `${percent(share)} of the search's evaluations went here` : `${percent(prior)} of its attention before any search`,
        });
        const name = choice
          ? h("button", { type: "button", class: "quiet small", "aria-pressed": String(choice.chosen === candidate.id), onclick: () => choice.pick(candidate) }, text)
          : h("span", {}, text);
        return h(
          "tr",
          { class: choice?.chosen === candidate.id && "chosen" },
          h("th", { scope: "row", class: "text" }, name, bar),
          h("td", { class: "number" }, signed(equity)),
          h("td", {}, loss < 0.0005 ? "" : loss.toFixed(3)),
          h("td", { class: "ends" }, outcomeBar(chances)),
        );
      }),
    ),
  );
}

/** A button that opens and closes something beneath it. */
export function folding(words: string, body: HTMLElement): HTMLElement {
  const bodyId = id("fold");
  body.id = bodyId;
  body.hidden = true;
  const button = h("button", { type: "button", class: "quiet small", "aria-expanded": "false", "aria-controls": bodyId }, words);
  button.addEventListener("click", () => {
    body.hidden = !body.hidden;
    button.setAttribute("aria-expanded", String(!body.hidden));
  });
  return h("div", { class: "folding" }, button, body);
}
