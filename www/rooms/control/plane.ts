// The state plane: policy, value, or recent visits over two axes. While the plane is on the screen, the worker sends a new picture a few
// times a second.

import { pen, segment } from "../../parts/canvas";
import { Choice, h, id, write } from "../../parts/dom";
import { capital, figure, minus } from "../../parts/format";
import { animate, calm, Surface, touch } from "../../parts/loop";
import { Table } from "../../parts/table";
import { onTheme, palette, type Colour } from "../../parts/theme";
import { Asker } from "../../parts/requests";
import { arrowOf, clamp, modified } from "../../parts/keys";
import { along, at, boxOf, drawAxes, nameOf, of, share, type Box } from "./axes";
import { Density } from "./density";
import type { Scene } from "./hands";
import type { Player } from "./player";
import type { Axis } from "./protocol";
import { PlaneAxes } from "./plane-axes";
import { PICTURE, pointAt, Portrait, type Layer, type Picture } from "./portrait";
import { veil } from "./worlds/world";

const ASK_MS = 200;
const CALM_MS = 500;
const WRITE_MS = 250;
const TABLE_MS = 500;
/** Number of rows, and number of columns, of the table. */
const TABLED = 5;

const LAYERS: { name: Layer; label: string; does: string }[] = [
  { name: "policy", label: "Policy", does: "the policy's action" },
  { name: "value", label: "Value", does: "the critic's expected return" },
  { name: "visits", label: "Visits", does: "recent visits to each state" },
];

export class Plane {
  readonly element: HTMLElement;
  readonly layers: Choice<Layer>;
  /** Table with the values of the current layer at a few points of the plane. */
  readonly table = new Table(
    "State plane",
    () => this.tableTitles(),
    () => this.tableRows(),
  );
  private readonly field: HTMLElement;
  private readonly surface: Surface;
  private readonly reading = h("output.small.plane-reading");
  private readonly about = h("p.about");
  private readonly legend = h("div.legend-signs.wrap");
  private readonly portrait = new Portrait();
  private readonly density = new Density();
  private readonly asker = new Asker(() => (calm() ? CALM_MS : ASK_MS));
  private readonly axes = new PlaneAxes(() => this.replane());
  private scene: Scene | undefined;
  private layer: Layer = "policy";
  private iteration = 0;
  /** The latest picture and the iteration of its weights. There is at most one picture per iteration. */
  private newest: { picture: Picture; iteration: number } | undefined;
  private player: Player | undefined;
  private large: readonly number[] = [];
  private cursor: { x: number; y: number } | undefined;
  private readonly lastMs = { drew: -Infinity, wrote: -Infinity };

  /** `play` is called for each animation frame, and updates the environments that the plane shows. */
  constructor(
    private readonly ask: (width: number, height: number, axes: [Axis, Axis]) => Promise<Picture>,
    play: (nowMs: number) => void,
  ) {
    const helpId = id("plane");
    this.layers = new Choice(
      "Layer of the plane",
      LAYERS.map(({ name, label, does }) => ({ value: name, words: label, label: `Show ${does}`, title: `${does} (v)` })),
      this.layer,
      (layer) => this.choose(layer),
    );
    const canvas = h("canvas", { role: "img", "aria-label": "The state plane; nothing yet" });
    this.surface = new Surface(canvas, () => this.redraw());
    this.field = h(
      "div.plane-field",
      { tabindex: 0, role: "application", "aria-label": "The state plane: read it", "aria-describedby": helpId },
      [canvas],
    );
    this.element = h("div.card", [
      h("div.head", this.layers.element, this.table.button),
      this.about,
      this.axes.element,
      this.field,
      this.legend,
      this.reading,
      h("p.small.plane-help", { id: helpId }, [
        `${touch() ? "Touch the plane" : "Point at the plane, or move a cross over it by arrow keys"} to read policy and value there.`,
      ]),
      this.table.element,
    ]);
    this.listen();
    const refresh = (nowMs: number): void => {
      play(nowMs);
      this.density.fade(nowMs);
      this.want();
    };
    animate(canvas, (nowMs) => (refresh(nowMs), this.draw(nowMs)));
    animate(this.table.element, (nowMs) => (refresh(nowMs), this.table.refresh()), TABLE_MS);
    onTheme(() => this.show());
  }

  begin(scene: Scene): void {
    if (this.scene?.environment.id !== scene.environment.id) this.cursor = undefined;
    this.scene = scene;
    this.axes.begin(scene.environment.axes);
    this.replane();
  }

  /** Drops the picture and the visits, because the plane has other axes or the run is another run. */
  private replane(): void {
    this.density.clear();
    this.newest = undefined;
    this.asker.turns.take();
    this.asker.hurry();
    if (this.scene) write(this.about, aboutOf(this.scene, this.axes.chosen));
    this.show();
    this.table.renew();
  }

  progressed(iteration: number): void {
    this.iteration = iteration;
  }

  showLarge(observation: readonly number[]): void {
    this.large = observation;
  }

  turn(): void {
    const k = (LAYERS.findIndex(({ name }) => name === this.layer) + 1) % LAYERS.length;
    this.layers.value = LAYERS[k]!.name;
    this.choose(LAYERS[k]!.name);
  }

  get shows(): string {
    return LAYERS.find(({ name }) => name === this.layer)!.does;
  }

  visit(player: Player): void {
    this.player = player;
    if (!this.scene) return;
    if (this.axes.widen(player)) this.replane();
    this.density.count(this.axes.chosen, player);
  }

  private choose(layer: Layer): void {
    this.layer = layer;
    this.show();
    this.table.renew();
  }

  /** Requests a picture if the current layer or the cursor needs a picture later than `newest`. */
  private want(): void {
    if ((this.layer === "visits" && !this.cursor) || this.newest?.iteration === this.iteration) return;
    const { iteration } = this;
    this.asker.ask(
      () => this.ask(PICTURE.width, PICTURE.height, this.axes.chosen),
      (picture) => {
        if (picture.values.length === 0) return;
        const first = !this.newest;
        this.newest = { picture, iteration };
        this.show();
        if (first) this.table.renew();
      },
    );
  }

  private show(): void {
    const { scene, newest, layer } = this;
    this.portrait.paint(newest?.picture, layer, scene ? huesOf(scene, newest?.picture.channels ?? 0) : []);
    if (scene) this.legend.replaceChildren(...this.legendOf(scene));
    this.redraw();
  }

  private redraw(): void {
    this.lastMs.drew = this.lastMs.wrote = -Infinity;
  }

  // ---- drawing

  private draw(nowMs: number): void {
    const { scene, cursor, lastMs } = this;
    if (!scene || (calm() && nowMs - lastMs.drew < CALM_MS)) return;
    lastMs.drew = nowMs;
    const c = this.surface.begin();
    const box = boxOf(this.surface);
    c.fillStyle = palette.raised;
    c.fillRect(box.left, box.top, box.width, box.height);
    c.save();
    c.beginPath();
    c.rect(box.left, box.top, box.width, box.height);
    c.clip();
    if (this.layer === "visits") this.density.draw(c, box);
    else {
      this.portrait.draw(c, box);
      this.drawEnvironments(c, box);
    }
    this.drawLarge(c, box);
    c.restore();
    drawAxes(c, this.axes.chosen, box);
    if (cursor) drawCross(c, box, cursor);
    if (nowMs - lastMs.wrote <= (calm() ? 1000 : WRITE_MS)) return;
    lastMs.wrote = nowMs;
    const [x, y] = this.axes.chosen;
    this.surface.canvas.setAttribute("aria-label", `x: ${x.name}, y: ${y.name}. Shows ${this.shows}`);
    write(this.reading, cursor ? this.readingAt(scene, cursor) : "");
  }

  private drawEnvironments(c: CanvasRenderingContext2D, box: Box): void {
    const { player } = this;
    if (!player) return;
    const [x, y] = this.axes.chosen;
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
    const { large } = this;
    if (large.length === 0) return;
    const [x, y] = this.axes.chosen;
    const seen = (feature: number): number => large[feature]!;
    pen(c, palette.raised, 4);
    c.beginPath();
    c.arc(box.left + share(x, of(x, seen)) * box.width, box.top + (1 - share(y, of(y, seen))) * box.height, 5, 0, 7);
    c.stroke();
    pen(c, palette.ink, 2);
    c.stroke();
  }

  // ---- words

  private legendOf({ environment, world }: Scene): HTMLElement[] {
    const small = (words: string): HTMLElement => h("span.small", words);
    const number = (words: string): HTMLElement => h("span.small.number", words);
    const ramp = (kind: string): HTMLElement => h("span", { class: kind, "aria-hidden": "true" });
    const mark = (kind: string, words: string): HTMLElement => h("span", { class: `small sign ${kind}` }, words);
    const single = mark("ring", `the single ${world.one}`);
    if (this.layer === "visits") return [small("seldom"), ramp("ramp"), small("often"), single];
    const marks = [mark("point", world.many), single];
    if (this.layer === "value") {
      const [low, high] = this.portrait.range.map((value) => (Number.isFinite(value) ? figure(value) : "…")) as [string, string];
      return [small("expected return"), number(low), ramp("ramp"), number(high), ...marks];
    }
    const { choices, range } = environment;
    if (choices.length === 0)
      return [small("action"), number(minus(String(range[0]))), ramp("ramp both"), number(String(range[1])), ...marks];
    const hues = huesOf({ environment, world }, choices.length);
    return [...choices.map((choice, k) => h("span.small.sign", { style: `--hue: var(--${hues[k]!})` }, choice)), ...marks];
  }

  private readingAt({ environment }: Scene, { x, y }: { x: number; y: number }): string {
    const [across, up] = this.axes.chosen;
    const place = `${nameOf(across)} ${at(across, x)}, ${nameOf(up)} ${at(up, y)}`;
    const picture = this.newest?.picture;
    if (!picture) return place;
    const point = pointAt(picture, x, y);
    const { channels, policy, values } = picture;
    const does =
      channels === 1
        ? `action ${actionAt(environment.range, policy[point]!)}`
        : environment.choices.map((choice, k) => `${choice} ${Math.round(100 * policy[point * channels + k]!)}%`).join(", ");
    return `${place}: ${does}; value ${figure(values[point]!)}`;
  }

  private tableTitles(): string[] {
    if (!this.scene) return [];
    const [x, y] = this.axes.chosen;
    write(this.table.caption, `${capital(this.shows)}; columns: ${x.name}, rows: ${y.name}`);
    return [nameOf(y), ...STEPS.map((place) => at(x, place))];
  }

  private tableRows(): string[][] {
    const { scene } = this;
    if (!scene || (this.layer !== "visits" && !this.newest)) return [];
    const [, y] = this.axes.chosen;
    return STEPS.map((up) => [at(y, up), ...STEPS.map((across) => this.cell(scene, across, up))]).reverse();
  }

  /** Formats the value of the current layer at one point, for a table cell. `across` and `up` are the point's position, from 0 to 1. */
  private cell({ environment }: Scene, across: number, up: number): string {
    if (this.layer === "visits") return this.density.near(across, up, TABLED);
    const { picture } = this.newest!;
    const point = pointAt(picture, across, up);
    if (this.layer === "value") return figure(picture.values[point]!);
    const { channels, policy } = picture;
    if (channels === 1) return actionAt(environment.range, policy[point]!);
    const odds = policy.subarray(point * channels, (point + 1) * channels);
    const most = Math.max(...odds);
    return `${environment.choices[odds.indexOf(most)]} ${Math.round(100 * most)}%`;
  }

  // ---- input

  private listen(): void {
    const { field } = this;
    const moveCursor = (cursor: { x: number; y: number } | undefined): void => {
      this.cursor = cursor && { x: clamp(cursor.x, 0, 1), y: clamp(cursor.y, 0, 1) };
      this.redraw();
    };
    field.addEventListener("pointermove", ({ clientX, clientY }) => {
      const { left, top } = field.getBoundingClientRect();
      const box = boxOf(this.surface);
      moveCursor({ x: (clientX - left - box.left) / box.width, y: 1 - (clientY - top - box.top) / box.height });
    });
    for (const kind of ["pointerleave", "blur"]) field.addEventListener(kind, () => moveCursor(undefined));
    field.addEventListener("keydown", (event) => {
      const step = arrowOf(event);
      if (!step || modified(event)) return;
      event.preventDefault();
      const size = event.shiftKey ? 0.1 : 0.02;
      const { x, y } = this.cursor ?? { x: 0.5, y: 0.5 };
      moveCursor({ x: x + step[0] * size, y: y - step[1] * size });
    });
    field.addEventListener("focus", () => field.matches(":focus-visible") && moveCursor({ x: 0.5, y: 0.5 }));
  }
}

const STEPS = Array.from({ length: TABLED }, (_, k) => k / (TABLED - 1));

/** Describes the points of the plane of two axes. */
function aboutOf({ environment: { observation }, world }: Scene, axes: [Axis, Axis]): string {
  const others = observation.length > new Set(axes.flatMap((axis) => axis.of)).size;
  return `Each point is a state of the ${world.one}${others ? "; its other quantities are 0" : ""}.`;
}

/** Formats a continuous action. `mean` is the mean of the policy, from −1 to 1. */
const actionAt = ([low, high]: [number, number], mean: number): string => figure(low + ((mean + 1) / 2) * (high - low));

/** Returns the colours of the actions. Default colours are used if the world's number of colours differs from the number of actions. */
function huesOf({ world }: Scene, channels: number): Colour[] {
  if (world.hues.length === channels) return world.hues;
  const all: Colour[] = ["minus", "hair", "plus", "thrust", "agent", "error", "muted", "ink"];
  return Array.from({ length: channels }, (_, k) => all[k % all.length]!);
}

function drawCross(c: CanvasRenderingContext2D, box: Box, { x, y }: { x: number; y: number }): void {
  const [px, py] = [box.left + x * box.width, box.top + (1 - y) * box.height];
  pen(c, palette.ink, 1);
  c.beginPath();
  segment(c, px, box.top, px, box.top + box.height);
  segment(c, box.left, py, box.left + box.width, py);
  c.stroke();
}
