// The card of an entry: its picture, its curve, its texts, and the command that verifies it.

import { copyField } from "../parts/dialog";
import { h, lineThrough, svg } from "../parts/dom";
import { figure, percent } from "../parts/format";
import { onTheme } from "../parts/theme";
import type { Track } from "./entries";
import { checkedLink, scoreOf, type Entry } from "./entry";

const WIDTH = 320;
const HEIGHT = 64;
const EDGE = 4;

/** Draws the curve of an entry over its iterations; undefined for an entry without points. */
function curve({ curve, end, title }: Entry): HTMLElement | undefined {
  const points = Object.entries(curve.points).map(([at, value]) => [Number(at), value] as const);
  const last = points.at(-1);
  if (!last) return undefined;
  const values = points.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const across = (at: number): number => EDGE + ((WIDTH - 2 * EDGE) * at) / (end.iteration || last[0] || 1);
  const down = (value: number): number => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - low)) / (high - low || 1);
  const column = curve.column.replace(/^.*\./, "").replaceAll("_", " ");
  const label = `${title}: ${column} from ${figure(values[0]!)} to ${figure(last[1])}`;
  const d = lineThrough(points.map(([at, value]) => [across(at), down(value)]));
  const drawn = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, svg("path", { d }));
  drawn.append(svg("circle", { cx: across(last[0]), cy: down(last[1]), r: 3 }));
  return h("figure.entry-curve", drawn, h("figcaption.small", column));
}

/** Function that returns the address of a picture in a theme, or undefined if there is no picture. */
type Source = (theme: string) => string | undefined;

/** Creates the picture of an entry, which follows the theme of the page. Without a picture, creates a blank area of the same size. */
function picture(source: Source): HTMLElement {
  const now = (): string | undefined => source(document.documentElement.dataset.theme ?? "light");
  const shown = now();
  if (!shown) return h("div.entry-blank.small", { "aria-hidden": "true" }, "No picture");
  const image = h("img", { src: shown, alt: "", width: 400, height: 240, loading: "lazy" });
  const stop = onTheme(() => (image.isConnected ? image.setAttribute("src", now() ?? shown) : stop()));
  return image;
}

export const scoreText = (entry: Entry, track: Track): string => {
  const score = scoreOf(entry, track.score);
  // A share of something is a percentage.
  const shown = score === undefined || !track.unit.startsWith("of ") ? figure : percent;
  return score === undefined ? "" : `${shown(score)} ${track.unit}`;
};

/** Creates the card of an entry. `track` is undefined for an entry without a track. */
export function card(entry: Entry, track: Track | undefined, source: Source): HTMLElement {
  return h("li.card.entry", { "data-entry": entry.id }, [
    h("a.entry-link", { href: checkedLink(entry) }, [picture(source), h("h2", entry.title)]),
    curve(entry),
    track && h("p.entry-score", [h("strong", scoreText(entry, track)), h("span.small", track.title)]),
    h("p.small", entry.text),
    h("p.small", `by ${entry.author}, ${entry.cpu_seconds} s of processor time`),
    h("details.small", h("summary", "Train it again in a terminal"), [
      copyField(`Command for ${entry.title}`, `hothouse verify gallery/${entry.id}.json`),
    ]),
  ]);
}
