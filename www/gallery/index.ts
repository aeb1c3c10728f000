// The gallery: an entry per run with its picture and curve, and a table per track. A click on an entry opens its run. While the run trains,
// the page compares it with the entry.

import { h, lineThrough, svg } from "../parts/dom";
import { copyField } from "../parts/dialog";
import { figure } from "../parts/format";
import { Tabs } from "../parts/tabs";
import { onTheme } from "../parts/theme";
import { checkedLink, ENTRIES, pictureOf, scoreOf, TRACKS, type Entry, type Track } from "./entries";
import "./gallery.css";

const WIDTH = 320;
const HEIGHT = 64;
const EDGE = 4;

/** Draws the curve of an entry over its iterations. */
function curve({ curve, end, title }: Entry): HTMLElement {
  const points = Object.entries(curve.points).map(([at, value]) => [Number(at), value] as const);
  const values = points.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const across = (at: number): number => EDGE + ((WIDTH - 2 * EDGE) * at) / (end.iteration ?? 1);
  const down = (value: number): number => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - low)) / (high - low || 1);
  const column = curve.column.replace(/^.*\./, "").replaceAll("_", " ");
  const label = `${title}: ${column} from ${figure(values[0] ?? NaN)} to ${figure(values.at(-1) ?? NaN)}`;
  const d = lineThrough(points.map(([at, value]) => [across(at), down(value)]));
  const [x, y] = points.length ? [across(points.at(-1)![0]), down(values.at(-1)!)] : [0, 0];
  const drawn = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, svg("path", { d }));
  if (points.length) drawn.append(svg("circle", { cx: x, cy: y, r: 3 }));
  return h("figure.entry-curve", drawn, h("figcaption.small", column));
}

/** Creates the picture of an entry, which follows the theme of the page; undefined if there is no picture. */
function picture(entry: Entry): HTMLElement | undefined {
  const source = (): string | undefined => pictureOf(entry, document.documentElement.dataset.theme ?? "light");
  const shown = source();
  if (!shown) return undefined;
  const image = h("img", { src: shown, alt: "", width: 400, height: 240, loading: "lazy" });
  const stop = onTheme(() => (image.isConnected ? image.setAttribute("src", source() ?? shown) : stop()));
  return image;
}

const scoreText = (entry: Entry, track: Track): string => {
  const score = scoreOf(entry, track);
  return score === undefined ? "" : `${figure(score)} ${track.unit}`;
};

function card(entry: Entry): HTMLElement {
  const track = TRACKS.find(({ id }) => id === entry.track);
  return h("li.card.entry", { "data-entry": entry.id }, [
    h("a.entry-link", { href: checkedLink(entry) }, [picture(entry), h("h2", entry.title)]),
    curve(entry),
    track && h("p.entry-score", [h("strong", scoreText(entry, track)), h("span.small", track.title)]),
    h("p.small", entry.text),
    h("p.small", `by ${entry.author}, ${entry.cpu_seconds} s of processor time`),
  ]);
}

function table(track: Track): HTMLElement {
  const rows = track.entries.map((entry, k) =>
    h("tr", [
      h("td", String(k + 1)),
      h("td.text", h("a", { href: checkedLink(entry) }, entry.title)),
      h("td", scoreText(entry, track)),
      h("td", `${entry.cpu_seconds} s`),
      h("td.text", entry.author),
      h("td.text", `${entry.chip}, ${entry.threads} threads`),
    ]),
  );
  const titles = ["Rank", "Run", "Score", "Processor time", "Author", "Chip"];
  const texts = ["Run", "Author", "Chip"];
  return h("section.card.track", [
    h("h2", track.title),
    h("p.small", track.rule),
    rows.length
      ? h("div.scroll", { tabindex: 0, role: "region", "aria-label": track.title }, [
          h(
            "table",
            h("thead", h("tr", ...titles.map((title) => h("th", { scope: "col", class: texts.includes(title) && "text" }, title)))),
            h("tbody", ...rows),
          ),
        ])
      : h("p", "No entry yet."),
  ]);
}

const own = (): HTMLElement =>
  h("section.card.track", [
    h("h2", "Your own entry"),
    h("p", "Train a run in a terminal with --entry, fill in title, author and text, and open a pull request with that one file."),
    copyField("Command", "hothouse train control --variant CartPole-v1 --until-solved --device cpu --entry cartpole.json"),
    copyField("Check", "hothouse verify cartpole.json"),
    h("p.small", "Read gallery/program.md in the repository."),
  ]);

/** Creates the gallery. */
export function gallery(): HTMLElement {
  const entries = h("ul.entries", ...ENTRIES.map(card));
  const tracks = h("div.tracks", ...TRACKS.map(table), own());
  const tabs = new Tabs("Gallery", [
    { name: "entries", title: "Runs", element: entries },
    { name: "tracks", title: "Tracks", element: tracks },
  ]);
  return h("main.gallery", { id: "main", tabindex: -1 }, [
    h("div.intro", [
      h("h1", "Gallery"),
      h("p.lead", "Runs that verify themselves. Open one: this device trains it again, and a badge shows whether every bit is the same."),
    ]),
    tabs.list,
    ...tabs.panels,
  ]);
}
