// Table of candidate moves for a roll, with equity, share of the search and outcome probabilities.

import type { Candidate, CubeOutlook, Depth, Outlook } from "./protocol";
import { button, h, id } from "../../parts/dom";
import { minus } from "../../parts/format";
import { bodyRow, headRow } from "../shared/tables";

/** Formats an equity, such as `+0.123`, in points per game. */
export const signed = (equity: number): string => minus(`${equity < 0 ? "" : "+"}${equity.toFixed(3)}`);

const percent = (share: number): string => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)}%`;

type Chances = Candidate["chances"];

/** The six outcomes of a game in the order of the bar's segments, best first. `at` is the index of the outcome in `Chances`. */
const ENDS: { at: number; name: string; words: string; short: string }[] = [
  { at: 2, name: "win-3", words: "won by a backgammon", short: "won: backgammon" },
  { at: 1, name: "win-2", words: "won by a gammon", short: "gammon" },
  { at: 0, name: "win-1", words: "won", short: "single game" },
  { at: 3, name: "lose-1", words: "lost", short: "lost: single game" },
  { at: 4, name: "lose-2", words: "lost by a gammon", short: "gammon" },
  { at: 5, name: "lose-3", words: "lost by a backgammon", short: "backgammon" },
];

/** Lists outcomes in words, such as `62% won, 17% won by a gammon`. Omits outcomes with a probability below 0.05%. */
export function spokenChances(chances: Chances): string {
  return ENDS.filter(({ at }) => chances[at]! >= 0.0005)
    .map(({ at, words }) => `${percent(chances[at]!)} ${words}`)
    .join(", ");
}

/** Returns the six outcome probabilities of a position as one bar. */
export function outcomeBar(chances: Chances): HTMLElement {
  const whole = chances.reduce((sum, chance) => sum + chance, 0) || 1;
  const words = spokenChances(chances);
  return h("span.outcomes", { role: "img", "aria-label": words, title: words }, [
    ENDS.map(({ at, name }) => h("span", { style: `flex-grow:${chances[at]! / whole};--hue:var(--${name})` })),
  ]);
}

/**
 * Returns the outcome probabilities of a position as a list. In this list, wins include gammons, and gammons include backgammons. Losses
 * are counted in the same way.
 */
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
  h("ul.outcome-legend.wrap.small", { "aria-label": "Outcomes" }, [
    ENDS.map(({ name, short }) => h("li", { style: `--hue:var(--${name})` }, short)),
  ]);

export type Choice = { pick: (candidate: Candidate) => void; chosen?: string };

/** Returns the label and the description of a search depth. */
function plyOf(depth: Depth): { short: string; words: string } {
  if (depth.kind === "rolls") return { short: "1-ply, all 21 rolls", words: "All 21 opponent rolls, each with the best reply" };
  if (depth.kind === "visits")
    return {
      short: "Tree search",
      words: "Moves visited by the tree search, best equity first; the played move has the longest bar",
    };
  if (depth.kind === "exact") return { short: "Known exactly", words: "The game ends here, or an exact table contains the position" };
  return {
    short: "0-ply, not searched",
    words: "Network estimates without search, best first; not comparable with searched moves, so no error is shown",
  };
}

/**
 * Groups consecutive moves with the same search depth. A move with an exact value joins the preceding group, except at the beginning of the
 * list.
 */
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

/** Returns the table of ranked moves, grouped by search depth if any move was searched. Without a `choice`, moves cannot be selected. */
export function candidateTable(caption: string, candidates: Candidate[], choice?: Choice): HTMLElement {
  const searched = candidates.some(({ depth }) => depth.kind === "rolls" || depth.kind === "visits");
  const groups = searched ? byDepth(candidates) : [{ ply: undefined, candidates }];
  const row = (candidate: Candidate): HTMLElement => {
    const { text, equity, loss, share, prior, chances, depth } = candidate;
    const attention = searched ? share : prior;
    const bar = h("span.share", {
      role: "img",
      style: `--share:${100 * attention}%`,
      "aria-label": searched ? `${percent(share)} of the search` : `${percent(prior)} prior`,
      title: searched ? `${percent(share)} of the search's evaluations` : `Prior probability ${percent(prior)}, without search`,
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
    headRow({ class: "text", words: "Move" }, "Equity", "Error", { class: "ends", words: "Outcomes" }),
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
  if (!cube.may_double) return "No double allowed now.";
  if (cube.double) return cube.take ? "Double / take." : "Double / pass.";
  return cube.too_good ? "Too good to double: play on for the gammon." : "No double / take.";
}

/**
 * Returns the table of three cube decisions: no double, double and take, double and pass. The equities are those of the player on roll. The
 * best decision is marked.
 */
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
    h("caption.unseen", "Cube decisions"),
    headRow({ class: "text", words: "Cube" }, "Equity", "Difference", ...(match_chances ? ["Match won"] : [])),
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

/** Returns the elements that show the evaluation before a roll: the outcome probabilities and, if a double is allowed, the cube table. */
export const outlookParts = ({ chances, cube }: Outlook): HTMLElement[] => [
  ...(cube.may_double ? [cubeTable(cube)] : []),
  outcomeTable(chances),
];

/** Returns a button with `body` below. The button shows and hides `body`. Calls `opened` when `body` is shown. */
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
