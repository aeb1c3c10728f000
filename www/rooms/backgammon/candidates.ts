// What somebody thinks of a roll: every candidate with its equity, what the search looked at, and how games end from there.

import type { Candidate, CubeOutlook, Depth, Outlook } from "./protocol";
import { button, h, id } from "../../parts/dom";
import { minus } from "../../parts/format";
import { bodyRow, headRow } from "../shared/tables";

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
  return h("span.outcomes", { role: "img", "aria-label": words, title: words }, [
    ENDS.map(({ at, name }) => h("span", { style: `flex-grow:${chances[at]! / whole};--hue:var(--${name})` })),
  ]);
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
  return h("dl.outcome-table", [rows.map(([name, share]) => h("div", h("dt", name), h("dd.number", percent(share))))]);
}

export const outcomeLegend = (): HTMLElement =>
  h("ul.outcome-legend.wrap.small", { "aria-label": "How games end" }, [
    ENDS.map(({ name, short }) => h("li", { style: `--hue:var(--${name})` }, short)),
  ]);

export type Choice = { pick: (candidate: Candidate) => void; chosen?: string };

/** How far it was looked beyond a move, where anything was searched. */
function plyOf(depth: Depth): { short: string; words: string } {
  if (depth.kind === "rolls") return { short: "1-ply, all 21 rolls", words: "All 21 rolls of the other side, each with its best reply" };
  if (depth.kind === "visits")
    return {
      short: "Tree search",
      words: "Ways down the search's tree went through these, best equity first; what it plays is the one with the longest bar",
    };
  if (depth.kind === "exact") return { short: "Known exactly", words: "The game ends here, or a table has it" };
  return {
    short: "0-ply, not searched",
    words: "Equities at first sight, the best first; they are not compared with those above, so no error is told",
  };
}

/** Moves that were looked at as far as each other, in their order; what is known stands among its neighbours. */
export function byDepth(candidates: Candidate[]): { ply: { short: string; words: string }; candidates: Candidate[] }[] {
  const groups: { ply: { short: string; words: string }; candidates: Candidate[] }[] = [];
  for (const candidate of candidates) {
    const ply = plyOf(candidate.depth);
    const last = groups.at(-1);
    if (last && (last.ply.short === ply.short || candidate.depth.kind === "exact")) last.candidates.push(candidate);
    else groups.push({ ply, candidates: [candidate] });
  }
  return groups;
}

/** Ranked moves, grouped by how far they were looked beyond where anything was searched. Without a `choice` they are only told. */
export function candidateTable(caption: string, candidates: Candidate[], choice?: Choice): HTMLElement {
  const searched = candidates.some(({ depth }) => depth.kind === "rolls" || depth.kind === "visits");
  const groups = searched ? byDepth(candidates) : [{ ply: undefined, candidates }];
  const row = (candidate: Candidate): HTMLElement => {
    const { text, equity, loss, share, prior, chances, depth } = candidate;
    const attention = searched ? share : prior;
    const bar = h("span.share", {
      role: "img",
      style: `--share:${100 * attention}%`,
      "aria-label": searched ? `${percent(share)} of the search` : `${percent(prior)} of its attention`,
      title: searched ? `${percent(share)} of the search's evaluations went here` : `${percent(prior)} of its attention before any search`,
    });
    const name = choice
      ? button(text, () => choice.pick(candidate), { class: "quiet small", "aria-pressed": String(choice.chosen === candidate.id) })
      : h("span", text);
    return h("tr", { class: choice?.chosen === candidate.id && "chosen" }, [
      h("th.text", { scope: "row" }, name, bar),
      h("td", { class: searched && depth.kind === "static" ? "number unsearched" : "number" }, signed(equity)),
      h("td", loss === null ? { title: "Not searched" } : {}, loss === null ? "–" : loss < 0.0005 ? "" : loss.toFixed(3)),
      h("td.ends", outcomeBar(chances)),
    ]);
  };
  return h("table.candidates", [
    h("caption.unseen", caption),
    headRow({ class: "text", words: "Move" }, "Equity", "Error", { class: "ends", words: "How games end" }),
    ...groups.map(({ ply, candidates }) =>
      h("tbody", [
        ...(ply ? [h("tr.ply", h("th", { scope: "rowgroup", colspan: 4, title: ply.words }, ply.short))] : []),
        ...candidates.map(row),
      ]),
    ),
  ]);
}

export function cubeAdvice(cube: CubeOutlook): string {
  if (cube.offered) return cube.take ? "Take." : "Pass.";
  if (!cube.may_double) return "The cube cannot be turned now.";
  if (cube.double) return cube.take ? "Double, and take." : "Double, and pass.";
  return cube.too_good ? "Too good to double: play on for the gammon." : "No double, and take if it comes.";
}

/** The three ways a decision on the cube can go, with what each is worth to whoever is on roll; the best one is marked. */
export function cubeTable(cube: CubeOutlook): HTMLElement {
  const { no_double, double_take, double_pass, match_chances, offered } = cube;
  const answered = Math.min(double_take, double_pass);
  const best = offered ? answered : cube.double ? answered : no_double;
  const rows: [string, number, number][] = [
    ["No double", no_double, 0],
    ["Double, take", double_take, 1],
    ["Double, pass", double_pass, 2],
  ];
  return h("table.cube-table", [
    h("caption.unseen", "Decisions on the cube"),
    headRow({ class: "text", words: "Cube" }, "Equity", "Against the best", ...(match_chances ? ["Match won"] : [])),
    h("tbody", [
      rows.map(([name, equity, k]) =>
        bodyRow(
          Math.abs(equity - best) < 5e-7 && "chosen",
          { class: "text", words: name },
          { class: "number", words: signed(equity) },
          Math.abs(equity - best) < 0.0005 ? "best" : signed(equity - best),
          ...(match_chances ? [`${(100 * match_chances[k]!).toFixed(1)}%`] : []),
        ),
      ),
    ]),
  ]);
}

/** What is expected before the roll: the six ends, the cube, and what to do. */
export const outlookParts = ({ chances, cube }: Outlook): HTMLElement[] => [
  ...(cube.may_double ? [cubeTable(cube)] : []),
  outcomeTable(chances),
];

/** A button that opens and closes something beneath it. */
export function folding(words: string, body: HTMLElement, opened: () => void = () => {}): HTMLElement {
  const bodyId = id("fold");
  body.id = bodyId;
  body.hidden = true;
  const turn = (): void => {
    body.hidden = !body.hidden;
    opener.setAttribute("aria-expanded", String(!body.hidden));
    if (!body.hidden) opened();
  };
  const opener = button(words, turn, { class: "quiet small", "aria-expanded": "false", "aria-controls": bodyId });
  return h("div.folding", opener, body);
}
