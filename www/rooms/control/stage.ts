// The one large pole: drawn as the worker steps it in real time, and pushed by pointer or keys. The policy keeps
// learning meanwhile and never sees these pushes in its training.

import type { Stage as StageState, Touch } from "../../run/protocol";
import { h, icon, id, write } from "../../parts/dom";
import { animate, calm, Surface } from "../../parts/loop";
import { palette } from "../../parts/theme";
import { figure, minus } from "../../parts/format";
import * as text from "./text";

const LIMIT_M = 2.4;
const LIMIT_RAD = (12 * Math.PI) / 180;
const POLE_M = 1;
/** The policy itself pushes with 10 N, which holds about 0.4 N at the tip: a fair fight, that one can win. */
const KEY_CART_N = 6;
const KEY_TIP_N = 0.25;
const CART_SPRING = { newtonPerM: 20, newtonPerMps: 4, mostN: 16 };
const TIP_SPRING = { newtonPerM: 1.2, newtonPerMps: 0.1, mostN: 0.7 };
/** A touch that the worker has not answered by then is given up. */
const PATIENCE_MS = 400;
const MEMORY = 240;

type Grip = { what: "cart" | "tip"; x: number; y: number; forceN: number };

export class LargePole {
  readonly element: HTMLElement;
  private readonly canvas = document.createElement("canvas");
  private readonly surface = new Surface(this.canvas);
  private readonly curve = document.createElement("canvas");
  private readonly curveSurface = new Surface(this.curve);
  private readonly field: HTMLElement;
  private readonly probability = h("output", { class: "number" });
  private readonly meter = h("span", { class: "needle" });
  private readonly value = h("output", { class: "number" });
  private readonly steps = h("output", { class: "number" });
  private readonly best = h("span", { class: "small" });
  private state: StageState | undefined;
  /** Place and angle as drawn: led by the speeds, held to what the worker says. */
  private shown = { x: 0, theta: 0 };
  private grip: Grip | undefined;
  private readonly keys = { left: false, right: false, tip: false };
  private owedS = 0;
  private askedMs = -Infinity;
  private asking = false;
  private lastMs = performance.now();
  private drewMs = -Infinity;
  private wroteMs = 0;
  private readonly values: number[] = [];
  private touchedMs = -Infinity;
  private readonly stops: (() => void)[];

  constructor(
    private readonly touch: (touch: Touch) => void,
    private readonly say: (text: string, about: string) => void,
  ) {
    const helpId = id("stage");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The large pole");
    this.curve.setAttribute("role", "img");
    this.curve.setAttribute("aria-label", "The critic's value over the last seconds");
    this.field = h(
      "div",
      {
        class: "stage-field",
        tabindex: 0,
        role: "application",
        "aria-label": "The large pole: push it",
        "aria-describedby": helpId,
      },
      this.canvas,
    );
    this.element = h(
      "div",
      { class: "stage" },
      this.field,
      h(
        "div",
        { class: "stage-side" },
        h("p", { class: "reading" }, h("span", { class: "small" }, text.stage.pushRight), this.probability),
        h("span", { class: "meter", "aria-hidden": "true" }, this.meter),
        h("p", { class: "reading" }, h("span", { class: "small" }, text.stage.value), this.value),
        this.curve,
        h("p", { class: "reading" }, h("span", { class: "small" }, text.stage.upright), this.steps),
        this.best,
        h(
          "div",
          { class: "row push" },
          this.pushButton("left", "Push left"),
          this.pushButton("right", "Push right"),
        ),
      ),
      h("p", { class: "unseen", id: helpId }, text.stage.help),
    );
    this.listen();
    this.stops = [
      animate(this.element, (nowMs) => this.draw(nowMs)),
      () => this.surface.close(),
      () => this.curveSurface.close(),
    ];
  }

  /** The worker's answer to a touch. */
  take(state: StageState): void {
    const before = this.state;
    this.asking = false;
    this.state = state;
    const [x, , theta] = state.state;
    if (!before || Math.abs(theta - before.state[2]) > 0.15 || Math.abs(x - before.state[0]) > 0.3) {
      this.shown = { x, theta };
    }
    this.values.push(state.value);
    if (this.values.length > MEMORY) this.values.shift();
    // A fall is told to those who push, not to everyone all the time.
    if (state.fallen && before && !before.fallen && performance.now() - this.touchedMs < 4000) {
      this.say(`The large pole fell after ${before.steps} steps. It stands up again in a moment.`, "fall");
    }
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private pushButton(side: "left" | "right", label: string): HTMLButtonElement {
    const hold = (down: boolean) => (): void => {
      this.keys[side] = down;
      if (down) this.touchedMs = performance.now();
    };
    const button = h("button", { type: "button", "aria-label": label, title: label }, icon(side));
    button.addEventListener("pointerdown", hold(true));
    for (const up of ["pointerup", "pointerleave", "pointercancel", "blur", "keyup"]) button.addEventListener(up, hold(false));
    button.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") hold(true)();
    });
    return button;
  }

  // ---- hands

  private listen(): void {
    const { field } = this;
    field.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const what = this.reach(event);
      if (!what) return;
      event.preventDefault();
      field.focus({ preventScroll: true });
      field.setPointerCapture(event.pointerId);
      this.grip = { what, ...this.place(event), forceN: 0 };
      this.touchedMs = performance.now();
      field.classList.add("held");
    });
    field.addEventListener("pointermove", (event) => {
      if (this.grip) Object.assign(this.grip, this.place(event));
      else field.classList.toggle("near", this.reach(event) !== undefined);
    });
    const release = (): void => {
      this.grip = undefined;
      field.classList.remove("held");
    };
    field.addEventListener("pointerup", release);
    field.addEventListener("pointercancel", release);
    field.addEventListener("lostpointercapture", release);

    const key = (down: boolean) => (event: KeyboardEvent): void => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.keys[event.key === "ArrowLeft" ? "left" : "right"] = down;
      this.keys.tip = event.shiftKey;
      this.touchedMs = performance.now();
      if (down && !event.repeat) {
        this.say(`Pushing the ${event.shiftKey ? "tip" : "cart"} ${event.key === "ArrowLeft" ? "left" : "right"}`, "push");
      }
    };
    field.addEventListener("keydown", key(true));
    field.addEventListener("keyup", key(false));
    field.addEventListener("blur", () => Object.assign(this.keys, { left: false, right: false, tip: false }));
  }

  /** Metres on the track, and above it. */
  private place(event: PointerEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    const { scale, floor } = this.frame();
    return { x: (event.clientX - box.left - box.width / 2) / scale, y: (floor - (event.clientY - box.top)) / scale };
  }

  /** What a pointer there would take hold of. */
  private reach(event: PointerEvent): Grip["what"] | undefined {
    const { x, y } = this.place(event);
    const near = (event.pointerType === "mouse" ? 26 : 44) / this.frame().scale;
    const tip = { x: this.shown.x + POLE_M * Math.sin(this.shown.theta), y: POLE_M * Math.cos(this.shown.theta) };
    const along = Math.max(0, Math.min(1, (x - this.shown.x) * (tip.x - this.shown.x) + y * tip.y));
    const offPole = Math.hypot(x - this.shown.x - along * (tip.x - this.shown.x), y - along * tip.y);
    if (along > 0.3 && offPole < near) return "tip";
    return Math.hypot(x - this.shown.x, y) < near * 1.6 ? "cart" : undefined;
  }

  private forces(): { cart_force: number; tip_force: number } {
    let [cart_force, tip_force] = [0, 0];
    const keyed = (this.keys.right ? 1 : 0) - (this.keys.left ? 1 : 0);
    if (this.keys.tip) tip_force += keyed * KEY_TIP_N;
    else cart_force += keyed * KEY_CART_N;
    const { grip, state } = this;
    if (grip && state && !state.fallen) {
      const [, speed, theta, turn] = state.state;
      const spring = grip.what === "cart" ? CART_SPRING : TIP_SPRING;
      const held = this.shown.x + (grip.what === "tip" ? POLE_M * Math.sin(theta) : 0);
      const heldSpeed = speed + (grip.what === "tip" ? POLE_M * Math.cos(theta) * turn : 0);
      const force = spring.newtonPerM * (grip.x - held) - spring.newtonPerMps * heldSpeed;
      grip.forceN = Math.max(-spring.mostN, Math.min(spring.mostN, force));
      if (grip.what === "cart") cart_force += grip.forceN;
      else tip_force += grip.forceN;
      this.touchedMs = performance.now();
    }
    return { cart_force, tip_force };
  }

  // ---- drawing

  private frame(): { scale: number; floor: number } {
    const { width, height } = this.surface;
    const scale = Math.max(1, Math.min(width / (2 * LIMIT_M + 0.7), (height - 34) / 1.22));
    return { scale, floor: height - 30 };
  }

  private draw(nowMs: number): void {
    const passedS = Math.min(0.1, (nowMs - this.lastMs) / 1000);
    this.lastMs = nowMs;
    this.owedS = Math.min(0.1, this.owedS + passedS);
    if (!this.asking || nowMs - this.askedMs > PATIENCE_MS) {
      this.asking = true;
      this.askedMs = nowMs;
      this.touch({ dt_s: this.owedS, ...this.forces() });
      this.owedS = 0;
    }
    const { state } = this;
    if (!state) return;
    // Between answers the speeds lead; what drifts is drawn in within a few frames.
    const [x, speed, theta, turn] = state.state;
    const pull = 1 - Math.exp(-passedS / 0.045);
    const lead = state.fallen ? 0 : passedS;
    this.shown.x += speed * lead * (1 - pull) + (x - this.shown.x) * pull;
    this.shown.theta += turn * lead * (1 - pull) + (theta - this.shown.theta) * pull;
    // Less motion: it moves by itself only while it is pushed.
    if (!calm() || nowMs - this.touchedMs < 3000 || nowMs - this.drewMs > 500) {
      this.drewMs = nowMs;
      this.drawField(state);
    }
    const everyMs = calm() ? 1000 : 120;
    if (nowMs - this.wroteMs > everyMs) {
      this.wroteMs = nowMs;
      this.writeReadings(state);
    }
  }

  private drawField(state: StageState): void {
    const c = this.surface.begin();
    const { width } = this.surface;
    const { scale, floor } = this.frame();
    const px = (metres: number): number => width / 2 + metres * scale;
    const cartX = px(this.shown.x);
    const pole = POLE_M * scale;

    // How far the pole may lean before the episode ends.
    c.beginPath();
    c.moveTo(cartX, floor);
    c.arc(cartX, floor, pole * 1.06, -Math.PI / 2 - LIMIT_RAD, -Math.PI / 2 + LIMIT_RAD);
    c.closePath();
    c.fillStyle = palette.line;
    c.globalAlpha = 0.55;
    c.fill();
    c.globalAlpha = 1;

    // Track, metre marks, and the ends it must not pass.
    c.strokeStyle = palette.ghost;
    c.lineWidth = 1;
    c.beginPath();
    const rail = Math.round(floor + 11) + 0.5;
    c.moveTo(px(-LIMIT_M), rail);
    c.lineTo(px(LIMIT_M), rail);
    for (const end of [-LIMIT_M, LIMIT_M]) {
      c.moveTo(px(end), rail - 14);
      c.lineTo(px(end), rail + 4);
    }
    for (let metre = -2; metre <= 2; metre++) {
      c.moveTo(px(metre), rail);
      c.lineTo(px(metre), rail + 4);
    }
    c.stroke();
    c.fillStyle = palette.muted;
    c.font = "10.5px system-ui, sans-serif";
    c.textAlign = "center";
    for (let metre = -2; metre <= 2; metre++) c.fillText(minus(`${metre} m`), px(metre), rail + 16);

    // The cart, and the policy's last push as a short stroke behind it.
    const [cartW, cartH] = [0.36 * scale, 16];
    c.fillStyle = palette.paper;
    c.strokeStyle = palette.ink;
    c.lineWidth = 1.5;
    c.beginPath();
    c.roundRect(cartX - cartW / 2, floor - 6, cartW, cartH, 3);
    c.fill();
    c.stroke();
    if (!state.fallen) {
      const side = state.action === 1 ? 1 : -1;
      const from = cartX + (side * cartW) / 2 + side * 4;
      c.strokeStyle = palette.accent;
      c.globalAlpha = 0.25 + 0.75 * Math.abs(state.push_right - 0.5) * 2;
      c.lineWidth = 2;
      c.beginPath();
      c.moveTo(from, floor + 2);
      c.lineTo(from + side * 12, floor + 2);
      c.moveTo(from + side * 8, floor - 2);
      c.lineTo(from + side * 12, floor + 2);
      c.lineTo(from + side * 8, floor + 6);
      c.stroke();
      c.globalAlpha = 1;
    }

    // The pole.
    const theta = state.fallen ? Math.sign(this.shown.theta || 1) * Math.max(Math.abs(this.shown.theta), 0.21) : this.shown.theta;
    const tip = { x: cartX + pole * Math.sin(theta), y: floor - pole * Math.cos(theta) };
    c.strokeStyle = state.fallen ? palette.rust : palette.ink;
    c.lineWidth = 4;
    c.lineCap = "round";
    c.beginPath();
    c.moveTo(cartX, floor);
    c.lineTo(tip.x, tip.y);
    c.stroke();
    c.fillStyle = state.fallen ? palette.rust : palette.accent;
    c.beginPath();
    c.arc(tip.x, tip.y, 6, 0, 7);
    c.fill();
    c.fillStyle = palette.ink;
    c.beginPath();
    c.arc(cartX, floor, 3, 0, 7);
    c.fill();

    // The hand.
    if (this.grip && !state.fallen) {
      const at = this.grip.what === "tip" ? tip : { x: cartX, y: floor };
      const hand = { x: px(this.grip.x), y: floor - this.grip.y * scale };
      c.strokeStyle = palette.rust;
      c.lineWidth = 1.5;
      c.setLineDash([3, 3]);
      c.beginPath();
      c.moveTo(at.x, at.y);
      c.lineTo(hand.x, hand.y);
      c.stroke();
      c.setLineDash([]);
      c.beginPath();
      c.arc(hand.x, hand.y, 5, 0, 7);
      c.stroke();
      c.fillStyle = palette.rust;
      c.textAlign = "left";
      c.font = "11px system-ui, sans-serif";
      c.fillText(`${Math.abs(this.grip.forceN).toFixed(this.grip.what === "tip" ? 2 : 1)} N`, hand.x + 8, hand.y - 9);
    }
  }

  private writeReadings(state: StageState): void {
    const percent = Math.round(state.push_right * 100);
    write(this.probability, `${percent}%`);
    this.meter.style.left = `${percent}%`;
    write(this.value, figure(Math.round(state.value * 10) / 10));
    write(this.steps, state.fallen ? "fell" : `${state.steps} steps`);
    write(this.best, `best ${state.best}`);
    this.canvas.setAttribute(
      "aria-label",
      state.fallen
        ? "The large pole has fallen"
        : `The large pole leans ${Math.abs((state.state[2] * 180) / Math.PI).toFixed(0)} degrees ` +
            `${state.state[2] < 0 ? "left" : "right"}, cart at ${minus(state.state[0].toFixed(1))} metres`,
    );

    const c = this.curveSurface.begin();
    const { width, height } = this.curveSurface;
    const most = Math.max(10, ...this.values);
    const least = Math.min(0, ...this.values);
    c.strokeStyle = palette.hair;
    c.beginPath();
    c.moveTo(0, height - 0.5);
    c.lineTo(width, height - 0.5);
    c.stroke();
    c.strokeStyle = palette.accent;
    c.lineWidth = 1.5;
    c.lineJoin = "round";
    c.beginPath();
    this.values.forEach((value, k) => {
      const x = width - ((this.values.length - 1 - k) / (MEMORY - 1)) * width;
      c.lineTo(x, 2 + (height - 4) * (1 - (value - least) / (most - least)));
    });
    c.stroke();
  }
}
