// Two classes for every room's worker: a loop that works between messages, and a queue of save requests. Both are independent of the room.

import { inWords, isNotice, type Refusal } from "./notice";

/** Maximum time of work between two checks for messages. */
export const BURST_MS = 4;
/** Interval at which the loop checks for the GPU's answer. Normally the answer wakes the loop earlier. */
export const POLL_MS = 250;

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

export type SaveReply =
  | { kind: "autosave"; bytes: Uint8Array }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "refused"; id: number; text: string };

/** Requester of a save: the id of a question from the page, or the autosave. */
type Requester = number | "autosave";

export class Saves {
  private waiting: Requester[] = [];

  constructor(
    private readonly begin: () => void,
    private readonly reply: (message: SaveReply, transfer: Transferable[]) => void,
  ) {}

  /** True if only the autosave waits. */
  get isAutomatic(): boolean {
    return this.waiting.every((requester) => requester === "autosave");
  }

  request(requester: Requester): void {
    this.waiting.push(requester);
    if (this.waiting.length === 1) this.retry();
  }

  refuse(why: Refusal): void {
    for (const id of this.waiting.splice(0)) if (id !== "autosave") this.reply({ kind: "refused", id, text: inWords(why) }, []);
  }

  deliver(bytes: Uint8Array): void {
    const requesters = this.waiting.splice(0);
    // The bytes can be transferred without a copy only if there is a single requester.
    const transfer = requesters.length === 1 ? [bytes.buffer] : [];
    for (const id of requesters) this.reply(id === "autosave" ? { kind: id, bytes } : { kind: "answer", id, value: bytes }, transfer);
  }

  /**
   * Requests the save again if requesters are waiting. Call this method after a reset or a restore, because these commands drop a save that
   * waits for the end of an iteration.
   */
  retry(): void {
    try {
      if (this.waiting.length) this.begin();
    } catch (error) {
      if (!isNotice(error)) throw error;
      this.refuse(error);
    }
  }
}
