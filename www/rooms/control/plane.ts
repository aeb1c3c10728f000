// The state plane: where the environments go (a density that fades), and over the same two axes what the policy would do and
// what the critic expects. Pictures come from the worker a few times a second while they are in sight.

import type { Axis, Environment } from "./protocol";
import { h, id, write } from "../../parts/dom";
import { figure, minus } from "../../parts/format";
import { animate, calm, Surface, touch } from "../../parts/loop";
import { onTheme, palette, rgb } from "../../parts/theme";
import type { Player } from "./player";
import { veil, type Colour, type World } from "./worlds/world";

/** Points of a picture, and cells of the density. */
const PICTURE = { width: 48, height: 36 };
const CELLS = { width: 96, height: 72 };
const ASK_MS = 200;
const CALM_MS = 500;
const WRITE_MS = 250;
const TABLE_MS = 2000;
/** Points of the table each way. */
const TABLED = 5;
/** Where the environments have been is half forgotten after this long. */
const FADE_S = 1.6;
const LEVELS = 6;
/** How strongly a policy that is sure is coloured: words and dots over it stay legible. */
const INTENSITY = 0.82;
/** Below 1, so that a mild preference shows as well. */
const CONTRAST = 0.75;
const MARGIN = { left: 46, right: 10, top: 8, bottom: 20 };
const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';

type Layer = "policy" | "value" | "visits";
const LAYERS: { name: Layer; label: string; does: string }[] = [
  { name: "policy", label: "Policy", does: "what the policy would do" },
  { name: "value", label: "Value", does: "the return that the critic expects" },
  { name: "visits", label: "Visitation", does: "state visitation: where they have been" },
];

/** A picture, its numbers as such. */
export type Picture = { width: number; height: number; channels: number; policy: Float32Array; values: Float32Array };
type Ask = (width: number, height: number) => Promise<Picture>;

export class Plane {
  readonly element: HTMLElement;
  readonly layers: HTMLElement;
  /** The same as numbers at a few points; the button asks for it. */
  readonly table: HTMLElement;
  readonly tableButton: HTMLButtonElement;
  private readonly tableHead = h("tr");
  private readonly tableBody = h("tbody");
  private readonly caption = h("caption");
  private readonly canvas = document.createElement("canvas");
  private readonly surface = new Surface(this.canvas, () => (this.dirty = true));
  private readonly field: HTMLElement;
  private readonly reading = h("output", { class: "small plane-reading" });
  private readonly legend = h("div", { class: "plane-legend" });
  private readonly radios: HTMLInputElement[];
  private readonly background = document.createElement("canvas");
  private readonly density = new Float32Array(CELLS.width * CELLS.height);
  private readonly densityCanvas = document.createElement("canvas");
  private readonly densityPixels: ImageData;
  private environment: Environment | undefined;
  private world: World | undefined;
  private layer: Layer = "policy";
  private picture: Picture | undefined;
  private range: [number, number] = [0, 1];
  /** Lines over the picture, traced once for a picture and a size. */
  private contours: { lines: Path2D; width: number; height: number } | undefined;
  private asking = false;
  private askedMs = -Infinity;
  /** The iteration of which the picture is; it changes only by learning. */
  private pictured = -1;
  private iteration = 0;
  private player: Player | undefined;
  /** The observation of the single environment. */
  private large: readonly number[] = [];
  private cursor: { x: number; y: number } | undefined;
  private fadedMs = 0;
  private drewMs = -Infinity;
  private wroteMs = -Infinity;
  private tabledMs = -Infinity;
  private dirty = true;
  private readonly stops: (() => void)[];

  constructor(private readonly ask: Ask) {
    const group = id("layer");
    const helpId = id("plane");
    this.radios = LAYERS.map(({ name, does }, k) =>
      h("input", {
        type: "radio",
        name: group,
        id: `${group}-${k}`,
        checked: name === this.layer,
        "aria-label": `Show ${does}`,
        onchange: () => this.choose(name),
      }),
    );
    this.layers = h(
      "fieldset",
      { class: "speeds layers" },
      h("legend", { class: "unseen" }, "What the plane shows"),
      ...LAYERS.flatMap(({ label, does }, k) => [this.radios[k]!, h("label", { for: `${group}-${k}`, title: `${does} (v)` }, label)]),
    );
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The state plane; nothing yet");
    this.field = h(
      "div",
      { class: "plane-field", tabindex: 0, role: "application", "aria-label": "The state plane: read it", "aria-describedby": helpId },
      this.canvas,
    );
    this.element = h(
      "div",
      { class: "plane" },
      this.field,
      h("div", { class: "plane-foot" }, this.legend, this.reading),
      h(
        "p",
        { class: "unseen", id: helpId },
        `${touch() ? "Touch the plane" : "Arrow keys move a cross over the plane"}: what the policy and the critic say there is read ` +
          `out below it.`,
      ),
    );
    const tableId = id("table");
    this.table = h(
      "div",
      { class: "scroll", id: tableId, hidden: true, tabindex: 0, role: "region", "aria-label": "State plane as a table" },
      h("table", {}, this.caption, h("thead", {}, this.tableHead), this.tableBody),
    );
    this.tableButton = h(
      "button",
      { type: "button", class: "quiet small", "aria-expanded": "false", "aria-controls": tableId, "aria-label": "State plane as a table" },
      "Table",
    );
    this.tableButton.addEventListener("click", () => {
      this.table.hidden = !this.table.hidden;
      this.tableButton.setAttribute("aria-expanded", String(!this.table.hidden));
      this.askedMs = this.tabledMs = -Infinity;
      this.writeTable(performance.now());
    });
    for (const [canvas, size] of [
      [this.background, PICTURE],
      [this.densityCanvas, CELLS],
    ] as const)
      Object.assign(canvas, size);
    this.densityPixels = new ImageData(CELLS.width, CELLS.height);
    this.listen();
    this.stops = [
      animate(this.canvas, (nowMs) => this.draw(nowMs)),
      animate(
        this.table,
        (nowMs) => {
          this.fade(nowMs);
          this.want(nowMs);
          this.writeTable(nowMs);
        },
        TABLE_MS / 4,
      ),
      onTheme(() => {
        this.paint();
        this.writeLegend();
      }),
      () => this.surface.close(),
    ];
  }

  /** A new run begins, perhaps of another world. */
  begin(environment: Environment, world: World): void {
    const same = this.environment?.id === environment.id;
    this.environment = environment;
    this.world = world;
    this.density.fill(0);
    this.picture = undefined;
    this.pictured = -1;
    this.askedMs = -Infinity;
    if (!same) this.cursor = undefined;
    this.dirty = true;
    this.writeLegend();
  }

  progressed(iteration: number): void {
    this.iteration = iteration;
  }

  showLarge(observation: readonly number[]): void {
    this.large = observation;
  }

  /** The next layer. */
  turn(): void {
    const k = (LAYERS.findIndex(({ name }) => name === this.layer) + 1) % LAYERS.length;
    this.radios[k]!.checked = true;
    this.choose(LAYERS[k]!.name);
  }

  /** What that layer shows, for a screen reader. */
  get shows(): string {
    return LAYERS.find(({ name }) => name === this.layer)!.does;
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  /** Every environment is counted where it stands. */
  visit(player: Player): void {
    this.player = player;
    const plane = this.environment?.plane;
    if (!plane) return;
    const [x, y] = plane;
    for (let env = 0; env < player.shown; env++) {
      const column = Math.floor(share(x, along(x, player, env)) * CELLS.width);
      const row = Math.floor(share(y, along(y, player, env)) * CELLS.height);
      if (column >= 0 && column < CELLS.width && row >= 0 && row < CELLS.height) this.density[row * CELLS.width + column]!++;
    }
  }

  private choose(layer: Layer): void {
    this.layer = layer;
    this.pictured = -1;
    this.paint();
    this.writeLegend();
    this.dirty = true;
    this.wroteMs = this.tabledMs = -Infinity;
  }

  // ---- what is asked for, and painted

  private want(nowMs: number): void {
    if (this.layer === "visits" && !this.cursor) return;
    if (this.asking || nowMs - this.askedMs < (calm() ? CALM_MS : ASK_MS) || this.pictured === this.iteration) return;
    this.asking = true;
    this.askedMs = nowMs;
    const of = { iteration: this.iteration, environment: this.environment };
    this.ask(PICTURE.width, PICTURE.height).then(
      (picture) => {
        this.asking = false;
        if (of.environment !== this.environment || picture.values.length === 0) return;
        this.picture = picture;
        this.pictured = of.iteration;
        this.paint();
        this.writeLegend();
        this.dirty = true;
      },
      () => (this.asking = false), // the run was closed or changed: asked again while it is in sight
    );
  }

  private paint(): void {
    const { picture } = this;
    this.contours = undefined;
    if (!picture || this.layer === "visits") return;
    const c = this.background.getContext("2d")!;
    const pixels = c.createImageData(picture.width, picture.height);
    const paper = rgb("paper");
    const put = (point: number, colour: readonly [number, number, number]): void => {
      const row = picture.height - 1 - Math.floor(point / picture.width);
      const at = 4 * (row * picture.width + (point % picture.width));
      for (let k = 0; k < 3; k++) pixels.data[at + k] = colour[k]!;
      pixels.data[at + 3] = 255;
    };
    const points = picture.width * picture.height;
    if (this.layer === "value") {
      let [low, high] = [Infinity, -Infinity];
      for (const value of picture.values) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      this.range = [low, high];
      const accent = rgb("accent");
      for (let point = 0; point < points; point++) {
        const t = high > low ? (picture.values[point]! - low) / (high - low) : 0;
        put(point, mixed(paper, accent, 0.06 + 0.94 * t));
      }
    } else if (picture.channels === 1) {
      const [left, right] = [rgb("minus"), rgb("plus")];
      for (let point = 0; point < points; point++) {
        const mean = Math.max(-1, Math.min(1, picture.policy[point]!));
        put(point, mixed(paper, mean < 0 ? left : right, INTENSITY * Math.abs(mean) ** CONTRAST));
      }
    } else {
      const { channels } = picture;
      const hues = this.hues(channels).map((name) => rgb(name));
      const even = 1 / channels;
      const colour: [number, number, number] = [0, 0, 0];
      for (let point = 0; point < points; point++) {
        for (let k = 0; k < 3; k++) colour[k] = paper[k]!;
        for (let choice = 0; choice < channels; choice++) {
          const sure = INTENSITY * (Math.max(0, picture.policy[point * channels + choice]! - even) / (1 - even)) ** CONTRAST;
          for (let k = 0; k < 3; k++) colour[k]! += sure * (hues[choice]![k]! - paper[k]!);
        }
        put(point, colour);
      }
    }
    c.putImageData(pixels, 0, 0);
  }

  private hues(channels: number): Colour[] {
    const own = this.world?.hues ?? [];
    if (own.length === channels) return own;
    const all: Colour[] = ["minus", "hair", "plus", "thrust", "accent", "rust", "muted", "ink"];
    return Array.from({ length: channels }, (_, k) => all[k % all.length]!);
  }

  // ---- drawing

  private draw(nowMs: number): void {
    this.fade(nowMs);
    this.want(nowMs);
    if (calm() && nowMs - this.drewMs < CALM_MS && !this.dirty) return;
    this.drewMs = nowMs;
    this.dirty = false;
    const plane = this.environment?.plane;
    if (!plane) return;
    const c = this.surface.begin();
    const box = this.box();
    c.fillStyle = palette.raised;
    c.fillRect(box.left, box.top, box.width, box.height);
    c.save();
    c.beginPath();
    c.rect(box.left, box.top, box.width, box.height);
    c.clip();
    if (this.layer === "visits") this.drawVisits(c, box);
    else if (this.picture) {
      // Half a point at each side: the outermost points stand on the edge.
      const [dx, dy] = [box.width / (PICTURE.width - 1) / 2, box.height / (PICTURE.height - 1) / 2];
      c.imageSmoothingEnabled = true;
      c.imageSmoothingQuality = "high";
      c.drawImage(this.background, box.left - dx, box.top - dy, box.width + 2 * dx, box.height + 2 * dy);
      this.drawContours(c, box);
    }
    if (this.layer !== "visits") this.drawEnvironments(c, box);
    this.drawLarge(c, box);
    c.restore();
    this.drawAxes(c, box);
    if (this.cursor) this.drawCross(c, box);
    if (nowMs - this.wroteMs > (calm() ? 1000 : WRITE_MS)) {
      this.wroteMs = nowMs;
      this.writeReading();
    }
  }

  private fade(nowMs: number): void {
    const passedS = Math.min(2, (nowMs - this.fadedMs) / 1000);
    this.fadedMs = nowMs;
    const kept = 0.5 ** (passedS / FADE_S);
    for (let cell = 0; cell < this.density.length; cell++) this.density[cell]! *= kept;
  }

  private box(): { left: number; top: number; width: number; height: number } {
    const { width, height } = this.surface;
    return {
      left: MARGIN.left,
      top: MARGIN.top,
      width: Math.max(1, width - MARGIN.left - MARGIN.right),
      height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
    };
  }

  private drawVisits(c: CanvasRenderingContext2D, box: Box): void {
    const { data } = this.densityPixels;
    let most = 4;
    for (const count of this.density) most = Math.max(most, count);
    const [red, green, blue] = rgb("accent");
    for (let row = 0; row < CELLS.height; row++)
      for (let column = 0; column < CELLS.width; column++) {
        const at = 4 * ((CELLS.height - 1 - row) * CELLS.width + column);
        data[at] = red;
        data[at + 1] = green;
        data[at + 2] = blue;
        // By the root, so that the rarely visited shows as well.
        data[at + 3] = 255 * Math.sqrt(this.density[row * CELLS.width + column]! / most);
      }
    this.densityCanvas.getContext("2d")!.putImageData(this.densityPixels, 0, 0);
    c.imageSmoothingEnabled = true;
    c.drawImage(this.densityCanvas, box.left, box.top, box.width, box.height);
  }

  private drawEnvironments(c: CanvasRenderingContext2D, box: Box): void {
    const { player, environment } = this;
    if (!player || !environment) return;
    const [x, y] = environment.plane;
    c.fillStyle = palette.ink;
    c.globalAlpha = veil(0.5, player.shown / 2);
    for (let env = 0; env < player.shown; env++) {
      const px = box.left + share(x, along(x, player, env)) * box.width;
      const py = box.top + (1 - share(y, along(y, player, env))) * box.height;
      c.fillRect(px - 1, py - 1, 2, 2);
    }
    c.globalAlpha = 1;
  }

  private drawLarge(c: CanvasRenderingContext2D, box: Box): void {
    const { large, environment } = this;
    if (!environment || large.length === 0) return;
    const [x, y] = environment.plane;
    const px = box.left + share(x, of(x, large)) * box.width;
    const py = box.top + (1 - share(y, of(y, large))) * box.height;
    c.strokeStyle = palette.paper;
    c.lineWidth = 4;
    c.beginPath();
    c.arc(px, py, 5, 0, 7);
    c.stroke();
    c.strokeStyle = palette.ink;
    c.lineWidth = 2;
    c.stroke();
  }

  /** Lines of equal value; of the policy, where it changes its mind. */
  private drawContours(c: CanvasRenderingContext2D, box: Box): void {
    if (this.contours?.width !== box.width || this.contours.height !== box.height)
      this.contours = { lines: this.traced(box), width: box.width, height: box.height };
    c.strokeStyle = palette.ink;
    c.lineWidth = 1;
    c.globalAlpha = 0.4;
    c.stroke(this.contours.lines);
    c.globalAlpha = 1;
  }

  private traced(box: Box): Path2D {
    const picture = this.picture!;
    const lines = new Path2D();
    if (this.layer === "value") {
      const [low, high] = this.range;
      for (let k = 1; k < LEVELS; k++) trace(lines, box, picture, (point) => picture.values[point]! - (low + ((high - low) * k) / LEVELS));
    } else if (picture.channels === 1) trace(lines, box, picture, (point) => picture.policy[point]!);
    else for (let choice = 0; choice < picture.channels; choice++) trace(lines, box, picture, (point) => lead(picture, point, choice));
    return lines;
  }

  private drawAxes(c: CanvasRenderingContext2D, box: Box): void {
    const [x, y] = this.environment!.plane;
    c.strokeStyle = palette.hair;
    c.lineWidth = 1;
    c.strokeRect(box.left + 0.5, box.top + 0.5, box.width - 1, box.height - 1);
    c.fillStyle = palette.muted;
    c.font = FONT;
    c.textBaseline = "alphabetic";
    for (const tick of ticks(x)) {
      const at = box.left + share(x, tick.value) * box.width;
      c.textAlign = tick.value === x.low ? "left" : "right";
      c.fillText(tick.label, at, box.top + box.height + 14);
    }
    c.textAlign = "center";
    c.fillText(x.name, box.left + box.width / 2, box.top + box.height + 14);
    c.textAlign = "right";
    for (const tick of ticks(y)) {
      const at = box.top + (1 - share(y, tick.value)) * box.height;
      c.fillText(tick.label, box.left - 5, Math.min(box.top + box.height, Math.max(box.top + 8, at + 4)));
    }
    c.save();
    c.translate(11, box.top + box.height / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillText(y.name, 0, 0);
    c.restore();
  }

  private drawCross(c: CanvasRenderingContext2D, box: Box): void {
    const [px, py] = [box.left + this.cursor!.x * box.width, box.top + (1 - this.cursor!.y) * box.height];
    c.strokeStyle = palette.ink;
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(px, box.top);
    c.lineTo(px, box.top + box.height);
    c.moveTo(box.left, py);
    c.lineTo(box.left + box.width, py);
    c.stroke();
  }

  // ---- words

  private writeLegend(): void {
    const { environment, world } = this;
    if (!environment || !world) return;
    if (this.layer === "visits") {
      this.legend.replaceChildren(h("span", { class: "small" }, `where the ${world.many} in sight have been; the ring is the single one`));
      return;
    }
    if (this.layer === "value") {
      const [low, high] = this.picture ? this.range : [NaN, NaN];
      this.legend.replaceChildren(
        h("span", { class: "small" }, "expects"),
        h("span", { class: "small number" }, bound(low)),
        h("span", { class: "ramp", "aria-hidden": "true" }),
        h("span", { class: "small number" }, bound(high)),
        h("span", { class: "small" }, "to come"),
      );
      return;
    }
    if (environment.choices.length === 0) {
      const [low, high] = environment.range;
      this.legend.replaceChildren(
        h("span", { class: "small" }, "action"),
        h("span", { class: "small number" }, minus(String(low))),
        h("span", { class: "ramp both", "aria-hidden": "true" }),
        h("span", { class: "small number" }, String(high)),
      );
      return;
    }
    const hues = this.hues(environment.choices.length);
    this.legend.replaceChildren(
      ...environment.choices.map((choice, k) => h("span", { class: "small hue", style: `--hue: var(--${hues[k]!})` }, choice)),
    );
  }

  private writeReading(): void {
    const { environment, picture, cursor, world } = this;
    if (!environment || !world) return;
    const [x, y] = environment.plane;
    this.canvas.setAttribute("aria-label", `x: ${x.name}, y: ${y.name}. It shows ${this.shows}`);
    if (!cursor) {
      write(this.reading, "");
      return;
    }
    const at = `${nameOf(x)} ${figure(x.low + cursor.x * (x.high - x.low))}, ${nameOf(y)} ${figure(y.low + cursor.y * (y.high - y.low))}`;
    if (!picture) {
      write(this.reading, at);
      return;
    }
    const point = pointAt(picture, cursor.x, cursor.y);
    const { channels, policy, values } = picture;
    const [low, high] = environment.range;
    const does =
      channels === 1
        ? `action ${figure(low + ((policy[point]! + 1) / 2) * (high - low))}`
        : environment.choices.map((choice, k) => `${choice} ${Math.round(100 * policy[point * channels + k]!)}%`).join(", ");
    write(this.reading, `${at}: ${does}; value ${figure(values[point]!)}`);
  }

  /** Whoever has the focus in the table reads it: it stands still for them. */
  private writeTable(nowMs: number): void {
    const { environment, picture } = this;
    if (this.table.hidden || !environment || nowMs - this.tabledMs < TABLE_MS || this.table.contains(document.activeElement)) return;
    if (this.layer !== "visits" && !picture) return;
    this.tabledMs = nowMs;
    const [x, y] = environment.plane;
    const steps = Array.from({ length: TABLED }, (_, k) => k / (TABLED - 1));
    const at = (axis: Axis, place: number): string => figure(axis.low + place * (axis.high - axis.low));
    write(this.caption, `${this.shows[0]!.toUpperCase()}${this.shows.slice(1)}; columns: ${x.name}, rows: ${y.name}`);
    this.tableHead.replaceChildren(h("th", { scope: "col" }, nameOf(y)), ...steps.map((place) => h("th", { scope: "col" }, at(x, place))));
    this.tableBody.replaceChildren(
      ...steps
        .map((up) => h("tr", {}, h("th", { scope: "row" }, at(y, up)), ...steps.map((across) => h("td", {}, this.cell(across, up)))))
        .reverse(),
    );
  }

  /** What the layer says at a point, in few words. */
  private cell(across: number, up: number): string {
    const { environment, picture } = this;
    if (this.layer === "visits") {
      // Of the part of the plane that is nearest to this point.
      const near = (k: number, of: number): number => Math.round(((k + 0.5) / of) * (TABLED - 1));
      let [here, all] = [0, 0];
      this.density.forEach((count, cell) => {
        all += count;
        const [column, row] = [cell % CELLS.width, Math.floor(cell / CELLS.width)];
        if (near(column, CELLS.width) === across * (TABLED - 1) && near(row, CELLS.height) === up * (TABLED - 1)) here += count;
      });
      return all > 0 ? `${Math.round((100 * here) / all)}%` : "";
    }
    if (!picture || !environment) return "";
    const point = pointAt(picture, across, up);
    if (this.layer === "value") return figure(picture.values[point]!);
    const { channels, policy } = picture;
    const [low, high] = environment.range;
    if (channels === 1) return figure(low + ((policy[point]! + 1) / 2) * (high - low));
    let best = 0;
    for (let k = 1; k < channels; k++) if (policy[point * channels + k]! > policy[point * channels + best]!) best = k;
    return `${environment.choices[best]} ${Math.round(100 * policy[point * channels + best]!)}%`;
  }

  // ---- hands

  private listen(): void {
    const { field } = this;
    const move = (x: number, y: number): void => {
      this.cursor = { x: Math.max(0, Math.min(1, x)), y: Math.max(0, Math.min(1, y)) };
      this.dirty = true;
      this.wroteMs = -Infinity;
    };
    field.addEventListener("pointermove", (event) => {
      const canvas = this.canvas.getBoundingClientRect();
      const box = this.box();
      move((event.clientX - canvas.left - box.left) / box.width, 1 - (event.clientY - canvas.top - box.top) / box.height);
    });
    const leave = (): void => {
      this.cursor = undefined;
      this.dirty = true;
      this.wroteMs = -Infinity;
    };
    field.addEventListener("pointerleave", leave);
    field.addEventListener("blur", leave);
    field.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const size = event.shiftKey ? 0.1 : 0.02;
      const { x, y } = this.cursor ?? { x: 0.5, y: 0.5 };
      move(x + step[0]! * size, y + step[1]! * size);
    });
    field.addEventListener("focus", () => {
      if (field.matches(":focus-visible")) move(0.5, 0.5);
    });
  }
}

/** The point of a picture nearest to a place on the plane. */
const pointAt = ({ width, height }: Picture, x: number, y: number): number =>
  Math.round(y * (height - 1)) * width + Math.round(x * (width - 1));

type Box = ReturnType<Plane["box"]>;

const bound = (value: number): string => (Number.isFinite(value) ? figure(value) : "…");
/** `angle` of `angle (rad)` */
const nameOf = (axis: Axis): string => axis.name.replace(/ \(.*\)$/, "");
const share = (axis: Axis, value: number): number => (value - axis.low) / (axis.high - axis.low);
const mixed = (from: readonly number[], to: readonly number[], t: number): [number, number, number] => [
  from[0]! + (to[0]! - from[0]!) * t,
  from[1]! + (to[1]! - from[1]!) * t,
  from[2]! + (to[2]! - from[2]!) * t,
];

/** Where an axis has an environment, or an observation. */
const along = (axis: Axis, player: Player, env: number): number =>
  axis.of.length === 2 ? Math.atan2(player.seen(env, axis.of[1]!), player.seen(env, axis.of[0]!)) : player.seen(env, axis.of[0]!);
const of = (axis: Axis, seen: readonly number[]): number =>
  axis.of.length === 2 ? Math.atan2(seen[axis.of[1]!]!, seen[axis.of[0]!]!) : seen[axis.of[0]!]!;

/** The ends, between which the name stands; a whole circle in parts of π. */
function ticks(axis: Axis): { value: number; label: string }[] {
  const { low, high } = axis;
  if (Math.abs(low + Math.PI) < 1e-6 && Math.abs(high - Math.PI) < 1e-6)
    return [
      { value: low, label: "−π" },
      { value: high, label: "π" },
    ];
  return [low, high].map((value) => ({ value, label: figure(Number(value.toPrecision(3))) }));
}

/** By how much a choice leads before the others: 0 where the policy changes its mind. */
function lead({ policy, channels }: Picture, point: number, choice: number): number {
  let other = 0;
  for (let k = 0; k < channels; k++) if (k !== choice) other = Math.max(other, policy[point * channels + k]!);
  return policy[point * channels + choice]! - other;
}

/** The line where `height` is 0, by marching squares. */
function trace(lines: Path2D, box: Box, { width, height }: Picture, level: (point: number) => number): void {
  const [dx, dy] = [box.width / (width - 1), box.height / (height - 1)];
  for (let row = 0; row + 1 < height; row++)
    for (let column = 0; column + 1 < width; column++) {
      const point = row * width + column;
      const [a, b, d, e] = [level(point), level(point + 1), level(point + width), level(point + width + 1)];
      let begun = false;
      const meet = (from: number, to: number, x0: number, y0: number, x1: number, y1: number): void => {
        if (from < 0 === to < 0) return;
        const t = from / (from - to);
        const x = box.left + (column + x0 + (x1 - x0) * t) * dx;
        const y = box.top + box.height - (row + y0 + (y1 - y0) * t) * dy;
        if (begun) lines.lineTo(x, y);
        else lines.moveTo(x, y);
        begun = !begun;
      };
      meet(a, b, 0, 0, 1, 0);
      meet(b, e, 1, 0, 1, 1);
      meet(e, d, 1, 1, 0, 1);
      meet(d, a, 0, 1, 0, 0);
    }
}
