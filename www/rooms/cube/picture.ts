// A cube in three dimensions on a 2D canvas. A cubie is a rounded box, drawn as the hull of an inner box with a round outline. Cubies are
// painted from far to near. This order is exact, because only whole layers turn. A drag on a sticker turns its layer; a drag beside the
// cube turns the view.

import { font, pen } from "../../parts/canvas";
import { animate, calm, Surface } from "../../parts/loop";
import { onTheme } from "../../parts/theme";
import { h, id, write } from "../../parts/dom";
import { arrowOf, modified } from "../../parts/keys";
import { along, cross, cubiesOf, dot, faceletsOf, sizeOf, spoken, turned, turnOf, type Facelet, type Turn, type Vector } from "./stickers";

const TURN_MS = 210;
/** Distance of the eye from the cube's centre. The cube spans −1 to 1. */
const EYE = 7.2;
/** Radius of a cubie's rounded edges, as a share of the edge length. */
const ROUND = 0.11;
const STICKER = { inset: 0.085, round: 0.17 };
const VIEW = { yaw: -0.62, pitch: 0.5 };
const MOST_PITCH = 1.45;
/**
 * Maximum extent of the picture from the cube's centre in any view: upwards, downwards and to each side. The picture includes turning
 * layers and the shadow.
 */
const REACH = { up: 1.79, down: 1.95, side: 1.79 };
/** The imagined table on which the cube casts its shadow: its distance below the cube's centre, and the radius of the shadow. */
const TABLE = { below: 1.45, shadow: 1.75 };
const DRAG_PX = 6;
/** A released layer completes a quarter turn that the drag has begun by this angle, in radians: a third of the quarter turn. */
const COMPLETES = Math.PI / 6;
/** A released layer continues to the next quarter turn if its angle (radians) and its speed (radians per ms) both exceed these limits. */
const FLICK = { angle: 0.1, perMs: 0.0022 };
/** Direction towards the light, in view coordinates. */
const LIGHT: Vector = [-0.36, 0.72, 0.6];
const LETTER = 0.52;
const SIDES = faceletsOf(1);

type Point = readonly [number, number];
type Shades = {
  plastic: string;
  face: string;
  rim: string;
  ground: string;
  text: Record<string, string>;
  colours: Record<string, [number, number, number]>;
};
/** Data of one painting of the cube. `unit` is the edge of a cubie. Stickers of the same colour and side share a gradient. */
type Brush = { c: CanvasRenderingContext2D; shades: Shades; unit: number; gradients: Map<string, CanvasGradient> };
/** Maps a point of a cubie from the cube's coordinates to view coordinates. The mapping includes the current turn of the cubie's layer. */
type Place = (v: Vector) => Vector;
type Motion = { turn: Turn; from: number; to: number; beganMs: number; ms: number; done?: () => void };
type Seen = { at: number; corners: Point[]; centre: Vector };
type Hold = {
  id: number;
  x: number;
  y: number;
  at: Seen | undefined;
  layer?: { turn: Turn; along: Point; sign: number };
  angle: number;
  perMs: number;
  lastMs: number;
};

export type Handling = {
  /** Called when the drag of a layer begins. */
  grabbed(): void;
  /** Called after a drag has turned a layer. The picture already animates or shows the turn. */
  turned(turn: Turn): void;
  /** Called when a key requests a turn. */
  asked(turn: Turn): void;
  undo(): void;
  play(): void;
};

export class CubePicture {
  readonly element: HTMLElement;
  private readonly described = h("p.unseen", { id: id("cube-seen") });
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  private readonly surface: Surface;
  private stickers: string;
  private readonly queue: { turn: Turn; ms?: number; done?: () => void }[] = [];
  private motion: Motion | undefined;
  private hold: Hold | undefined;
  private view = { ...VIEW };
  private goal: typeof VIEW | undefined;
  private letters = false;
  private seen: Seen[] = [];
  private dirty = true;
  private shades: Shades | undefined;

  constructor(stickers: string, handling: Handling) {
    this.stickers = stickers;
    this.element = h(
      "div.cube-picture",
      {
        tabindex: 0,
        role: "application",
        "aria-label":
          "The cube. The keys u, r, f, d, l and b turn a face clockwise, and anticlockwise with shift. Arrow keys turn the view.",
        "aria-describedby": this.described.id,
      },
      [this.canvas, this.described],
    );
    // A canvas is empty after a change of its size, so it is painted immediately.
    this.surface = new Surface(this.canvas, () => {
      this.changed();
      this.draw(performance.now());
    });
    animate(this.canvas, (nowMs) => this.draw(nowMs));
    onTheme(() => {
      this.shades = undefined;
      this.changed();
    });
    this.listen(handling);
  }

  // ---- contents

  /** Shows `stickers` immediately and ends all motion. */
  set(stickers: string): void {
    this.hurry();
    this.stickers = stickers;
    this.changed();
  }

  /** Sets the description for screen readers. While a layer turns, `stickers` is the state after the turn. */
  describe(stickers: string): void {
    write(this.described, spoken(stickers));
    this.element.dataset.facelets = stickers;
  }

  /** Queues a turn. `ms` is the duration of the turn. Without `ms`, the turn is faster when more turns are queued. */
  turn(turn: Turn, ms?: number, done?: () => void): void {
    this.queue.push({ turn, ms, done });
    this.changed();
  }

  hurry(): void {
    const rest = [...(this.motion ? [this.motion] : []), ...this.queue];
    this.motion = undefined;
    this.queue.length = 0;
    for (const { turn, done } of rest) {
      this.stickers = turned(this.stickers, turn);
      done?.();
    }
    this.changed();
  }

  get moving(): boolean {
    return this.motion !== undefined || this.queue.length > 0 || this.hold?.at !== undefined;
  }

  showLetters(letters: boolean): void {
    this.letters = letters;
    this.changed();
  }

  resetView(): void {
    this.goal = { ...VIEW };
    // Reduces the yaw by full turns, so that the view turns back by the shorter way.
    while (this.view.yaw - VIEW.yaw > Math.PI) this.view.yaw -= 2 * Math.PI;
    while (this.view.yaw - VIEW.yaw < -Math.PI) this.view.yaw += 2 * Math.PI;
    this.changed();
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
    this.inSight();
  }

  inSight(): void {
    this.element.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  }

  private changed(): void {
    this.dirty = true;
  }

  // ---- input

  private listen(handling: Handling): void {
    const { element, canvas } = this;
    element.addEventListener("keydown", (event) => this.key(event, handling));
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event, handling));
    for (const end of ["pointerup", "pointercancel"] as const)
      canvas.addEventListener(end, (event) => this.up(event, handling, end === "pointercancel"));
    canvas.addEventListener("dblclick", (event) => this.hit(event.offsetX, event.offsetY) || this.resetView());
    // A touch on the cube turns a layer. A touch beside the cube turns the view if it moves sideways; otherwise it scrolls the page.
    canvas.addEventListener(
      "touchstart",
      (event) => {
        const { left, top } = canvas.getBoundingClientRect();
        const touch = event.touches[0]!;
        if (event.touches.length === 1 && this.hit(touch.clientX - left, touch.clientY - top)) event.preventDefault();
      },
      { passive: false },
    );
  }

  private key(event: KeyboardEvent, handling: Handling): void {
    if (modified(event)) return;
    const size = sizeOf(this.stickers);
    const turn = event.key.length === 1 ? turnOf(size, `${event.key.toUpperCase()}${event.shiftKey ? "'" : ""}`) : undefined;
    const step = arrowOf(event);
    if (turn) event.repeat || handling.asked(turn);
    else if (step) this.turnView(0.35 * step[0], 0.3 * step[1]);
    else if (event.key === "Home") this.resetView();
    else if (event.key === "Backspace" || event.key === "z") handling.undo();
    else if (event.key === " ") event.repeat || handling.play();
    else return;
    event.preventDefault();
  }

  private turnView(yaw: number, pitch: number): void {
    const from = this.goal ?? this.view;
    this.goal = { yaw: from.yaw + yaw, pitch: Math.max(-MOST_PITCH, Math.min(MOST_PITCH, from.pitch + pitch)) };
    this.changed();
  }

  private down(event: PointerEvent): void {
    if (this.hold || event.button !== 0) return;
    this.hurry();
    this.draw(performance.now());
    this.hold = {
      id: event.pointerId,
      x: event.offsetX,
      y: event.offsetY,
      at: this.hit(event.offsetX, event.offsetY),
      angle: 0,
      perMs: 0,
      lastMs: event.timeStamp,
    };
    this.goal = undefined;
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.classList.toggle("held", true);
  }

  private move(event: PointerEvent, handling: Handling): void {
    const { hold } = this;
    if (!hold) {
      this.canvas.classList.toggle("over", this.hit(event.offsetX, event.offsetY) !== undefined);
      return;
    }
    if (event.pointerId !== hold.id) return;
    const [dx, dy] = [event.offsetX - hold.x, event.offsetY - hold.y];
    if (!hold.at) {
      const perPx = Math.PI / Math.max(200, this.surface.width);
      this.view.yaw += 2 * dx * perPx;
      this.view.pitch = Math.max(-MOST_PITCH, Math.min(MOST_PITCH, this.view.pitch + 2 * dy * perPx));
      [hold.x, hold.y] = [event.offsetX, event.offsetY];
      this.changed();
      return;
    }
    if (!hold.layer) {
      if (Math.hypot(dx, dy) < DRAG_PX) return;
      handling.grabbed();
      hold.layer = this.layerAlong(hold.at, [dx, dy]);
    }
    const { along: way, sign } = hold.layer;
    const angle = (sign * (dx * way[0] + dy * way[1])) / (way[0] ** 2 + way[1] ** 2);
    const ms = Math.max(1, event.timeStamp - hold.lastMs);
    hold.perMs = 0.6 * hold.perMs + (0.4 * (angle - hold.angle)) / ms;
    hold.lastMs = event.timeStamp;
    hold.angle = angle;
    this.changed();
  }

  private up(event: PointerEvent, handling: Handling, cancelled: boolean): void {
    const { hold } = this;
    if (!hold || event.pointerId !== hold.id) return;
    this.hold = undefined;
    this.canvas.classList.toggle("held", false);
    if (!hold.layer) return;
    const { turn } = hold.layer;
    const still = event.timeStamp - hold.lastMs > 120;
    let quarters = Math.sign(hold.angle) * Math.floor((Math.abs(hold.angle) + Math.PI / 2 - COMPLETES) / (Math.PI / 2));
    if (quarters === 0 && !still && Math.abs(hold.angle) > FLICK.angle && Math.abs(hold.perMs) > FLICK.perMs)
      quarters = Math.sign(hold.perMs);
    if (cancelled) quarters = 0;
    const made = { ...turn, quarters };
    const to = quarters * (Math.PI / 2);
    this.motion = {
      turn: made,
      from: hold.angle,
      to,
      beganMs: performance.now(),
      ms: calm() ? 0 : TURN_MS * Math.min(1, 0.35 + Math.abs(to - hold.angle)),
    };
    this.changed();
    if (quarters % 4 !== 0) handling.turned(made);
  }

  /**
   * Returns the layer that a drag of a sticker turns. The drag is compared with the two directions along the face. The nearer direction
   * determines the layer.
   */
  private layerAlong(at: Seen, pull: Point): NonNullable<Hold["layer"]> {
    const size = sizeOf(this.stickers);
    const { cell, normal, across, down } = faceletsOf(size)[at.at]!;
    const from = this.project(this.looked(at.centre));
    const ways = [across, down].map((direction) => {
      const to = this.project(this.looked(along(at.centre, 0.1, direction)));
      const way: Point = [(to[0] - from[0]) / 0.1, (to[1] - from[1]) / 0.1];
      return { direction, way, pull: Math.abs(way[0] * pull[0] + way[1] * pull[1]) / Math.hypot(...way) };
    });
    const { direction, way } = ways[0]!.pull >= ways[1]!.pull ? ways[0]! : ways[1]!;
    const about = cross(normal, direction);
    const axis = about.findIndex((n) => n !== 0) as 0 | 1 | 2;
    return { turn: { axis, layer: cell[axis], quarters: 0 }, along: way, sign: about[axis] };
  }

  /** Returns the sticker at a point of the canvas, or undefined if the point is on no sticker. */
  private hit(x: number, y: number): Seen | undefined {
    // The sticker nearest to the eye is painted last, so it is the last one in the list.
    return this.seen.findLast(({ corners }) => inside([x, y], corners));
  }

  // ---- drawing

  private looked(v: Vector): Vector {
    return rotate(rotate(v, 1, this.view.yaw), 0, this.view.pitch);
  }

  private get scale(): number {
    return Math.min(this.surface.width / (2 * REACH.side), this.surface.height / (REACH.up + REACH.down));
  }

  /** Vertical position of the cube's centre on the canvas, in px. It is chosen so that cube and shadow together are in the middle. */
  private get middle(): number {
    return (this.surface.height + this.scale * (REACH.up - REACH.down)) / 2;
  }

  private project([x, y, z]: Vector): Point {
    const s = (this.scale * EYE) / (EYE - z);
    return [this.surface.width / 2 + s * x, this.middle - s * y];
  }

  private draw(nowMs: number): void {
    this.advance(nowMs);
    if (!this.dirty || this.surface.width === 0) return;
    this.dirty = this.motion !== undefined || this.queue.length > 0 || this.goal !== undefined;
    this.paint();
  }

  /** Advances the view and the turns to the time `nowMs`. */
  private advance(nowMs: number): void {
    if (this.goal) {
      const share = calm() ? 1 : 0.22;
      this.view.yaw += (this.goal.yaw - this.view.yaw) * share;
      this.view.pitch += (this.goal.pitch - this.view.pitch) * share;
      if (Math.abs(this.goal.yaw - this.view.yaw) + Math.abs(this.goal.pitch - this.view.pitch) < 0.002) {
        this.view = this.goal;
        this.goal = undefined;
      }
      this.dirty = true;
    }
    for (;;) {
      if (!this.motion && this.queue.length > 0) {
        const { turn, ms, done } = this.queue.shift()!;
        this.motion = {
          turn,
          done,
          from: 0,
          to: turn.quarters * (Math.PI / 2),
          beganMs: nowMs,
          ms: calm() ? 0 : (ms ?? TURN_MS / (1 + 0.5 * this.queue.length)) * (Math.abs(turn.quarters) > 1 ? 1.4 : 1),
        };
      }
      if (!this.motion || nowMs < this.motion.beganMs + this.motion.ms) return;
      const { turn, done } = this.motion;
      this.stickers = turned(this.stickers, turn);
      this.motion = undefined;
      this.dirty = true;
      done?.();
      if (this.queue.length === 0) return;
    }
  }

  /** Returns the layer that is turning and its angle, or undefined if no layer turns. */
  private turning(): { turn: Turn; angle: number } | undefined {
    if (this.hold?.layer) return { turn: this.hold.layer.turn, angle: this.hold.angle };
    if (!this.motion) return undefined;
    const { turn, from, to, beganMs, ms } = this.motion;
    const share = ms > 0 ? Math.max(0, Math.min(1, (performance.now() - beganMs) / ms)) : 1;
    const eased = share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) ** 2;
    return { turn, angle: from + (to - from) * eased };
  }

  private paint(): void {
    const c = this.surface.begin();
    const shades = (this.shades ??= readShades());
    const size = sizeOf(this.stickers);
    const unit = 2 / size;
    const turning = this.turning();
    this.seen = [];
    this.paintShadow(c, shades);

    const eye = this.eye();
    const axis = turning?.turn.axis ?? 0;
    const cubies = cubiesOf(size).map(({ cell, stickers }) => {
      const turns = turning !== undefined && cell[axis] === turning.turn.layer;
      const centre = along([0, 0, 0], unit, cell);
      // Cubies are sorted first by layer and then by distance. The order of layers is safe, because a plane separates the turning layer
      // from each other layer.
      const order = turning ? -Math.abs(centre[axis] - Math.max(-1 - unit, Math.min(1 + unit, eye[axis]))) : 0;
      const depth = -Math.hypot(...along(turns ? rotate(eye, axis, -turning.angle) : eye, -1, centre));
      return { stickers, centre, turns, order, depth };
    });
    cubies.sort((a, b) => a.order - b.order || a.depth - b.depth);
    const brush: Brush = { c, shades, unit, gradients: new Map() };
    for (const { stickers, centre, turns } of cubies) {
      const place: Place = (v) => this.looked(turns ? rotate(v, axis, turning!.angle) : v);
      this.paintCubie(brush, centre, place);
      for (const k of stickers) this.paintSticker(brush, centre, k, place, turns);
    }
  }

  /** Returns the position of the eye, in the cube's coordinates. */
  private eye(): Vector {
    return rotate(rotate([0, 0, EYE], 0, -this.view.pitch), 1, -this.view.yaw);
  }

  /**
   * Paints the shadow of the cube on an imagined table. The shadow is a disc, which appears flattened according to the pitch of the view. A
   * view from below has no shadow.
   */
  private paintShadow(c: CanvasRenderingContext2D, shades: Shades): void {
    const { pitch } = this.view;
    const centre = rotate([0, -TABLE.below, 0], 0, pitch);
    const r = (this.scale * TABLE.shadow * EYE) / (EYE - centre[2]);
    c.save();
    c.globalAlpha = Math.max(0, Math.min(1, 4 * pitch));
    c.translate(...this.project(centre));
    c.scale(1, Math.abs(Math.sin(pitch)));
    const shadow = c.createRadialGradient(0, 0, 0.1 * r, 0, 0, r);
    shadow.addColorStop(0, shades.ground);
    shadow.addColorStop(0.55, shades.ground);
    shadow.addColorStop(1, faint(c, shades.ground));
    c.fillStyle = shadow;
    c.beginPath();
    c.arc(0, 0, r, 0, 7);
    c.fill();
    c.restore();
  }

  /**
   * Returns the projected corners of a square on a side of a cubie. `middle` is the centre of the square, and `reach` is half of its edge
   * length.
   */
  private square(middle: Vector, reach: number, { across, down }: Facelet, place: Place): Point[] {
    const corner = (a: number, d: number): Point => this.project(place(along(along(middle, a * reach, across), d * reach, down)));
    return [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
  }

  private paintCubie({ c, shades, unit }: Brush, centre: Vector, place: Place): void {
    const round = ROUND * unit;
    const inner = unit / 2 - round;
    const points: Point[] = [];
    for (const x of [-inner, inner])
      for (const y of [-inner, inner])
        for (const z of [-inner, inner]) points.push(this.project(place([centre[0] + x, centre[1] + y, centre[2] + z])));
    const depth = place(centre)[2];
    const outline = hull(points);
    c.beginPath();
    outline.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
    c.lineJoin = "round";
    pen(c, shades.rim, (2 * round * this.scale * EYE) / (EYE - depth));
    c.stroke();
    c.lineWidth *= 0.86;
    c.strokeStyle = c.fillStyle = shades.plastic;
    c.stroke();
    c.fill();
    for (const side of SIDES) {
      const surface = along(centre, unit / 2, side.normal);
      const [middle, out] = [place(surface), place(along(surface, unit / 2, side.normal))];
      if (!towards(middle, out)) continue;
      c.fillStyle = shades.face;
      c.globalAlpha = 0.35 + 0.65 * Math.max(0, lit(middle, out));
      rounded(c, this.square(surface, inner * 1.04, side, place), 0.12);
      c.fill();
      c.globalAlpha = 1;
    }
  }

  private paintSticker({ c, shades, unit, gradients }: Brush, centre: Vector, k: number, place: Place, turns: boolean): void {
    const facelet = faceletsOf(sizeOf(this.stickers))[k]!;
    const surface = along(centre, unit / 2, facelet.normal);
    const [middle, out] = [place(surface), place(along(surface, 0.5, facelet.normal))];
    if (!towards(middle, out)) return;
    const corners = this.square(surface, unit * (0.5 - STICKER.inset), facelet, place);
    const letter = this.stickers[k]!;
    const name = `${letter}${facelet.face}${turns}`;
    let fill = gradients.get(name);
    if (!fill) {
      fill = this.sheen(c, shades.colours[letter] ?? [128, 128, 128], lit(middle, out));
      gradients.set(name, fill);
    }
    c.fillStyle = fill;
    rounded(c, corners, STICKER.round);
    c.fill();
    // The area in which a pointer hits a sticker extends to the middle of the gap between stickers.
    this.seen.push({ at: k, corners: this.square(surface, unit / 2, facelet, place), centre: surface });
    if (!this.letters) return;
    // Letters are upright. Their size grows with the square root of the sticker's projected area.
    const [[ox, oy], [ax, ay], , [dx, dy]] = corners as [Point, Point, Point, Point];
    const size = LETTER * Math.sqrt(Math.abs((ax - ox) * (dy - oy) - (ay - oy) * (dx - ox)));
    const [x, y] = this.project(middle);
    c.fillStyle = shades.text[letter] ?? "#000";
    c.font = font(size, 600);
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(letter, x, y + 0.07 * size);
  }

  /**
   * Returns the gradient of a sticker's colour. The colour is brighter on a side that faces the light. `light` is the cosine that `lit`
   * returns.
   */
  private sheen(c: CanvasRenderingContext2D, [r, g, b]: [number, number, number], light: number): CanvasGradient {
    const { width, height } = this.surface;
    const reach = 1.5 * this.scale;
    const gradient = c.createLinearGradient(width / 2 - 0.6 * reach, height / 2 - reach, width / 2 + 0.6 * reach, height / 2 + reach);
    const shade = 0.76 + 0.3 * Math.max(0, light);
    const tone = (by: number, white: number): string =>
      `rgb(${[r, g, b].map((n) => Math.round(Math.min(255, n * by + 255 * white))).join(" ")})`;
    gradient.addColorStop(0, tone(shade * 1.05, 0.1 * Math.max(0, light)));
    gradient.addColorStop(0.5, tone(shade, 0.02));
    gradient.addColorStop(1, tone(shade * 0.9, 0));
    return gradient;
  }
}

const rotate = ([x, y, z]: Vector, axis: number, angle: number): Vector => {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return axis === 0
    ? [x, c * y - s * z, s * y + c * z]
    : axis === 1
      ? [c * x + s * z, y, c * z - s * x]
      : [c * x - s * y, s * x + c * y, z];
};

/** Returns true if a plane through `middle` faces the eye. The line from `middle` to `out` is the plane's outer normal. */
function towards(middle: Vector, out: Vector): boolean {
  const normal = along(out, -1, middle);
  return dot(normal, [-middle[0], -middle[1], EYE - middle[2]]) > 0;
}

/** Returns the cosine of the angle between the light and the normal of a plane. `middle` and `out` define the plane as in `towards`. */
function lit(middle: Vector, out: Vector): number {
  const normal = along(out, -1, middle);
  return dot(normal, LIGHT) / (Math.hypot(...normal) * Math.hypot(...LIGHT));
}

function inside([x, y]: Point, corners: Point[]): boolean {
  let within = false;
  corners.forEach(([ax, ay], k) => {
    const [bx, by] = corners[(k + 1) % corners.length]!;
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  });
  return within;
}

/** Adds a polygon with rounded corners to the path. A rounding begins and ends at the share `share` of the adjacent edges. */
function rounded(c: CanvasRenderingContext2D, corners: Point[], share: number): void {
  const between = (a: Point, b: Point): Point => [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
  c.beginPath();
  corners.forEach((corner, k) => {
    const [before, next] = [corners[(k + corners.length - 1) % corners.length]!, corners[(k + 1) % corners.length]!];
    const [enter, leave] = [between(corner, before), between(corner, next)];
    if (k === 0) c.moveTo(...enter);
    else c.lineTo(...enter);
    c.quadraticCurveTo(...corner, ...leave);
  });
  c.closePath();
}

/** Returns the convex hull of points, by Andrew's monotone chain. */
function hull(points: Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (a: Point, b: Point, c: Point): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const side = (all: Point[]): Point[] => {
    const kept: Point[] = [];
    for (const point of all) {
      while (kept.length > 1 && turn(kept.at(-2)!, kept.at(-1)!, point) <= 0) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...side(sorted), ...side(sorted.reverse())];
}

/** Returns the same colour with alpha 0, so that a gradient to it keeps the hue. */
function faint(c: CanvasRenderingContext2D, colour: string): string {
  c.fillStyle = colour;
  const written = String(c.fillStyle); // the browser's form: `#rrggbb` or `rgba(r, g, b, a)`
  return written.startsWith("#") ? `${written}00` : written.replace(/[\d.]+\)$/, "0)");
}

/** Reads the colours of the current theme from the style sheet. */
function readShades(): Shades {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string): string => style.getPropertyValue(`--cube-${name}`).trim();
  const letters = Array.from("URFDLB");
  const triple = (letter: string): [number, number, number] => {
    const hex = parseInt(value(letter.toLowerCase()).slice(1), 16);
    return [hex >> 16, (hex >> 8) & 255, hex & 255];
  };
  return {
    plastic: value("plastic"),
    face: value("face"),
    rim: value("rim"),
    ground: value("ground"),
    text: Object.fromEntries(letters.map((letter) => [letter, value(`on-${letter.toLowerCase()}`)])),
    colours: Object.fromEntries(letters.map((letter) => [letter, triple(letter)])),
  };
}
