// Two sections of a tab: files, links and runs of earlier visits; and the commands that start the same run in a terminal and in Python.

import type { Announcer } from "./announce";
import { copy, copyField, Dialog } from "./dialog";
import { button, h } from "./dom";
import { chooser, download } from "./files";
import { ago } from "./format";
import type { Notices } from "./notices";
import { quoted } from "./shell";
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
  /** Files and links. */
  readonly files: HTMLElement;
  /** Commands for a terminal and for Python. */
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

  /** Writes the commands for the present state of the run. Called when the commands are shown. */
  async showCommands(): Promise<void> {
    const config = this.actions.config();
    if (!config) return;
    const shared = await this.run.shared().catch(() => undefined);
    if (!shared) return; // the room is closed
    const { command, changes, limits } = shared;
    const file = this.savedAs ?? this.actions.fileName();
    const repeats =
      changes > 0 && `The command repeats ${changesInWords(changes)}, ${inTime(changes)}. The Python call does not; a saved run does.`;
    this.commands.replaceChildren(
      h("h3", "Terminal"),
      h("p.small", "In a clone of the repository, with Rust installed. Read docs/cli.md there."),
      copyField("Command", command),
      copyField("Resume command", `cargo run --release -- resume ${quoted(file)}`),
      h("h3", "Python"),
      h("p.small", "After pip install hothouse-rl and import hothouse. Read docs/python.md in the repository."),
      copyField("Python", python(config)),
      copyField("Resume in Python", `hothouse.Run.restore(${JSON.stringify(file)})`),
      h(
        "p.row",
        button("Save run", () => this.save()),
        h("span.small", `writes the file ${file} with the present state.`),
      ),
      ...[repeats, ...limits].flatMap((words) => (words ? [h("p.small", words)] : [])),
    );
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

/** Returns the expression that starts a run of this config in Python, without live changes. */
function python({ room, variant, seed, knobs, data }: Config): string {
  const of = (value: unknown): string => JSON.stringify(value);
  const set = Object.entries(knobs).map(([name, value]) => `${of(name)}: ${of(value)}`);
  const parts = [of(room), `variant=${of(variant)}`, `seed=${seed}`];
  if (set.length) parts.push(`knobs={${set.join(", ")}}`);
  if (data) parts.push(`data=${of(data.name)}`);
  return `hothouse.Run(${parts.join(", ")})`;
}

/** Describes the contents and limits of a link. */
function inWords({ changes, checked_at, limits }: Shared): string {
  const contents = `The link contains the settings and the seed${changes ? `, and ${changesInWords(changes)}, ${inTime(changes)}` : ""}.`;
  const checked = checked_at === null ? "" : ` After ${checked_at} iterations the page checks that the run was reproduced.`;
  return [contents + checked, ...limits].join(" ");
}
