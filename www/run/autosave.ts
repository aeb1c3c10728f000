// Autosave of a run. Only one tab per room writes autosaves to the browser's database.

import type { Line } from "./line";
import { textOf } from "./notice";
import type { Level } from "./protocol";
import { saveRun, type SavedRun } from "./store";

/** Interval between autosaves of a run whose save is small. */
const AUTOSAVE_MS = 10_000;
/** Increase of the interval per byte of the latest autosave, in ms. */
const AUTOSAVE_MS_PER_BYTE = 1e-3;
/**
 * Time without the lock after which the lock counts as held by another tab. After a reload, the old page may still hold the lock for a
 * moment.
 */
const OTHERS_MS = 2000;

export type Notice = (level: Level, text: string, nextStep: string) => void;

export class Autosave {
  /** Latest save of the run; undefined before the first save. */
  newest: SavedRun | undefined;
  /** True if this tab holds the room's autosave lock. */
  private storing = false;

  constructor(
    private readonly room: string,
    private readonly line: Line,
    private readonly notice: Notice,
  ) {}

  /** Requests an autosave periodically and when the page is hidden. */
  begin(): void {
    const { closed: signal } = this.line;
    const request = (): void => this.line.send({ kind: "autosave" });
    let timer: ReturnType<typeof setTimeout>;
    const again = (): void => {
      timer = setTimeout(() => (request(), again()), AUTOSAVE_MS + AUTOSAVE_MS_PER_BYTE * (this.newest?.bytes.length ?? 0));
    };
    again();
    document.addEventListener("visibilitychange", () => document.hidden && request(), { signal });
    addEventListener("pagehide", request, { signal });
    signal.addEventListener("abort", () => clearTimeout(timer));
    this.own();
  }

  async store(run: SavedRun): Promise<void> {
    if (!this.storing) return;
    await saveRun(this.room, run).catch((error) => {
      this.storing = false;
      this.notice(
        "warning",
        `This browser could not store the run (${textOf(error)}).`,
        "Training continues. Save the run to a file before you close the page.",
      );
    });
  }

  /** Acquires the room's autosave lock. If another tab holds the lock, shows a notice and waits until the other tab closes. */
  private own(): void {
    const { closed: signal } = this.line;
    const released = new Promise<void>((release) => signal.addEventListener("abort", () => release()));
    const own = () => {
      this.storing = true;
      return released;
    };
    if (!("locks" in navigator)) {
      own(); // without locks, other tabs cannot be detected
      return;
    }
    const others = setTimeout(
      () =>
        this.notice(
          "info",
          "Hothouse is open in another tab, and that tab stores the autosave.",
          "This run trains too. Save it to a file to keep it.",
        ),
      OTHERS_MS,
    );
    const end = (): void => clearTimeout(others);
    signal.addEventListener("abort", end);
    navigator.locks
      .request(`hothouse-autosave-${this.room}`, { signal }, () => (end(), own()))
      .catch(() => {
        end();
        if (!signal.aborted) own(); // this browser refuses locks
      });
  }
}
