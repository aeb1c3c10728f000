// What the worker of any room has: a loop that wakes and sleeps between messages, and a save for whoever asked. It refuses to
// know what a run is.

import { inWords, isNotice, type Refusal } from "./notice";
import type { Value } from "./protocol";

/** How long a worker works before it looks for messages. */
export const BURST_MS = 4;
/** The GPU's answer wakes the loop; it looks by itself after so long, should none come. */
export const LOOK_MS = 250;

export class Loop {
  private readonly channel = new MessageChannel();
  private due = false;
  private sleeper: ReturnType<typeof setTimeout> | undefined;

  constructor(turn: () => void) {
    this.channel.port1.onmessage = () => {
      this.due = false;
      turn();
    };
  }

  readonly wake = (): void => {
    clearTimeout(this.sleeper);
    if (this.due) return;
    this.due = true;
    this.channel.port2.postMessage(null);
  };

  sleep(ms: number): void {
    this.sleeper = setTimeout(this.wake, ms);
  }
}

export type Given =
  | { kind: "autosave"; bytes: Uint8Array }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "refused"; id: number; text: string };

export type Change = { id: number; name: string; value: Value };
/** A question of the page by its number, the page's command, the autosave, or a change. */
type Asker = number | "command" | "autosave" | Change;

export class Saves {
  private waiting: Asker[] = [];

  constructor(
    private readonly begin: () => void,
    private readonly give: (given: Given, transfer: Transferable[]) => void,
    private readonly change: (name: string, value: Value) => void,
  ) {}

  /** A change waits for the boundary at which the run is saved. */
  get holdsChange(): boolean {
    return this.waiting.some((who) => typeof who === "object");
  }

  ask(who: Asker): void {
    this.waiting.push(who);
    if (this.waiting.length === 1) this.askAgain();
  }

  /** Tells whoever asked, but for the autosave, which nobody waits for; true when it was the page's own command. */
  refuse(why: Refusal): boolean {
    const asked = this.take();
    for (const who of asked) {
      const id = idOf(who);
      if (id !== undefined) this.give({ kind: "refused", id, text: inWords(why) }, []);
    }
    this.makeChanges(asked);
    return asked.includes("command");
  }

  /** Gives a save to whoever asked; true when it was the page's own command. */
  deliver(bytes: Uint8Array): boolean {
    const asked = this.take();
    // Where one alone asked, so many bytes go over without being copied.
    const transfer = asked.length === 1 && asked[0] !== "command" ? [bytes.buffer] : [];
    for (const who of asked) {
      const id = idOf(who);
      if (id !== undefined) this.give({ kind: "answer", id, value: bytes }, transfer);
      else if (who === "autosave") this.give({ kind: "autosave", bytes }, transfer);
    }
    this.makeChanges(asked);
    return asked.includes("command");
  }

  /** A reset or a restore drops a save that was still waiting for its boundary. */
  askAgain(): void {
    try {
      if (this.waiting.length) this.begin();
    } catch (error) {
      if (!isNotice(error)) throw error;
      if (this.refuse(error)) throw error; // the page shows it
    }
  }

  private take(): Asker[] {
    return this.waiting.splice(0);
  }

  private makeChanges(asked: Asker[]): void {
    for (const who of asked) if (typeof who === "object") this.change(who.name, who.value);
  }
}

function idOf(who: Asker): number | undefined {
  if (typeof who === "object") return who.id;
  return typeof who === "number" ? who : undefined;
}
