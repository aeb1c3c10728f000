// The gallery: an entry per run with its picture and curve, and a table per track. A click on an entry opens its run. While the run trains,
// the page compares it with the entry.

import { copyField } from "../parts/dialog";
import { h } from "../parts/dom";
import { Tabs } from "../parts/tabs";
import { card, scoreText } from "./card";
import { ENTRIES, FAULTS, pictureOf, TRACKS, type Track } from "./entries";
import { checkedLink, type Entry } from "./entry";
import "./gallery.css";

function entry(entry: Entry): HTMLElement {
  const track = TRACKS.find(({ id }) => id === entry.track);
  return card(entry, track, (theme) => pictureOf(entry, theme));
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
  const entries = h("ul.entries", ...ENTRIES.map(entry));
  const tracks = h("div.tracks", ...TRACKS.map(table), own());
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
