// Badge of a run that was opened from a link with a digest. It shows whether the run is reproduced. Its dialog lists what was compared.

import type { Client } from "../run/client";
import type { Event as RunEvent } from "../run/protocol";
import type { Announcer } from "../parts/announce";
import { Dialog } from "../parts/dialog";
import { facts, h, write } from "../parts/dom";
import { capital, plural, short } from "../parts/format";
import { Check, digestIn, type State } from "./check";
import { entryOf } from "./entries";
import { trainedOn } from "./entry";

const WORDS: Record<State, string> = {
  checking: "Checking",
  reproduced: "Reproduced",
  partial: "Partly reproduced",
  different: "Not reproduced",
  incomparable: "Not comparable",
  void: "Changed",
};

export class Claim {
  private readonly words = h("span");
  readonly button = h("button.quiet.claim", { hidden: true, title: "What the link states, and what this run reached" }, this.words);
  private readonly state = h("p", { role: "status" });
  private readonly facts = h("dl.facts");
  /** Number of runs that have begun. */
  private runs = 0;
  /** State that was announced last. */
  private said: State = "checking";
  private readonly dialog: Dialog;

  private constructor(
    private readonly check: Check,
    private readonly client: Client,
    private readonly announcer: Announcer,
  ) {
    const { entry } = check;
    this.dialog = new Dialog(
      entry?.title ?? "The run of a link",
      entry ? [h("p.small", `by ${entry.author}`), h("p", entry.text)] : h("p", "The link contains a digest of the weights."),
      this.state,
      this.facts,
      h("p", h("a", { href: "#/gallery" }, "Gallery")),
    );
    this.button.addEventListener("click", () => {
      this.dialog.open();
      this.list();
    });
    client.onEvent((event) => this.take(event));
  }

  /** Returns the badge for the run of a link; undefined if the link contains no digest. */
  static of(link: string, client: Client, announcer: Announcer): Claim | undefined {
    const digest = digestIn(link);
    return digest && new Claim(new Check(link, digest, entryOf(link), client.room), client, announcer);
  }

  private take(event: RunEvent): void {
    if (event.kind === "began") this.runs++;
    // A further run on this page is not the run of the link.
    if (this.runs > 1) return this.button.remove();
    this.check.take(event);
    // The microtask runs after the other events of the same message, as `settle` requires.
    queueMicrotask(() => this.show());
  }

  private show(): void {
    const { check } = this;
    check.settle();
    const share = Math.min(99, Math.floor((100 * check.iteration) / check.last));
    this.button.hidden = false;
    this.button.dataset.state = check.state;
    write(this.words, check.state === "checking" ? `Checking ${share}%` : WORDS[check.state]);
    if (check.state !== this.said) this.announcer.say(this.sentence());
    this.said = check.state;
    if (this.dialog.element.open) this.list();
  }

  /** Writes the content of the dialog. */
  private list(): void {
    write(this.state, this.sentence());
    this.facts.replaceChildren(...facts(this.rows()));
  }

  private sentence(): string {
    const { entry, state, reason, last } = this.check;
    const word = this.client.room.iteration_word;
    const what = entry ? "all values are those of the entry, and the weights are equal" : "the weights are those of the link";
    if (state === "reproduced") return `Reproduced: after ${last} ${word}s ${what}, bit for bit.`;
    if (state === "checking") return `Checking: ${this.check.iteration} of ${last} ${word}s are done.`;
    return `${WORDS[state]}. ${reason}`;
  }

  private rows(): [string, string][] {
    const { digests, equal, entry, points } = this.check;
    const rows: [string, string][] = [["Digests", `${equal.digests} of ${digests.length} are equal`]];
    if (!entry) return rows;
    const [counter] = this.client.room.counters;
    const after = entry.solved?.[counter!.name] ?? 0;
    const word = (group: "end" | "test" | "solved"): string => (equal.groups.has(group) ? "as stated" : "not seen");
    if (points > 0) rows.push(["Curve", `${equal.points} of ${points} points are equal`]);
    rows.push(["End", word("end")], ["Test", word("test")]);
    rows.push(["Solved", `${entry.solved ? `after ${short(after)} ${plural(counter!)}` : "never"}, ${word("solved")}`]);
    rows.push(["Trained on", `${trainedOn(entry)}, ${entry.cpu_seconds} s of processor time`]);
    return rows.map(([name, value]) => [capital(name), value]);
  }
}
