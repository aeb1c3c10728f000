// A pen that writes an SVG file. The file needs no other file, and has no script. Names and texts are escaped.

import type { Pen } from "./canvas";

/** Drawing state that `save` stores and `restore` restores. */
type State = Pick<SvgPen, "fillStyle" | "strokeStyle" | "lineWidth" | "font" | "textAlign" | "textBaseline" | "globalAlpha"> & {
  dash: number[];
  /** Number of open `<g>` elements. */
  groups: number;
};

const ANCHORS: Partial<Record<CanvasTextAlign, string>> = { center: "middle", right: "end", end: "end" };
/** Distance from the middle of a text to its baseline, in em. */
const TO_BASELINE = "0.35em";

const round = (n: number): string => String(Number(n.toFixed(2)));

/** Escapes a text for XML. Characters that XML forbids become spaces. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Writes an element. Attributes without a value are skipped. */
function element(tag: string, attributes: Record<string, string | number | undefined>, content = ""): string {
  const written = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : ` ${name}="${typeof value === "number" ? round(value) : escaped(value)}"`,
  );
  return `<${tag}${written.join("")}${content ? `>${content}</${tag}>` : "/>"}\n`;
}

export class SvgPen implements Pen {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  font = "400 12px sans-serif";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  globalAlpha = 1;
  private dash: number[] = [];
  private path = "";
  private name = "";
  /** Attributes of the outline of the next text. */
  private outline: Record<string, string | number> = {};
  private clips = 0;
  private groups = 0;
  private readonly parts: string[] = [];
  private readonly saved: State[] = [];
  private readonly measure = document.createElement("canvas").getContext("2d")!;

  /** Returns the text of the SVG file. `title` is the name of the drawing for screen readers. */
  file({ width, height, title }: { width: number; height: number; title: string }): string {
    const root = {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${round(width)} ${round(height)}`,
      role: "img",
      "font-family": this.font.replace(/^.*px /, ""),
      "stroke-linejoin": "round",
    };
    return element("svg", root, `\n${element("title", {}, escaped(title))}${this.parts.join("")}`);
  }

  /** Calls `draw` with the origin of the coordinates at (`x`, `y`). */
  within(x: number, y: number, draw: () => void): void {
    this.parts.push(`<g transform="translate(${round(x)} ${round(y)})">\n`);
    draw();
    this.parts.push("</g>\n");
  }

  named(name: string): void {
    this.name = name;
  }

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha, dash, groups } = this;
    this.saved.push({ fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha, dash, groups } as State);
    this.groups = 0;
  }

  restore(): void {
    this.parts.push("</g>\n".repeat(this.groups));
    Object.assign(this, this.saved.pop());
  }

  /** Clips to the path until `restore`. */
  clip(): void {
    const id = `clip-${++this.clips}`;
    this.parts.push(element("clipPath", { id }, element("path", { d: this.path })), `<g clip-path="url(#${id})">\n`);
    this.groups++;
  }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `${this.path ? "L" : "M"}${round(x)} ${round(y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
  }

  /** Adds a whole circle. */
  arc(x: number, y: number, radius: number): void {
    const half = `a${round(radius)} ${round(radius)} 0 1 1`;
    this.path += `M${round(x - radius)} ${round(y)}${half} ${round(2 * radius)} 0${half} ${round(-2 * radius)} 0z`;
  }

  fill(): void {
    this.draw({ fill: this.fillStyle });
  }

  stroke(): void {
    const dash = this.dash.map(round).join(" ") || undefined;
    this.draw({ fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": dash });
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(element("rect", { x, y, width, height, fill: this.fillStyle, opacity: this.opacity }));
  }

  measureText(text: string): TextMetrics {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  /** Outlines the next text. */
  strokeText(): void {
    this.outline = { stroke: this.strokeStyle, "stroke-width": this.lineWidth, "paint-order": "stroke" };
  }

  fillText(text: string, x: number, y: number, most = Infinity): void {
    const [, weight, size] = /^(\d+) ([\d.]+)px/.exec(this.font)!;
    // In another typeface, the text would have another width. `textLength` gives it the width that it has in the page's typeface.
    const { width } = this.measureText(text);
    const attributes = {
      x,
      y,
      dy: this.textBaseline === "middle" ? TO_BASELINE : undefined,
      fill: this.fillStyle,
      opacity: this.opacity,
      "font-size": size,
      "font-weight": weight === "400" ? undefined : weight,
      "text-anchor": ANCHORS[this.textAlign],
      textLength: Math.min(width, most),
      lengthAdjust: "spacingAndGlyphs",
      ...this.outline,
    };
    this.outline = {};
    if (text) this.parts.push(element("text", attributes, escaped(text)));
  }

  private get opacity(): number | undefined {
    return this.globalAlpha === 1 ? undefined : this.globalAlpha;
  }

  private draw(attributes: Record<string, string | number | undefined>): void {
    const title = this.name && element("title", {}, escaped(this.name));
    this.name = "";
    if (this.path) this.parts.push(element("path", { d: this.path, ...attributes, opacity: this.opacity }, title));
  }
}
