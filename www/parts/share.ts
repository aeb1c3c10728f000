// Dialog to save and share a run: files, links, the command for a terminal, and runs of earlier visits. It does not depend on the room.

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

export interface ShareActions {
  /** Text about the contents of a saved run and of a link in this room. */
  about: string;
  csv(): string;
  fileName(): string;
  load(file: File): void;
  /** Continues a run that this browser has stored. */
  resume(bytes: Uint8Array): void;
}

export class Share {
  readonly element: HTMLElement;
  private readonly link = h("button", "Copy link");
  private readonly linkNote = h("p.small", { role: "status", hidden: true });
  private readonly native = new Dialog("Run it natively");
  private readonly nativeBody = h("div");
  private readonly resume = h("div");
  private savedAs: string | undefined;

  constructor(
    private readonly run: Run,
    private readonly actions: ShareActions,
    private readonly around: { notices: Notices; announcer: Announcer },
  ) {
    this.native.element.append(this.nativeBody);
    this.link.addEventListener("click", () => void this.copyLink());
    const kept = run.keptRuns.map(({ bytes, savedAtMs }, k) =>
      h("p.row", [
        h("button", { onclick: () => actions.resume(bytes) }, k === 0 ? "Continue your last visit" : "Continue the visit before"),
        h("span.small", `saved in this browser ${ago(savedAtMs)}`),
      ]),
    );
    this.element = h("div", [
      h("p", actions.about),
      h("div.row", [
        h("button", { onclick: () => void this.save() }, "Save run"),
        chooser("Load run", (file) => actions.load(file)),
        this.link,
        h("button", { onclick: () => void this.showNative() }, "Run it natively"),
        h("button", { onclick: () => this.saveCurves() }, "Curves as CSV"),
      ]),
      this.linkNote,
      ...kept,
      h("p.small", "A file can also be dropped anywhere on the page."),
    ]);
  }

  private async save(): Promise<void> {
    const { announcer, notices } = this.around;
    try {
      const bytes = await this.run.save();
      this.savedAs = this.actions.fileName();
      download(this.savedAs, bytes);
      this.writeResume();
      announcer.say("Run saved.");
    } catch (error) {
      notices.show("error", `The run could not be saved: ${textOf(error)}`, "Try again. Training continues.");
    }
  }

  private saveCurves(): void {
    const name = this.actions.fileName().replace(/\.[a-z]+$/, ".csv");
    download(name, this.actions.csv());
    this.around.announcer.say("Curves saved.");
  }

  private async showNative(): Promise<void> {
    const { command, changes, limits } = await this.run.shared();
    const repeated = changes ? ` It repeats ${changesInWords(changes)}, ${inTime(changes)}.` : "";
    this.nativeBody.replaceChildren(
      h("p", `The same run at full speed, in a clone of the repository with Rust installed.${repeated}`),
      copyField("Command", command),
      ...limits.map((limit) => h("p.small", limit)),
      h("p", "To continue from the current state, save the run and resume the file:"),
      h("p", h("button", { onclick: () => void this.save() }, "Save run")),
      this.resume,
    );
    this.writeResume();
    this.native.open();
  }

  /** Shows the command that resumes the last saved file. Before the first save it contains the name that the file would have. */
  private writeResume(): void {
    this.resume.replaceChildren(
      copyField("Resume command", `cargo run --release -- resume ${quoted(this.savedAs ?? this.actions.fileName())}`),
    );
  }

  private async copyLink(): Promise<void> {
    const shared = await this.run.shared();
    const link = new URL(location.pathname + shared.link, location.href).href;
    this.linkNote.hidden = false;
    this.linkNote.textContent = inWords(shared);
    if (await copy(link)) {
      this.link.textContent = "Link copied";
      this.around.announcer.say("Link copied");
      setTimeout(() => (this.link.textContent = "Copy link"), 2000);
      return;
    }
    const dialog = new Dialog(
      "A link to this run",
      h("p", "The browser denied access to the clipboard. Copy the link from here."),
      copyField("Link", link),
    );
    dialog.element.addEventListener("close", () => dialog.element.remove());
    dialog.open();
  }
}

const changesInWords = (changes: number): string => (changes === 1 ? "one live change of a knob" : `${changes} live changes of knobs`);
const inTime = (changes: number): string => (changes === 1 ? "at its iteration" : "each at its iteration");

/** Describes the contents and limits of a link. */
function inWords({ changes, checked_at, limits }: Shared): string {
  const contents = `The link contains the settings and the seed${changes ? `, and ${changesInWords(changes)}, ${inTime(changes)}` : ""}.`;
  const checked = checked_at === null ? "" : ` After ${checked_at} iterations the page checks that the run was reproduced.`;
  return [contents + checked, ...limits].join(" ");
}
