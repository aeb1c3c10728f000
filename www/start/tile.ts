// A tile of the start page: a link to a room, with the picture and the number of a small run that trains in the worker (`training.ts`).

import { pen } from "../parts/canvas";
import { h, write } from "../parts/dom";
import { animate, calm, Surface } from "../parts/loop";
import { onTheme, palette } from "../parts/theme";

export type Size = { width: number; height: number };

/** Texts and drawing of a room's run. */
export interface Subject {
  room: string;
  title: string;
  /** Sentence about the task. */
  does: string;
  /** Name of the score, its text, and its lowest and highest value in the curve. */
  score: { name: string; text(score: number): string; range: [number, number] };
  /** Numbers of the picture before the worker sends the first. */
  first: number[];
  /** Draws the numbers that the run's `picture` returns (crates/tiles). */
  draw(c: CanvasRenderingContext2D, numbers: ArrayLike<number>, size: Size): void;
}

/** Height of the curve below the picture, and the space above it, px. */
const CURVE = { height: 24, gap: 8 };
/** Maximum number of points of the curve. */
const MOST_POINTS = 120;
/** Minimum time between two texts of the score, and between two pictures with reduced motion. */
const TEXT_MS = 200;
const CALM_MS = 2000;

export class Tile {
  readonly element: HTMLElement;
  private readonly number = h("dd.number", "–");
  private readonly surface: Surface;
  private numbers: ArrayLike<number>;
  private readonly scores: number[] = [];
  private writtenMs = -Infinity;
  /** True if the picture has changed since it was drawn. */
  private changed = true;
  private drawnMs = -Infinity;

  constructor(
    private readonly subject: Subject,
    link: string,
  ) {
    const { title, does, score } = subject;
    this.numbers = subject.first;
    const canvas = h("canvas", { "aria-hidden": "true" });
    this.element = h("article.tile.card", [
      canvas,
      h("h2", h("a", { href: link }, title)),
      h("p", does),
      h("dl", h("dt.small", score.name), this.number),
    ]);
    this.surface = new Surface(canvas, () => this.draw());
    animate(canvas, (nowMs) => this.drawDue(nowMs));
    onTheme(() => this.draw());
  }

  /** Takes the next picture of the run, and its latest score. */
  take(numbers: ArrayLike<number>, score: number | undefined, nowMs: number): void {
    this.numbers = numbers;
    this.changed = true;
    if (score === undefined) return;
    if (score !== this.scores.at(-1)) this.add(score);
    if (nowMs - this.writtenMs < TEXT_MS) return;
    this.writtenMs = nowMs;
    write(this.number, this.subject.score.text(score));
  }

  private add(score: number): void {
    this.scores.push(score);
    // A full curve keeps every second point.
    if (this.scores.length > MOST_POINTS) this.scores.splice(0, this.scores.length, ...this.scores.filter((_, k) => k % 2 === 0));
  }

  private drawDue(nowMs: number): void {
    if (!this.changed || nowMs - this.drawnMs < (calm() ? CALM_MS : 0)) return;
    this.drawnMs = nowMs;
    this.draw();
  }

  private draw(): void {
    const { subject, surface } = this;
    const { width, height } = surface;
    if (width === 0) return;
    this.changed = false;
    const c = surface.begin();
    const picture = height - CURVE.height - CURVE.gap;
    c.save();
    subject.draw(c, this.numbers, { width, height: picture });
    c.restore();
    this.drawCurve(c, width, height);
  }

  private drawCurve(c: CanvasRenderingContext2D, width: number, bottom: number): void {
    const [low, high] = this.subject.score.range;
    pen(c, palette.hair, 1);
    c.strokeRect(0.5, bottom - CURVE.height + 0.5, width - 1, CURVE.height - 1);
    pen(c, palette.training, 2);
    c.beginPath();
    this.scores.forEach((score, k) => {
      const share = Math.min(1, Math.max(0, (score - low) / (high - low)));
      c.lineTo(2 + ((width - 4) * k) / Math.max(1, this.scores.length - 1), bottom - 3 - share * (CURVE.height - 6));
    });
    c.stroke();
  }
}
