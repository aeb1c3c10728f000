// Where a run leaves the page and comes back: a file, a link, the command for a terminal, and what earlier visits left. It
// refuses to know what a run is.

import type { Announcer } from "./announce";
import { copy, copyField, Dialog } from "./dialog";
import { h } from "./dom";
import { chooser, download } from "./files";
import { ago } from "./format";
import type { Notices } from "./notices";
import { quoted } from "./shell";
import { textOf } from "../run/notice";
import type { Shared } from "../run/protocol";

export interface Run {
  readonly keptRuns: { bytes: Uint8Array; savedAtMs: number }[];
  save(): Promise<Uint8Array>;
  shared(): Promise<Shared>;
}

export interface Does {
  /** What a saved run of this room holds, and what a link does. */
  about: string;
  csv(): string;
  fileName(): string;
  load(file: File): void;
  /** Takes up a run that this browser kept. */
  goOn(bytes: Uint8Array): void;
}

export class Share {
  readonly element: HTMLElement;
  private readonly link = h("button", "Copy link");
  private readonly carried = h("p.small", { role: "status", hidden: true });
  private readonly native = new Dialog("Run it natively");
  private readonly nativeBody = h("div");
  private readonly resume = h("div");
  private savedAs: string | undefined;

  constructor(
    private readonly run: Run,
    private readonly does: Does,
    private readonly around: { notices: Notices; announcer: Announcer },
  ) {
    this.native.element.append(this.nativeBody);
    this.link.addEventListener("click", () => void this.copyLink());
    const kept = run.keptRuns.map(({ bytes, savedAtMs }, k) =>
      h("p.row", [
        h("button", { onclick: () => does.goOn(bytes) }, k === 0 ? "Go on from your last visit" : "Go on from the visit before"),
        h("span.small", `kept in this browser ${ago(savedAtMs)}`),
      ]),
    );
    this.element = h("div", [
      h("p", does.about),
      h("div.row", [
        h("button", { onclick: () => void this.save() }, "Save run"),
        chooser("Load run", (file) => does.load(file)),
        this.link,
        h("button", { onclick: () => void this.showNative() }, "Run it natively"),
        h("button", { onclick: () => this.saveCurves() }, "Curves as CSV"),
      ]),
      this.carried,
      ...kept,
      h("p.small", "A file can also be dropped anywhere on the page."),
    ]);
  }

  private async save(): Promise<void> {
    const { announcer, notices } = this.around;
    try {
      const bytes = await this.run.save();
      this.savedAs = this.does.fileName();
      download(this.savedAs, bytes);
      this.writeResume();
      announcer.say("The run is saved.");
    } catch (error) {
      notices.show("error", `The run could not be saved: ${textOf(error)}`, "Try again; training goes on.");
    }
  }

  private saveCurves(): void {
    const name = this.does.fileName().replace(/\.[a-z]+$/, ".csv");
    download(name, this.does.csv());
    this.around.announcer.say("The curves are saved.");
  }

  private async showNative(): Promise<void> {
    const { command, changes, limits } = await this.run.shared();
    const again = changes ? ` It makes ${changesInWords(changes)} again, ${inTime(changes)}.` : "";
    this.nativeBody.replaceChildren(
      h("p", `The same run at the full speed of this machine: in a copy of the repository, with Rust installed.${again}`),
      copyField("Command", command),
      ...limits.map((limit) => h("p.small", limit)),
      h("p", "To go on from here instead of from the start, save the run and resume the file:"),
      h("p", h("button", { onclick: () => void this.save() }, "Save run")),
      this.resume,
    );
    this.writeResume();
    this.native.open();
  }

  /** The command that goes on from the file last saved, or from the one that a save would write now. */
  private writeResume(): void {
    this.resume.replaceChildren(
      copyField("Resume command", `cargo run --release -- resume ${quoted(this.savedAs ?? this.does.fileName())}`),
    );
  }

  private async copyLink(): Promise<void> {
    const shared = await this.run.shared();
    const link = new URL(location.pathname + shared.link, location.href).href;
    this.carried.hidden = false;
    this.carried.textContent = inWords(shared);
    if (await copy(link)) {
      this.link.textContent = "Link copied";
      this.around.announcer.say("Link copied");
      setTimeout(() => (this.link.textContent = "Copy link"), 2000);
      return;
    }
    const dialog = new Dialog(
      "A link to this run",
      h("p", "The browser refused the clipboard. Copy the link from here."),
      copyField("Link", link),
    );
    dialog.element.addEventListener("close", () => dialog.element.remove());
    dialog.open();
  }
}

const changesInWords = (changes: number): string => (changes === 1 ? "one live change of a knob" : `${changes} live changes of knobs`);
const inTime = (changes: number): string => (changes === 1 ? "at its iteration" : "each at its iteration");

/** What a link carries, and what it cannot. */
function inWords({ changes, checked_at, limits }: Shared): string {
  const carries = `The link carries the settings and the seed${changes ? `, and ${changesInWords(changes)}, ${inTime(changes)}` : ""}.`;
  const checked = checked_at === null ? "" : ` Whoever opens it is told after ${checked_at} iterations whether the run was reproduced.`;
  return [carries + checked, ...limits].join(" ");
}
