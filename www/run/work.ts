// What the worker of any room has: a loop that wakes and sleeps between messages, and a save for whoever asked. It refuses to
// know what a run is.

import { inWords, isNotice, type Refusal } from "./notice";

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

/** A question of the page by its number, or the autosave, which nobody waits for. */
type Asker = number | "autosave";

export class Saves {
  private waiting: Asker[] = [];

  constructor(
    private readonly begin: () => void,
    private readonly give: (given: Given, transfer: Transferable[]) => void,
  ) {}

  ask(who: Asker): void {
    this.waiting.push(who);
    if (this.waiting.length === 1) this.askAgain();
  }

  refuse(why: Refusal): void {
    for (const who of this.waiting.splice(0)) if (who !== "autosave") this.give({ kind: "refused", id: who, text: inWords(why) }, []);
  }

  deliver(bytes: Uint8Array): void {
    const asked = this.waiting.splice(0);
    // Where one alone asked, so many bytes go over without being copied.
    const transfer = asked.length === 1 ? [bytes.buffer] : [];
    for (const who of asked) this.give(who === "autosave" ? { kind: who, bytes } : { kind: "answer", id: who, value: bytes }, transfer);
  }

  /** A reset or a restore drops a save that was still waiting for its boundary. */
  askAgain(): void {
    try {
      if (this.waiting.length) this.begin();
    } catch (error) {
      if (!isNotice(error)) throw error;
      this.refuse(error);
    }
  }
}
