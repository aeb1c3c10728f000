// The autosave of a run: how often it is asked for, and which tab keeps that of a room in the browser's storage.

import type { Line } from "./line";
import { textOf } from "./notice";
import type { Level } from "./protocol";
import { saveRun, type Left } from "./store";

/** How often a run is kept; what is large is written more seldom. */
const AUTOSAVE_MS = 10_000;
const AUTOSAVE_MS_PER_BYTE = 1e-3;

export type Notice = (level: Level, text: string, nextStep: string) => void;

export class Autosave {
  /** The run as it was last saved. */
  newest: Left | undefined;
  /** This tab keeps the room's. */
  private storing = false;

  constructor(
    private readonly room: string,
    private readonly line: Line,
    private readonly notice: Notice,
  ) {}

  /** Asks for it from time to time, and when the page goes out of sight. */
  begin(): void {
    const { closed: signal } = this.line;
    const ask = (): void => this.line.send({ kind: "autosave" });
    let timer: ReturnType<typeof setTimeout>;
    const again = (): void => {
      timer = setTimeout(() => (ask(), again()), AUTOSAVE_MS + AUTOSAVE_MS_PER_BYTE * (this.newest?.bytes.length ?? 0));
    };
    again();
    document.addEventListener("visibilitychange", () => document.hidden && ask(), { signal });
    addEventListener("pagehide", ask, { signal });
    signal.addEventListener("abort", () => clearTimeout(timer));
    this.own();
  }

  async store(run: Left): Promise<void> {
    if (!this.storing) return;
    await saveRun(this.room, run).catch((error) => {
      this.storing = false;
      this.notice(
        "warning",
        `This browser refused to store the run (${textOf(error)}).`,
        "Training goes on; save it to a file before you close the page.",
      );
    });
  }

  /** One tab keeps the autosave of a room; another says so, and takes over when the first is closed. */
  private own(): void {
    const { closed: signal } = this.line;
    const released = new Promise<void>((release) => signal.addEventListener("abort", () => release()));
    const own = () => {
      this.storing = true;
      return released;
    };
    if (!("locks" in navigator)) {
      own(); // then no other tab can be asked either
      return;
    }
    const name = `hothouse-autosave-${this.room}`;
    const first = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock) return own();
      this.notice(
        "info",
        "Hothouse is open in another tab, and that tab keeps the autosave.",
        "This run trains as well; save it to a file to keep it.",
      );
      navigator.locks.request(name, { signal }, own).catch(() => {}); // closed before its turn came
    });
    first.catch(own);
  }
}
