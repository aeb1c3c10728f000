// A backgammon board, drawn from the point of view of side 0. The points of side 0 count from the lower right. A place is a point, the bar
// or the tray of borne-off checkers. Each place has a button over the drawing, for pointers, keys and screen readers. The board does not
// know the rules: the caller passes the legal steps, and the board reports the chosen step.

import { h, id, svg } from "../../parts/dom";
import { calm } from "../../parts/loop";
import { modified } from "../../parts/keys";
import { allOf, type Roll } from "./dice";
import { fit } from "./fit";

/** A side of the board. The board is drawn from the point of view of side 0. */
export type Side = 0 | 1;
/** Checker counts of both sides. Each side counts in its own numbering: index 0 is borne off, 1 to 24 are points, 25 is the bar. */
export type Places = { mine: number[]; theirs: number[] };
/** Move of one checker by one die, in the numbering of the checker's side. 25 is the bar, 0 is off. */
export type Step = { from: number; to: number; hit: boolean };
export type Cube = { value: number; owner: Side | null };
export type Dice = { side: Side; shown: Roll; left: number[] };

export const BAR = 25;
export const OFF = 0;
/** Places of a side's checkers at the start of a game, in the side's own numbering. */
export const START: [place: number, count: number][] = [
  [6, 5],
  [8, 3],
  [13, 5],
  [24, 2],
];

const COLUMN = 44;
const R = 20.5;
const RIM = 24;
/** Distance of a point's number from the edge. It is less than half of the rim, so that the number does not touch the checkers. */
const NUMBER_Y = 11;
const HALF = 6 * COLUMN;
const TRAY = 50;
const GAP = 8;
const LEFT = 10;
const BAR_X = LEFT + HALF;
const RIGHT_X = BAR_X + COLUMN;
const TRAY_X = RIGHT_X + HALF + GAP;
const WIDTH = TRAY_X + TRAY + 6;
/**
 * Distance between neighbouring checkers of a stack, in units of the drawing. It is less than a checker's diameter, so that the board is
 * flat and fits a wide screen.
 */
const STACKED = 36;
const POINT_HEIGHT = 186;
const HEIGHT = 2 * (RIM + POINT_HEIGHT) + 60;
const TOP = RIM;
const BOTTOM = HEIGHT - RIM;
const MIDDLE = HEIGHT / 2;
const MOST_STACKED = 5;
const STEP_MS = 330;
const DRAG_PX = 6;
/** Width of the board below which the points have no numbers, because the rim is too low for the digits. */
const TINY_PX = 320;
/**
 * Maximum distance between a touch and the button of the place that the touch selects. Touches need this tolerance, because the points of
 * a narrow board are thinner than a finger.
 */
const NEAR_PX = 10;

/** Dots of each face of a die, as offsets from the centre. Each digit is a field of a 3×3 grid, counted row by row from 1. */
const PIPS = ["5", "19", "159", "1379", "13579", "134679"].map((places) =>
  Array.from(places, (place) => [((Number(place) - 1) % 3) - 1, Math.floor((Number(place) - 1) / 3) - 1] as const),
);

/** Converts a place from a side's numbering to that of side 0. Bar and off are unchanged. */
const seen = (side: Side, place: number): number => (side === 0 || place === BAR || place === OFF ? place : 25 - place);

function columnX(point: number): number {
  if (point <= 6) return RIGHT_X + (6 - point + 0.5) * COLUMN;
  if (point <= 12) return LEFT + (12 - point + 0.5) * COLUMN;
  if (point <= 18) return LEFT + (point - 13 + 0.5) * COLUMN;
  return RIGHT_X + (point - 19 + 0.5) * COLUMN;
}

type Spot = { x: number; y: number; flat: boolean };

/** Returns the position of a checker in the drawing. `below` is the number of checkers below it in its stack. */
function spot(side: Side, place: number, below: number): Spot {
  const level = Math.min(below, MOST_STACKED - 1);
  if (place === BAR) return { x: BAR_X + COLUMN / 2, y: MIDDLE + (side === 0 ? 1 : -1) * (44 + level * 34), flat: false };
  if (place === OFF) return { x: TRAY_X + TRAY / 2, y: side === 0 ? BOTTOM - 9 - below * 12.6 : TOP + 9 + below * 12.6, flat: true };
  const point = seen(side, place);
  const up = point > 12;
  return { x: columnX(point), y: up ? TOP + R + level * STACKED : BOTTOM - R - level * STACKED, flat: false };
}

const put = (element: SVGElement, { x, y, flat }: Spot): void => {
  element.style.transform = `translate(${x}px, ${y}px)${flat ? " scale(1, 0.3)" : ""}`;
};

const checkers = (n: number): string => (n === 1 ? "1 checker" : `${n} checkers`);

export type BoardCallbacks = {
  /** Called when the visitor chooses a legal step. */
  step(from: number, to: number): void;
  refuse(words: string): void;
};

export class Board {
  readonly element: HTMLElement;
  private readonly drawing: SVGSVGElement;
  private readonly moving = svg("g");
  private readonly marks = svg("g", { class: "marks" });
  private readonly arrows = svg("g", { class: "arrows" });
  private readonly counts = svg("g", { class: "counts" });
  private readonly dice = svg("g", { class: "dice" });
  private readonly cube = svg("g", { class: "cube" });
  private readonly word = svg("g", { class: "word" });
  private readonly cubeText = svg("text", { "text-anchor": "middle", dy: "0.36em" });
  private readonly head = id("arrow");
  /** Checkers by side and place. Each stack is ordered from the lowest checker to the highest. */
  private readonly stacks: SVGGElement[][][] = [[], []];
  private readonly buttons = new Map<number, HTMLButtonElement>();
  private readonly overlay: HTMLElement;
  private open: Step[] = [];
  private source: number | undefined;
  private focused = 6;
  /** Number of calls of `show` and `play`. A newer call stops the animation of an older one. */
  private turn = 0;
  private dragged = false;
  /** Called when the visitor chooses a place in an editor. `less` is true if a checker is to be removed from this place. */
  pick: ((place: number, less: boolean) => void) | undefined;

  /** Without callbacks the board is read-only. */
  constructor(
    label: string,
    private readonly callbacks?: BoardCallbacks,
  ) {
    const defs = svg(
      "defs",
      {},
      svg(
        "marker",
        { id: this.head, viewBox: "0 0 10 10", refX: 7, refY: 5, markerWidth: 5, markerHeight: 5, orient: "auto-start-reverse" },
        svg("path", { class: "head", d: "M0 0.6 9 5 0 9.4Z" }),
      ),
    );
    this.cube.append(svg("rect", { x: -16, y: -16, width: 32, height: 32, rx: 5 }), this.cubeText);
    this.drawing = svg("svg", { class: "drawing", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    this.drawing.append(defs, ...surface(), this.marks, this.moving, this.counts, this.cube, this.arrows, this.dice, this.word);
    for (const side of [0, 1] as Side[]) {
      for (let place = OFF; place <= BAR; place++) this.stacks[side]!.push([]);
      for (const [place, count] of START)
        for (let k = 0; k < count; k++) {
          const checker = svg(
            "g",
            { class: `checker side-${side}` },
            svg("circle", { r: R }),
            svg("circle", { class: "ring", r: R * 0.62 }),
          );
          put(checker, spot(side, place, k));
          this.moving.append(checker);
          this.stacks[side]![place]!.push(checker);
        }
    }
    this.overlay = h("div.board-places", { role: "group", "aria-label": label });
    this.element = h("div", { class: callbacks ? "board playable" : "board" }, this.drawing, this.overlay);
    this.makeButtons();
    this.listen();
    fit(this.element, (width) => {
      this.element.style.setProperty("--px", String(WIDTH / width));
      this.drawing.classList.toggle("tiny", width < TINY_PX);
    });
  }

  // ---- contents

  /** Shows a position. Checkers glide to their new places. */
  show({ mine, theirs }: Places): void {
    this.turn++;
    [mine, theirs].forEach((counts, side) => this.rearrange(side as Side, counts));
    this.settle();
  }

  /** Animates the steps of a side. A newer call of `show` or `play` stops the animation. */
  async play(side: Side, steps: Step[]): Promise<void> {
    const turn = ++this.turn;
    for (const step of steps) {
      if (turn !== this.turn) return;
      this.move(side, step);
      this.settle();
      if (!calm()) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    }
  }

  /**
   * Draws an arrow for each step; an empty list removes the arrows. If `guess` is false, the steps led to the shown position. If `guess` is
   * true, the steps start from the shown position.
   */
  point(side: Side, steps: Step[], guess = false): void {
    this.arrows.classList.toggle("guess", guess);
    this.arrows.replaceChildren();
    // The counts are updated after each step. A checker that moves twice starts its second step from a point that may be empty in the shown
    // position.
    const counts = this.stacks[side]!.map((stack) => stack.length);
    if (!guess)
      for (const { from, to } of [...steps].reverse()) {
        counts[to]!--;
        counts[from]!++;
      }
    for (const { from, to } of steps) {
      const start = spot(side, from, Math.max(0, --counts[from]!));
      const end = spot(side, to, Math.max(0, counts[to]!++));
      const bow = Math.abs(end.x - start.x) < 2 ? 30 : 0;
      const middle = {
        x: (start.x + end.x) / 2 + bow,
        y: (start.y + end.y) / 2 + (start.y > MIDDLE === end.y > MIDDLE ? (start.y > MIDDLE ? -46 : 46) : 0),
      };
      if (!guess) this.arrows.append(svg("circle", { class: "ghost", r: R - 2, cx: start.x, cy: start.y }));
      this.arrows.append(
        svg("path", { d: `M${start.x} ${start.y}Q${middle.x} ${middle.y} ${end.x} ${end.y}`, "marker-end": `url(#${this.head})` }),
      );
    }
  }

  /** Shows a text in a side's half of the board, such as the side's answer to a double. An empty string removes the text. */
  say(side: Side, words: string): void {
    this.word.replaceChildren();
    if (!words) return;
    const y = side === 0 ? MIDDLE + 74 : MIDDLE - 74;
    const x = LEFT + HALF / 2;
    const width = 26 + 11 * words.length;
    this.word.append(
      svg("rect", { class: `side-${side}`, x: x - width / 2, y: y - 18, width, height: 36, rx: 18 }),
      svg("text", { class: `side-${side}`, x, y, "text-anchor": "middle", dy: "0.36em" }, words),
    );
  }

  throw(dice: Dice | undefined): void {
    this.dice.replaceChildren();
    if (!dice) return;
    const { side, shown, left } = dice;
    const double = shown[0] === shown[1];
    const all = allOf(shown);
    const middle = (side === 0 ? RIGHT_X : LEFT) + HALF / 2;
    const unused = [...left];
    // A double counts as four equal dice. The dice that have been played are the first ones.
    const used = all.map((number, k) => {
      if (double) return k < all.length - left.length;
      const at = unused.indexOf(number);
      if (at >= 0) unused.splice(at, 1);
      return at < 0;
    });
    all.forEach((number, k) => {
      const x = middle + (k - (all.length - 1) / 2) * 44;
      const die = svg(
        "g",
        { class: `die side-${side}${used[k] ? " used" : ""}`, transform: `translate(${x} ${MIDDLE})` },
        svg("rect", { x: -17, y: -17, width: 34, height: 34, rx: 6 }),
      );
      for (const [dx, dy] of PIPS[number - 1] ?? []) die.append(svg("circle", { r: 3.2, cx: 9 * dx, cy: 9 * dy }));
      this.dice.append(die);
    });
  }

  /** Shows the doubling cube, or hides it if `cube` is undefined. */
  turnCube(cube: Cube | undefined): void {
    this.cube.style.display = cube ? "" : "none";
    if (!cube) return;
    // A cube that has not been turned shows 64, as on a real board.
    this.cubeText.textContent = String(cube.owner === null && cube.value === 1 ? 64 : cube.value);
    const y = cube.owner === null ? MIDDLE : cube.owner === 0 ? BOTTOM - 18 : TOP + 18;
    this.cube.style.transform = `translate(${BAR_X + COLUMN / 2}px, ${y}px)`;
  }

  /** Sets the legal steps of the person, who plays side 0. */
  offer(steps: Step[]): void {
    this.open = steps;
    if (this.source !== undefined && !steps.some(({ from }) => from === this.source)) this.source = undefined;
    this.mark();
  }

  /** Names the board for screen readers. */
  label(words: string): void {
    this.overlay.setAttribute("aria-label", words);
  }

  focus(how?: FocusOptions): void {
    this.buttons.get(this.open[0]?.from ?? this.focused)?.focus(how);
  }

  // ---- checkers

  private rearrange(side: Side, counts: number[]): void {
    const stacks = this.stacks[side]!;
    const spare: SVGGElement[] = [];
    for (let place = OFF; place <= BAR; place++) while (stacks[place]!.length > (counts[place] ?? 0)) spare.push(stacks[place]!.pop()!);
    for (let place = OFF; place <= BAR; place++)
      while (stacks[place]!.length < (counts[place] ?? 0) && spare.length) stacks[place]!.push(spare.shift()!);
  }

  private move(side: Side, { from, to, hit }: Step): void {
    const checker = this.stacks[side]![from]!.pop();
    if (!checker) return;
    const other = (1 - side) as Side;
    const victim = hit ? this.stacks[other]![25 - to]!.pop() : undefined;
    if (victim) this.stacks[other]![BAR]!.push(victim);
    this.stacks[side]![to]!.push(checker);
    // The moving checker is drawn above the others. Reading the layout makes the browser start the transition from the checker's old place.
    this.moving.append(checker);
    void checker.getBoundingClientRect();
  }

  private settle(): void {
    this.counts.replaceChildren();
    for (const side of [0, 1] as Side[])
      this.stacks[side]!.forEach((stack, place) => {
        stack.forEach((checker, k) => put(checker, spot(side, place, k)));
        if (stack.length <= MOST_STACKED || place === OFF) return;
        const { x, y } = spot(side, place, MOST_STACKED - 1);
        this.counts.append(svg("text", { class: `side-${side}`, x, y, "text-anchor": "middle", dy: "0.36em" }, String(stack.length)));
      });
    this.name();
  }

  // ---- places

  private makeButtons(): void {
    const percent = (part: number, whole: number): string => `${(100 * part) / whole}%`;
    const place = (at: number, x: number, y: number, width: number, height: number): void => {
      const button = h("button", {
        "data-place": at,
        tabindex: at === this.focused ? 0 : -1,
        style: `left:${percent(x, WIDTH)};top:${percent(y, HEIGHT)};width:${percent(width, WIDTH)};height:${percent(height, HEIGHT)}`,
      });
      this.buttons.set(at, button);
      this.overlay.append(button);
    };
    for (let point = 24; point >= 1; point--) place(point, columnX(point) - COLUMN / 2, point > 12 ? 0 : MIDDLE, COLUMN, MIDDLE);
    place(BAR, BAR_X, 0, COLUMN, HEIGHT);
    place(OFF, TRAY_X, 0, TRAY, HEIGHT);
    this.name();
  }

  private name(): void {
    for (const [at, button] of this.buttons) {
      const own = this.stacks[0]![at]?.length ?? 0;
      const other = this.stacks[1]![at === BAR || at === OFF ? at : 25 - at]?.length ?? 0;
      const parts = [at === BAR ? "Bar" : at === OFF ? "Borne off" : `Point ${at}`];
      if (own) parts.push(`${checkers(own)} of yours`);
      if (other) parts.push(`${checkers(other)} of theirs`);
      if (!own && !other) parts.push(at === OFF ? "none" : "empty");
      const targets = this.open.filter(({ from }) => from === at);
      if (this.source === at) parts.push("picked up");
      else if (this.source !== undefined && this.leads(this.source, at)) parts.push("can go here");
      else if (this.source === undefined && targets.length) parts.push("can move");
      const label = parts.join(", ");
      if (button.getAttribute("aria-label") !== label) button.setAttribute("aria-label", label);
      button.classList.toggle("open", this.source === undefined && targets.length > 0);
      button.classList.toggle("target", this.source !== undefined && this.leads(this.source, at));
    }
  }

  private leads(from: number, to: number): boolean {
    return this.open.some((step) => step.from === from && step.to === to);
  }

  /** Marks the targets of the picked-up checker. If no checker is picked up, marks the movable checkers. */
  private mark(): void {
    this.name();
    this.marks.replaceChildren();
    const mine = this.stacks[0]!;
    if (this.source === undefined) {
      for (const from of new Set(this.open.map((step) => step.from))) {
        const { x, y } = spot(0, from, Math.max(0, mine[from]!.length - 1));
        this.marks.append(svg("circle", { class: "movable", r: R + 2.5, cx: x, cy: y }));
      }
      return;
    }
    const from = spot(0, this.source, Math.max(0, mine[this.source]!.length - 1));
    this.marks.append(svg("circle", { class: "taken", r: R + 3, cx: from.x, cy: from.y }));
    for (const { from, to, hit } of this.open) {
      if (from !== this.source) continue;
      if (to === OFF)
        this.marks.append(svg("rect", { class: "goal", x: TRAY_X, y: MIDDLE + 4, width: TRAY, height: BOTTOM - MIDDLE - 4, rx: 4 }));
      else {
        const { x, y } = spot(0, to, hit ? 0 : Math.min(mine[to]!.length, MOST_STACKED - 1));
        this.marks.append(svg("circle", { class: hit ? "goal hit" : "goal", r: hit ? R + 3 : R - 3, cx: x, cy: y }));
      }
    }
  }

  private choose(at: number): void {
    if (this.source === undefined) {
      if (this.open.some(({ from }) => from === at)) this.source = at;
      else if (this.open.length)
        this.callbacks?.refuse(`No checker can move from ${at === BAR ? "the bar" : at === OFF ? "here" : `point ${at}`} now.`);
      this.mark();
      return;
    }
    const from = this.source;
    if (at === from) {
      // A second click on the picked-up checker moves it by the largest legal die.
      const farthest = this.open.filter((step) => step.from === from).sort((a, b) => a.to - b.to)[0];
      if (farthest) this.step(from, farthest.to);
    } else if (this.leads(from, at)) this.step(from, at);
    else if (this.open.some((step) => step.from === at)) this.source = at;
    else {
      this.source = undefined;
      this.callbacks?.refuse("This checker cannot move there with this roll.");
    }
    this.mark();
  }

  private step(from: number, to: number): void {
    this.source = undefined;
    this.open = [];
    this.callbacks?.step(from, to);
  }

  // ---- keys and pointers

  private listen(): void {
    this.overlay.addEventListener("click", (event) => {
      const at = this.aim(event);
      if (at === undefined) return;
      if (this.dragged) {
        this.dragged = false;
        return;
      }
      this.visit(at);
      if (this.pick) this.pick(at, event.shiftKey);
      else this.choose(at);
    });
    this.overlay.addEventListener("keydown", (event) => {
      const at = placeOf(event.target);
      if (at === undefined || modified(event)) return;
      if (event.key === "Escape" && this.source !== undefined) {
        this.source = undefined;
        this.mark();
        event.preventDefault();
      }
      if (this.pick && ["+", "-", "Delete", "Backspace"].includes(event.key)) {
        event.preventDefault();
        this.pick(at, event.key !== "+");
      }
      const next = beside(at, event.key);
      if (next === undefined) return;
      event.preventDefault();
      this.visit(next);
      this.buttons.get(next)?.focus();
    });
    this.overlay.addEventListener("focusin", (event) => {
      const at = placeOf(event.target);
      if (at !== undefined) this.visit(at);
    });
    this.overlay.addEventListener("pointerdown", (event) => this.press(event));
  }

  private aim(event: MouseEvent): number | undefined {
    const at = placeOf(event.target);
    const touched = event instanceof PointerEvent && event.pointerType === "touch";
    if (at === undefined || !touched || this.pick || this.choosable(at)) return at;
    let [nearest, least] = [at, NEAR_PX];
    for (const [place, button] of this.buttons) {
      if (!this.choosable(place)) continue;
      const { left, right, top, bottom } = button.getBoundingClientRect();
      const away = Math.hypot(
        Math.max(left - event.clientX, 0, event.clientX - right),
        Math.max(top - event.clientY, 0, event.clientY - bottom),
      );
      if (away < least) [nearest, least] = [place, away];
    }
    return nearest;
  }

  private choosable(at: number): boolean {
    return this.open.some(({ from }) => from === at) || (this.source !== undefined && (at === this.source || this.leads(this.source, at)));
  }

  private visit(at: number): void {
    this.buttons.get(this.focused)?.setAttribute("tabindex", "-1");
    this.focused = at;
    this.buttons.get(at)?.setAttribute("tabindex", "0");
  }

  private press(event: PointerEvent): void {
    const from = this.aim(event);
    this.dragged = false;
    if (event.button !== 0 || from === undefined || !this.open.some((step) => step.from === from)) return;
    const checker = this.stacks[0]![from]!.at(-1);
    if (!checker) return;
    const begun = { x: event.clientX, y: event.clientY };
    const stop = new AbortController();
    const drop = (at: number | undefined): void => {
      stop.abort();
      checker.classList.remove("held");
      if (!this.dragged) return;
      // The browser sends a click after the drag. `dragged` stays true until then, so that this click is ignored.
      setTimeout(() => (this.dragged = false));
      if (at !== undefined && this.leads(from, at)) {
        this.step(from, at);
        this.mark();
        return;
      }
      this.source = undefined;
      this.settle();
      this.mark();
    };
    addEventListener(
      "pointermove",
      (moved) => {
        if (moved.pointerId !== event.pointerId) return;
        if (!this.dragged && Math.hypot(moved.clientX - begun.x, moved.clientY - begun.y) < DRAG_PX) return;
        if (!this.dragged) {
          this.dragged = true;
          this.source = from;
          this.mark();
          checker.classList.add("held");
          this.moving.append(checker);
        }
        const { left, top, width } = this.drawing.getBoundingClientRect();
        const scale = WIDTH / width;
        put(checker, { x: (moved.clientX - left) * scale, y: (moved.clientY - top) * scale, flat: false });
      },
      { signal: stop.signal },
    );
    addEventListener(
      "pointerup",
      (ended) => ended.pointerId === event.pointerId && drop(placeOf(document.elementFromPoint(ended.clientX, ended.clientY))),
      { signal: stop.signal },
    );
    addEventListener("pointercancel", () => drop(undefined), { signal: stop.signal });
  }
}

function placeOf(target: EventTarget | null): number | undefined {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-place]") : null;
  return button ? Number(button.dataset.place) : undefined;
}

/** Places of the upper and the lower row, from left to right. */
const ROWS = [
  [13, 14, 15, 16, 17, 18, BAR, 19, 20, 21, 22, 23, 24, OFF],
  [12, 11, 10, 9, 8, 7, BAR, 6, 5, 4, 3, 2, 1, OFF],
];

function beside(at: number, key: string): number | undefined {
  const row = ROWS[0]!.includes(at) && at !== BAR && at !== OFF ? 0 : 1;
  const k = ROWS[row]!.indexOf(at);
  if (key === "ArrowLeft") return ROWS[row]![Math.max(0, k - 1)];
  if (key === "ArrowRight") return ROWS[row]![Math.min(13, k + 1)];
  if (key === "ArrowUp") return ROWS[0]![k];
  if (key === "ArrowDown") return ROWS[1]![k];
  return undefined;
}

/** Returns the drawing of the board: frame, fields, trays and points. */
function surface(): SVGElement[] {
  const parts: SVGElement[] = [
    svg("rect", { class: "frame", width: WIDTH, height: HEIGHT, rx: 8 }),
    svg("rect", { class: "field", x: LEFT, y: TOP, width: HALF, height: BOTTOM - TOP }),
    svg("rect", { class: "field", x: RIGHT_X, y: TOP, width: HALF, height: BOTTOM - TOP }),
    svg("rect", { class: "tray", x: TRAY_X, y: TOP, width: TRAY, height: MIDDLE - TOP - 4, rx: 4 }),
    svg("rect", { class: "tray", x: TRAY_X, y: MIDDLE + 4, width: TRAY, height: BOTTOM - MIDDLE - 4, rx: 4 }),
  ];
  for (let point = 1; point <= 24; point++) {
    const x = columnX(point);
    const [base, tip] = point > 12 ? [TOP, TOP + POINT_HEIGHT] : [BOTTOM, BOTTOM - POINT_HEIGHT];
    parts.push(
      svg("path", {
        class: point % 2 ? "point odd" : "point even",
        d: `M${x - COLUMN / 2 + 1.5} ${base}L${x} ${tip}L${x + COLUMN / 2 - 1.5} ${base}Z`,
      }),
      svg("text", { class: "at", x, y: point > 12 ? NUMBER_Y : HEIGHT - NUMBER_Y, "text-anchor": "middle", dy: "0.36em" }, String(point)),
    );
  }
  return parts;
}
