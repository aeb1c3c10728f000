// Two sections of a tab: files, links and runs of earlier visits; and the commands that start the same run in a terminal and in Python.

import type { Announcer } from "./announce";
import { copy, copyField, Dialog } from "./dialog";
import { button, h } from "./dom";
import { chooser, download } from "./files";
import { ago } from "./format";
import type { Notices } from "./notices";
import { textOf } from "../run/notice";
import type { Config, Shared } from "../run/protocol";

export interface Run {
  readonly keptRuns: { bytes: Uint8Array; savedAtMs: number }[];
  save(): Promise<Uint8Array>;
  shared(): Promise<Shared>;
}

export interface ShareActions {
  /** Text about the contents of a saved run and of a link in this room. */
  about: string;
  config(): Config | undefined;
  csv(): string;
  fileName(): string;
  load(file: File): void;
  /** Continues a run that this browser has stored. */
  resume(bytes: Uint8Array): void;
}

export class Share {
  /** Section with files, links and runs of earlier visits. */
  readonly files: HTMLElement;
  /** Section with the commands for a terminal and for Python. */
  readonly commands = h("div.commands");
  private readonly link = button("Copy link", () => this.copyLink());
  private readonly linkNote = h("p.small", { role: "status", hidden: true });
  private savedAs: string | undefined;

  constructor(
    private readonly run: Run,
    private readonly actions: ShareActions,
    private readonly around: { notices: Notices; announcer: Announcer },
  ) {
    const kept = run.keptRuns.map(({ bytes, savedAtMs }, k) =>
      h("p.row", [
        button(k === 0 ? "Continue your last visit" : "Continue the visit before", () => actions.resume(bytes)),
        h("span.small", `saved in this browser ${ago(savedAtMs)}`),
      ]),
    );
    this.files = h("div.saving", [
      h("p", actions.about),
      h("div.row", [
        this.link,
        button("Save run", () => this.save()),
        chooser("Load run", (file) => actions.load(file)),
        button("Curves as CSV", () => this.saveCurves()),
      ]),
      this.linkNote,
      ...kept,
      h("p.small", "A file can also be dropped anywhere on the page."),
    ]);
  }

  /** Name of the file that was saved last. Before the first save, the name that the file would have now. */
  get fileName(): string {
    return this.savedAs ?? this.actions.fileName();
  }

  /** Writes the commands for the current state of the run. Called when the commands are shown. */
  async showCommands(): Promise<void> {
    const config = this.actions.config();
    if (!config) return;
    const shared = await this.run.shared().catch(() => undefined);
    if (!shared) return; // the room is closed
    const { commandsOf } = await import("./shared");
    const saving = button("Save run", () => this.save());
    this.commands.replaceChildren(...commandsOf(config, shared, this.fileName, saving));
  }

  /** Called when another run begins. The saved file does not contain this run. */
  begin(): void {
    this.savedAs = undefined;
    this.renew();
  }

  /** Updates the commands after a change of the run. */
  renew(): void {
    if (this.commands.checkVisibility()) void this.showCommands();
  }

  private async save(): Promise<void> {
    const { announcer, notices } = this.around;
    try {
      const bytes = await this.run.save();
      this.savedAs = this.actions.fileName();
      download(this.savedAs, bytes);
      this.renew();
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

  private async copyLink(): Promise<void> {
    const [shared, { inWords }] = await Promise.all([this.run.shared(), import("./shared")]);
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
