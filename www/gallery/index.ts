// The gallery: an entry per run with its picture and curve, and one list of all tracks. A click on an entry opens its run. While the run
// trains, the page compares it with the entry.

import { copyField } from "../parts/dialog";
import { h } from "../parts/dom";
import { Tabs } from "../parts/tabs";
import { card, scoreText } from "./card";
import { ENTRIES, FAULTS, pictureOf, TRACKS, type Track } from "./entries";
import { checkedLink, trainedOn, type Entry } from "./entry";
import "./gallery.css";

function entry(entry: Entry): HTMLElement {
  const track = TRACKS.find(({ id }) => id === entry.track);
  return card(entry, track, (theme) => pictureOf(entry, theme));
}

/** Titles of the columns of the tracks. Columns in `TEXTS` are aligned to the left. */
const TITLES = ["Track", "Rank", "Run", "Score", "Processor time", "Author", "Chip"];
const TEXTS = ["Track", "Run", "Author", "Chip"];

/** Returns the rows of a track, one per entry. A track without an entry has one row. */
function rows({ title, rule, entries }: Track, rowOf: (entry: Entry) => HTMLElement[]): HTMLElement[] {
  const track = h("th.text", { scope: "rowgroup", rowspan: Math.max(1, entries.length) }, h("p", title), h("p.small", rule));
  if (entries.length === 0) return [h("tr", track, h("td.text", { colspan: TITLES.length - 1 }, "No entry yet."))];
  return entries.map((entry, k) => h("tr", k === 0 && track, h("td", String(k + 1)), rowOf(entry)));
}

/** Creates the list of all tracks with their entries. */
function list(): HTMLElement {
  const rowOf =
    (track: Track) =>
    (entry: Entry): HTMLElement[] => [
      h("td.text", h("a", { href: checkedLink(entry) }, entry.title)),
      h("td", scoreText(entry, track)),
      h("td", `${entry.cpu_seconds} s`),
      h("td.text", entry.author),
      h("td.text", trainedOn(entry)),
    ];
  const heads = TITLES.map((title) => h("th", { scope: "col", class: TEXTS.includes(title) && "text" }, title));
  const bodies = TRACKS.map((track) => h("tbody", rows(track, rowOf(track))));
  const table = h("table", h("thead", h("tr", heads)), bodies);
  return h("section.card.track", h("div.scroll", { tabindex: 0, role: "region", "aria-label": "Tracks" }, table));
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
  const entries = h("ul.entries", ...ENTRIES.map(entry));
  const tracks = h("div.tracks", list(), own());
  const tabs = new Tabs("Gallery", [
    { name: "entries", title: "Runs", element: entries },
    { name: "tracks", title: "Tracks", element: tracks },
  ]);
  return h("main.gallery", { id: "main", tabindex: -1 }, [
    h("div.intro", [
      h("h1", "Gallery"),
      h("p.lead", "Runs that anyone can verify. Open one: this device trains it again, and a badge shows whether every bit is the same."),
      ...FAULTS.map((fault) => h("p", fault)),
    ]),
    tabs.list,
    ...tabs.panels,
  ]);
}
