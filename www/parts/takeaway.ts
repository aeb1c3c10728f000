// Where a run leaves the page and comes back: a file, a link, the command for a terminal, and what earlier visits left. It
// refuses to know what a run is.

import { copy, copyField, Dialog } from "./dialog";
import { h } from "./dom";
import { chooser } from "./files";
import { ago } from "./format";

export interface Run {
  readonly keptRuns: { bytes: Uint8Array; savedAtMs: number }[];
  permalink(): Promise<string>;
}

export interface Does {
  /** What a saved run of this room holds, and what a link does. */
  about: string;
  save(): void;
  load(name: string, bytes: Uint8Array): void;
  /** Takes up a run that this browser kept. */
  goOn(bytes: Uint8Array): void;
  native(): void;
  say(words: string): void;
}

export function takeAway(run: Run, does: Does): HTMLElement {
  const link = h("button", { type: "button" }, "Copy link");
  link.addEventListener("click", () => void copyLink(run, link, does.say));
  const kept = run.keptRuns.map(({ bytes, savedAtMs }, k) =>
    h(
      "p",
      { class: "row" },
      h("button", { type: "button", onclick: () => does.goOn(bytes) }, k === 0 ? "Go on from your last visit" : "Go on from the visit before"),
      h("span", { class: "small" }, `kept in this browser ${ago(savedAtMs)}`),
    ),
  );
  return h(
    "div",
    {},
    h("p", {}, does.about),
    h(
      "div",
      { class: "row" },
      h("button", { type: "button", onclick: () => does.save() }, "Save run"),
      chooser("Load run", (name, bytes) => does.load(name, bytes)),
      link,
      h("button", { type: "button", onclick: () => does.native() }, "Run it natively"),
    ),
    ...kept,
    h("p", { class: "small" }, "A file can also be dropped anywhere on the page."),
  );
}

async function copyLink(run: Run, button: HTMLButtonElement, say: (words: string) => void): Promise<void> {
  const link = new URL(location.pathname + (await run.permalink()), location.href).href;
  if (await copy(link)) {
    button.textContent = "Link copied";
    say("Link copied");
    setTimeout(() => (button.textContent = "Copy link"), 2000);
    return;
  }
  const dialog = new Dialog("A link to this run", h("p", {}, "The browser refused the clipboard. Copy the link from here."), copyField("Link", link));
  dialog.element.addEventListener("close", () => dialog.remove());
  dialog.open();
}
