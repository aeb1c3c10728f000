// Reads the text of an element of the page, and reads it again as the model learns.

import { animate } from "../../parts/loop";
import { reason, Turns } from "../../parts/requests";
import type { WordsClient } from "./client";
import type { AboutView, ModelView } from "./protocol";
import { readWindows, windowsOf, type Reading, type Window } from "./read";
import { pieces, type Piece } from "./tokens";

const LOOK_MS = 100;
/** Minimum pause before the same text is read again. */
const AGAIN_MS = 900;
/** Minimum pause as a multiple of the duration of the last reading. The longer of `AGAIN_MS` and this pause applies. */
const AGAIN_TIMES = 16;

export type Read = { text: string; pieces: Piece[]; windows: Window[]; reading: Reading };

export interface Reads {
  /** Returns the current text. */
  text(): string;
  /** Called after each reading, and when the last reading is discarded. */
  changed(): void;
  /**
   * Called after each attempt to read the text. `words` is the reason why the text cannot be read, or an empty string if it has been read.
   */
  refused?(words: string): void;
  /** Returns true if an unchanged text need not be read again. */
  rests?(): boolean;
  /** Called with the last reading of the text. It is also called if `rests` has prevented a new reading. */
  read?(read: Read, stale: () => boolean): Promise<void>;
}

export class Reader {
  model: ModelView | undefined;
  /** The last reading. Its text may differ from the current text. */
  last: Read | undefined;
  /** Tests whether a cut before a piece leaves the tokens unchanged. */
  private opens = (_: Piece): boolean => true;
  /** Text of the last request. */
  private asked: string | undefined;
  private asking = false;
  private againMs = 0;
  private readonly runs = new Turns();

  constructor(
    private readonly client: WordsClient,
    element: HTMLElement,
    private readonly does: Reads,
  ) {
    animate(element, () => void this.look(), LOOK_MS);
  }

  begin(): void {
    this.runs.take();
    this.model = this.asked = undefined;
    this.forget();
  }

  ready({ model, corpus }: AboutView): void {
    if (!model || !corpus) return;
    this.model = model;
    this.opens = corpus.tokenizer === "bpe" ? ({ text }) => /^\s/.test(text) : () => true;
  }

  /** Ends the pause before the same text is read again. */
  soon(): void {
    this.againMs = 0;
  }

  private async look(): Promise<void> {
    const { model } = this;
    const text = this.does.text();
    const beganMs = performance.now();
    if (this.asking || !model || document.hidden || (text === this.asked && beganMs < this.againMs)) return;
    const stale = this.runs.stale();
    this.asking = true;
    this.asked = text;
    this.againMs = Infinity;
    try {
      await this.ask(text, model, stale);
      if (!stale()) this.does.refused?.("");
    } catch (error) {
      if (!stale() && text === this.does.text()) {
        this.forget();
        this.does.refused?.(reason(error));
      }
    }
    this.asking = false;
    const nowMs = performance.now();
    this.againMs = Math.min(this.againMs, nowMs + Math.max(AGAIN_MS, AGAIN_TIMES * (nowMs - beganMs)));
  }

  private async ask(text: string, model: ModelView, stale: () => boolean): Promise<void> {
    if (text === "") return this.forget();
    const { client } = this;
    const before = this.last?.text === text ? this.last : undefined;
    if (!before || !this.does.rests?.()) {
      const tokens = before?.reading.tokens ?? (await client.ask({ ask: "tokens", text }));
      const all = before?.pieces ?? pieces(text, tokens);
      const windows = before?.windows ?? windowsOf(text, all, model.context, this.opens);
      const reading = await readWindows(client, tokens, windows);
      if (stale()) return;
      this.last = { text, pieces: all, windows, reading };
      this.does.changed();
    }
    await this.does.read?.(this.last!, stale);
  }

  private forget(): void {
    this.last = undefined;
    this.does.changed();
  }
}
