// Input of the visitor at the stage, where the page shows one environment large. The input consists of held keys, a pointer that steers,
// and a pointer that drags a part of the environment.

import { h, icon } from "../../parts/dom";
import { clamp, modified } from "../../parts/keys";
import type { Environment } from "./protocol";
import type { Point, World } from "./worlds/world";

/** Distance of the pointer from the centre at which the steering is full, as a share of the picture's width. */
const FULL_SHARE = 0.35;
/** Maximum distance of a pointer from a part that it can grip, in px. */
const NEAR_PX = { mouse: 26, finger: 44 };

export type Side = "left" | "right" | "up";
const SIDES: Record<string, Side> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", a: "left", d: "right", w: "up" };

export type Scene = { environment: Environment; world: World };
export type Grip = { what: string; hand: Point; words: string; from: Point };

/** The pane of the stage, which receives the visitor's input. */
export interface Handled {
  readonly driving: boolean;
  readonly scene: Scene | undefined;
  /** Returns the part that a pointer at `at` would grip, or undefined if none is within `near` px. */
  reach(at: Point, near: number): string | undefined;
  touched(): void;
  pushed(side: Side, shift: boolean): void;
  take(taken: boolean): void;
}

/** Returns the name of a key as it appears in sentences. */
export const keyName = (key: string): string =>
  ({ "": "no key", " ": "space", ArrowLeft: "left arrow", ArrowRight: "right arrow", ArrowUp: "up arrow", ArrowDown: "down arrow" })[key] ??
  key;

export class Hands {
  readonly keys: Record<Side, boolean> & { shift: boolean } = { left: false, right: false, up: false, shift: false };
  /** Held keys, in the order in which they were pressed. Contains only keys that the environment's file names. */
  private readonly held = new Set<string>();
  grip: Grip | undefined;
  /** Steering by a pressed pointer, from −1 (left) to 1 (right); undefined if no pointer steers. */
  private steer: number | undefined;

  constructor(
    private readonly field: HTMLElement,
    private readonly handled: Handled,
  ) {
    field.addEventListener("pointerdown", (event) => this.down(event));
    field.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) field.addEventListener(end, () => this.letGo());
    field.addEventListener("keydown", (event) => this.key(event, true));
    field.addEventListener("keyup", (event) => this.key(event, false));
    field.addEventListener("blur", () => this.release());
  }

  letGo(): void {
    this.grip = this.steer = undefined;
    this.field.classList.remove("held");
  }

  private release(): void {
    Object.assign(this.keys, { left: false, right: false, up: false });
    this.held.clear();
  }

  /**
   * True if time stops until the visitor presses a key. This is the case if the file names keys, none of them is held, and no action is
   * defined for the case without a key.
   */
  get waits(): boolean {
    const keys = this.handled.scene?.world.keys;
    return keys !== undefined && this.held.size === 0 && !keys.has("");
  }

  /** −1 while only the left key is held, 1 while only the right key is held, otherwise 0. */
  get side(): number {
    return Number(this.keys.right) - Number(this.keys.left);
  }

  /** Creates a button that acts as an arrow key while the button is held. */
  button(side: Side, label: string): HTMLButtonElement {
    return this.holding(h("button", { "aria-label": label, title: label }, icon(side)), (down) => (this.keys[side] = down));
  }

  /** Creates a button that acts as a key of the environment's file while the button is held. */
  keyButton(key: string, label: string): HTMLButtonElement {
    return this.holding(h("button", { title: keyName(key) }, label), (down) => this.hold(key, down));
  }

  private hold(key: string, down: boolean): void {
    this.held.delete(key);
    if (down) this.held.add(key);
  }

  private holding(button: HTMLButtonElement, set: (down: boolean) => void): HTMLButtonElement {
    const hold = (down: boolean) => (): void => {
      set(down);
      if (down) this.handled.touched();
    };
    button.addEventListener("pointerdown", hold(true));
    for (const up of ["pointerup", "pointerleave", "pointercancel", "blur", "keyup"]) button.addEventListener(up, hold(false));
    button.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") hold(true)();
    });
    return button;
  }

  /** Returns the visitor's action. `steps` is the number of steps of the episode so far. */
  action({ environment, world }: Scene, steps: number): number[] {
    const { keys, steer } = this;
    if (world.keys) return this.keyed(environment, world.keys);
    if (environment.choices.length === 0) {
      const [low, high] = environment.range;
      const level = this.side * (keys.shift ? 0.5 : 1) || (steer ?? 0);
      const rest = (low + high) / 2;
      return [rest + (level * (high - low)) / 2, ...Array<number>(environment.numbers - 1).fill(rest)];
    }
    return [this.choice(world, steps)];
  }

  /**
   * Returns the action of the held keys that the environment's file names. If actions are numbers, adds the numbers of all held keys. If
   * actions are choices, returns the choice of the key that was pressed last.
   */
  private keyed({ choices, numbers }: Environment, keys: Map<string, number[]>): number[] {
    const held = [...this.held].map((key) => keys.get(key) ?? []);
    const none = keys.get("") ?? Array<number>(numbers).fill(0);
    if (choices.length || held.length === 0) return held.at(-1) ?? none;
    return none.map((_, k) => held.reduce((sum, action) => sum + (action[k] ?? 0), 0));
  }

  private choice(world: Scene["world"], steps: number): number {
    const { keys, steer } = this;
    const { left, right, up, rest } = world.controls;
    // If the environment has the control `up`, a pointer in the middle third of the picture operates it.
    const third = up !== undefined ? 1 / 3 / (2 * FULL_SHARE) : 0;
    if (up !== undefined && (keys.up || (steer !== undefined && Math.abs(steer) <= third))) return up;
    if (left !== undefined && (keys.left || (steer !== undefined && steer < -third))) return left;
    if (right !== undefined && (keys.right || (steer !== undefined && steer > third))) return right;
    return rest ?? (steps % 2 ? right : left) ?? 0;
  }

  private place(event: PointerEvent): Point {
    const { left, top } = this.field.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  private across(event: PointerEvent): number {
    const { left, width } = this.field.getBoundingClientRect();
    return clamp((event.clientX - left - width / 2) / (width * FULL_SHARE), -1, 1);
  }

  private reach(event: PointerEvent): string | undefined {
    return this.handled.reach(this.place(event), event.pointerType === "mouse" ? NEAR_PX.mouse : NEAR_PX.finger);
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { field, handled } = this;
    if (handled.driving) this.steer = this.across(event);
    else {
      const what = this.reach(event);
      if (!what) return;
      const hand = this.place(event);
      this.grip = { what, hand, from: hand, words: "" };
      field.classList.add("held");
    }
    handled.touched();
    event.preventDefault();
    field.focus({ preventScroll: true });
    field.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (this.steer !== undefined) this.steer = this.across(event);
    else if (this.grip) this.grip.hand = this.place(event);
    else this.field.classList.toggle("near", !this.handled.driving && this.reach(event) !== undefined);
  }

  private key(event: KeyboardEvent, down: boolean): void {
    if (modified(event)) return;
    const { handled } = this;
    const { driving } = handled;
    const letter = event.key.length === 1;
    const key = letter ? event.key.toLowerCase() : event.key;
    const named = driving ? handled.scene?.world.keys : undefined;
    if (named?.has(event.key)) {
      this.hold(event.key, down);
      handled.touched();
    } else if (down && key === "c" && !event.repeat) handled.take(!driving);
    else {
      const side = SIDES[key];
      if (!side || !this.used(side) || (letter && !driving)) return;
      this.keys[side] = down;
      this.keys.shift = event.shiftKey;
      handled.touched();
      if (down && !event.repeat && !driving) handled.pushed(side, event.shiftKey);
    }
    event.preventDefault();
  }

  private used(side: Side): boolean {
    const { driving, scene } = this.handled;
    if (!scene) return false;
    const { controls, large, keys } = scene.world;
    if (keys) return false;
    return driving ? side !== "up" || controls.up !== undefined : side !== "up" && large.push !== undefined;
  }
}
