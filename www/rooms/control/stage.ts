// The single environment: drawn as the worker steps it in real time, by the policy as it is now, or by a hand that has taken
// the controls and plays against the agent from the same start. Training goes on meanwhile and never sees it.

import type { Body, Environment, Round, Stage as StageState, Touch } from "./protocol";
import { h, icon, id, write } from "../../parts/dom";
import { figure } from "../../parts/format";
import { animate, calm, Surface, touch as touchScreen } from "../../parts/loop";
import { palette } from "../../parts/theme";
import * as text from "./text";
import { dot, type Point, type Pose, type World } from "./worlds/world";

/** A touch that the worker has not answered by then is given up. */
const PATIENCE_MS = 400;
const MEMORY = 240;
const SHOWN_ROUNDS = 4;
/** How fast the agent ends a round that the hand has ended. */
const FORWARD = 6;
/** A pointer this far from the middle, as a share of the width, asks for the most there is. */
const FULL_SHARE = 0.35;

type Side = "left" | "right" | "up";
const SIDES: Record<string, Side> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  a: "left",
  d: "right",
  w: "up",
};

export class LargeOne {
  readonly element: HTMLElement;
  /** Takes the controls, and gives them back. */
  readonly taker = h("button", { type: "button", class: "take" });
  private readonly canvas = document.createElement("canvas");
  private readonly surface = new Surface(this.canvas);
  private readonly curve = document.createElement("canvas");
  private readonly curveSurface = new Surface(this.curve);
  private readonly field: HTMLElement;
  private readonly hint = h("p", { class: "stage-hint", hidden: true });
  private readonly watching = h("div", { class: "watching" });
  private readonly driving = h("div", { class: "driving", hidden: true });
  private readonly odds = h("div", { class: "odds" });
  private bars: { bar: HTMLElement; number: HTMLElement }[] = [];
  private readonly value = h("output", { class: "number" });
  private readonly total = h("output", { class: "number" });
  private readonly best = h("output", { class: "number" });
  private readonly yours = h("output", { class: "number" });
  private readonly agents = h("output", { class: "number" });
  private readonly leads = h("span", { class: "small" });
  private readonly rounds = h("tbody");
  private readonly buttons = h("div", { class: "row push" });
  private readonly help = h("p", { class: "unseen", id: id("stage") });

  private environment: Environment | undefined;
  private world: World | undefined;
  private state: StageState | undefined;
  private arrivedMs = 0;
  private grip: { what: string; hand: Point; words: string; from: Point } | undefined;
  private readonly keys: Record<Side, boolean> & { shift: boolean } = { left: false, right: false, up: false, shift: false };
  /** Where a pointer steers, while it is down: across from −1 to 1. */
  private steer: number | undefined;
  private hasControls = false;
  /** In this round a hand has done something: until then it stands still. */
  private moved = false;
  private seenRounds = "[]";
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
    private readonly touch: (touch: Touch) => Promise<StageState>,
    private readonly say: (text: string, about: string) => void,
    private readonly drove: () => void,
  ) {
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The single environment");
    this.curve.setAttribute("role", "img");
    this.curve.setAttribute("aria-label", "The critic's value over the last seconds");
    this.field = h(
      "div",
      { class: "stage-field", tabindex: 0, role: "application", "aria-label": "The single environment", "aria-describedby": this.help.id },
      this.canvas,
      this.hint,
    );
    const reading = (name: string, ...values: Node[]): HTMLElement =>
      h("p", { class: "reading" }, h("span", { class: "small" }, name), ...values);
    this.watching.append(
      this.odds,
      reading(text.stage.value, this.value),
      this.curve,
      reading(text.stage.total, this.total),
      reading(text.stage.best, this.best),
    );
    this.driving.append(
      h(
        "p",
        { class: "duel" },
        h("span", {}, h("span", { class: "small" }, "you"), this.yours),
        h("span", {}, h("span", { class: "small" }, "agent"), this.agents),
      ),
      this.leads,
      h(
        "table",
        { class: "rounds" },
        h("caption", { class: "unseen" }, "The last rounds, newest first"),
        h("thead", { class: "unseen" }, h("tr", {}, ...["Round", "You", "Agent"].map((title) => h("th", { scope: "col" }, title)))),
        this.rounds,
      ),
    );
    this.taker.addEventListener("click", () => this.take(!this.hasControls));
    this.element = h(
      "div",
      { class: "stage" },
      this.field,
      h("div", { class: "stage-side" }, this.watching, this.driving, this.buttons, this.taker),
      this.help,
    );
    this.listen();
    this.stops = [animate(this.element, (nowMs) => this.draw(nowMs)), () => this.surface.close(), () => this.curveSurface.close()];
  }

  /** A new run, perhaps of another world. */
  begin(environment: Environment, world: World): void {
    this.take(false);
    this.environment = environment;
    this.world = world;
    this.state = undefined;
    this.values.length = 0;
    this.seenRounds = "[]";
    this.rounds.replaceChildren();
    this.field.setAttribute("aria-label", `The single ${world.one}`);
    this.bars = [];
    const rows = environment.choices.length > 0 ? environment.choices : [text.stage.action];
    this.odds.replaceChildren(
      ...rows.map((name, k) => {
        const bar = h("span", { class: "bar", "aria-hidden": "true" });
        const number = h("output", { class: "small number" });
        if (environment.choices.length > 0) bar.style.setProperty("--hue", `var(--${world.hues[k] ?? "accent"})`);
        else bar.classList.add("both");
        this.bars.push({ bar, number });
        return h("p", { class: "odd" }, h("span", { class: "small" }, name), bar, number);
      }),
    );
    this.writeControls();
  }

  get observation(): readonly number[] {
    return this.state?.player.observation ?? [];
  }

  /** Takes the controls, or gives them back. */
  take(taken: boolean): void {
    if (taken === this.hasControls) return;
    this.hasControls = taken;
    this.moved = false;
    this.steer = this.grip = undefined;
    this.element.classList.toggle("driven", taken);
    this.writeControls();
    if (!this.world) return;
    if (taken) {
      this.touchedMs = performance.now();
      this.field.focus({ preventScroll: true });
      this.drove();
      write(this.leads, this.keysHelp());
      this.say(
        `You have the controls. ${this.keysHelp()} It begins with your first move${touchScreen() ? "" : "; Escape gives them back"}.`,
        "controls",
      );
    } else this.say("The agent has the controls again.", "controls");
  }

  toggle(): void {
    this.take(!this.hasControls);
  }

  /** The worker's answer to a touch. */
  private answer(state: StageState): void {
    const before = this.state;
    this.state = state;
    this.arrivedMs = performance.now();
    this.values.push(state.value);
    if (this.values.length > MEMORY) this.values.shift();
    if (this.hasControls && state.player.steps === 0 && before && before.player.steps > 0) this.moved = false;
    this.takeRounds(state.rounds);
    // A fall is told to those who push, not to everyone all the time.
    if (
      !this.hasControls &&
      state.player.over &&
      state.player.terminated &&
      before &&
      !before.player.over &&
      performance.now() - this.touchedMs < 4000
    ) {
      this.say(`The single ${this.world?.one} ended after ${before.player.steps} steps. Another begins in a moment.`, "fall");
    }
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private takeRounds(rounds: Round[]): void {
    const seen = JSON.stringify(rounds);
    if (seen === this.seenRounds) return;
    this.seenRounds = seen;
    const won = rounds.filter(({ yours, agents }) => yours > agents).length;
    const lost = rounds.filter(({ yours, agents }) => yours < agents).length;
    const standing =
      won === lost ? (won ? `${won} all` : "even") : won > lost ? `you lead ${won} to ${lost}` : `the agent leads ${lost} to ${won}`;
    write(this.leads, rounds.length ? `${standing[0]!.toUpperCase()}${standing.slice(1)}` : "");
    this.rounds.replaceChildren(
      ...rounds
        .map((round, k) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, String(k + 1)),
            h("td", { class: round.yours > round.agents && "won" }, figure(round.yours)),
            h("td", { class: round.agents > round.yours && "won" }, figure(round.agents)),
          ),
        )
        .slice(-SHOWN_ROUNDS)
        .reverse(),
    );
    const last = rounds.at(-1);
    if (last) this.say(`Round ${rounds.length}: you ${figure(last.yours)}, the agent ${figure(last.agents)}. ${standing}.`, "round");
  }

  private keysHelp(): string {
    const { environment, world } = this;
    if (!environment || !world) return "";
    const { left, right, up, rest } = world.controls;
    if (touchScreen())
      return (
        `Press on the picture, at the side to steer to${up === undefined ? "" : ", in the middle for the main engine"}, or hold ` +
        `the buttons.`
      );
    if (environment.choices.length === 0) return "Hold the left or right arrow key; with Shift half as strongly.";
    const named = (key: string, choice: number | undefined): string =>
      choice === undefined ? "" : `${key}: ${environment.choices[choice]}`;
    const parts = [
      named("left arrow", left),
      named("up arrow", up),
      named("right arrow", right),
      `no key: ${rest === undefined ? "alternates" : environment.choices[rest]}`,
    ];
    return `${parts.filter(Boolean).join(", ")}.`;
  }

  private writeControls(): void {
    const { environment, world, hasControls } = this;
    this.watching.hidden = hasControls;
    this.driving.hidden = !hasControls;
    this.taker.textContent = hasControls ? (touchScreen() ? "Give back" : "Give back (Esc)") : "Take the controls";
    this.taker.title = hasControls ? "Give the controls back (c or Escape)" : "Take the controls (c)";
    this.taker.setAttribute("aria-pressed", String(hasControls));
    if (!environment || !world) return;
    const acts = "The policy as it is now acts here in real time.";
    const keys = hasControls
      ? `${this.keysHelp()} Or press on the picture, at the side to steer to. Escape gives the controls back.`
      : `${acts}${world.large.push ? " Left and right arrow keys push the cart, with Shift the tip of the pole." : ""} The key c ` +
        `takes the controls.`;
    const fingers = hasControls ? this.keysHelp() : acts;
    this.help.textContent = touchScreen() ? fingers : keys;
    this.buttons.replaceChildren();
    if (hasControls) {
      const { up } = world.controls;
      this.buttons.append(this.holdButton("left", this.sideLabel("left")));
      if (up !== undefined) this.buttons.append(this.holdButton("up", this.sideLabel("up")));
      this.buttons.append(this.holdButton("right", this.sideLabel("right")));
    } else if (world.large.push) this.buttons.append(this.holdButton("left", "Push left"), this.holdButton("right", "Push right"));
    this.buttons.hidden = this.buttons.childElementCount === 0;
  }

  private sideLabel(side: Side): string {
    const { environment, world } = this;
    const choice = world?.controls[side];
    if (choice !== undefined) return environment!.choices[choice]!;
    return side === "left" ? "To the left" : "To the right";
  }

  private holdButton(side: Side, label: string): HTMLButtonElement {
    const hold = (down: boolean) => (): void => {
      this.keys[side] = down;
      if (down) this.touched();
    };
    const button = h("button", { type: "button", "aria-label": label, title: label }, icon(side));
    button.addEventListener("pointerdown", hold(true));
    for (const up of ["pointerup", "pointerleave", "pointercancel", "blur", "keyup"]) button.addEventListener(up, hold(false));
    button.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") hold(true)();
    });
    return button;
  }

  private touched(): void {
    this.touchedMs = performance.now();
    this.moved = true;
  }

  // ---- hands

  private listen(): void {
    const { field } = this;
    field.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (this.hasControls) {
        this.steer = this.across(event);
        this.touched();
      } else {
        const what = this.reach(event);
        if (!what) return;
        const hand = this.place(event);
        this.grip = { what, hand, from: hand, words: "" };
        this.touchedMs = performance.now();
        field.classList.add("held");
      }
      event.preventDefault();
      field.focus({ preventScroll: true });
      field.setPointerCapture(event.pointerId);
    });
    field.addEventListener("pointermove", (event) => {
      if (this.steer !== undefined) this.steer = this.across(event);
      else if (this.grip) this.grip.hand = this.place(event);
      else field.classList.toggle("near", !this.hasControls && this.reach(event) !== undefined);
    });
    const release = (): void => {
      this.grip = this.steer = undefined;
      field.classList.remove("held");
    };
    field.addEventListener("pointerup", release);
    field.addEventListener("pointercancel", release);
    field.addEventListener("lostpointercapture", release);

    const key =
      (down: boolean) =>
      (event: KeyboardEvent): void => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (down && event.key === "Escape" && this.hasControls) {
          event.preventDefault();
          this.take(false);
          return;
        }
        if (down && event.key.toLowerCase() === "c" && !event.repeat) {
          event.preventDefault();
          this.toggle();
          return;
        }
        const side = SIDES[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!side || !this.world) return;
        const letters = event.key.length === 1;
        if (letters && !this.hasControls) return;
        const used = this.hasControls
          ? side !== "up" || this.world.controls.up !== undefined
          : side !== "up" && this.world.large.push !== undefined;
        if (!used) return;
        event.preventDefault();
        this.keys[side] = down;
        this.keys.shift = event.shiftKey;
        this.touched();
        if (down && !event.repeat && !this.hasControls) {
          this.say(`Pushing the ${event.shiftKey ? "tip" : "cart"} ${side}`, "push");
        }
      };
    field.addEventListener("keydown", key(true));
    field.addEventListener("keyup", key(false));
    field.addEventListener("blur", () => Object.assign(this.keys, { left: false, right: false, up: false }));
  }

  private place(event: PointerEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private across(event: PointerEvent): number {
    const { x } = this.place(event);
    const { width } = this.surface;
    return Math.max(-1, Math.min(1, (x - width / 2) / (width * FULL_SHARE)));
  }

  /** What a pointer there would take hold of. */
  private reach(event: PointerEvent): string | undefined {
    if (!this.state || !this.world) return undefined;
    const near = event.pointerType === "mouse" ? 26 : 44;
    return this.world.large.grips?.reach(this.place(event), near, this.surface, this.pose(this.state.player, false));
  }

  /** What the hand that has the controls does now. */
  private action(): number {
    const { environment, world, keys, steer } = this;
    if (!environment || !world) return 0;
    if (environment.choices.length === 0) {
      const [low, high] = environment.range;
      const keyed = ((keys.right ? 1 : 0) - (keys.left ? 1 : 0)) * (keys.shift ? 0.5 : 1);
      const level = keyed || (steer ?? 0);
      return (low + high) / 2 + (level * (high - low)) / 2;
    }
    const { left, right, up, rest } = world.controls;
    // With a third engine the middle third of the picture is its own.
    const third = up !== undefined ? 1 / 3 / (2 * FULL_SHARE) : 0;
    if (up !== undefined && (keys.up || (steer !== undefined && Math.abs(steer) <= third))) return up;
    if (left !== undefined && (keys.left || (steer !== undefined && steer < -third))) return left;
    if (right !== undefined && (keys.right || (steer !== undefined && steer > third))) return right;
    return rest ?? ((this.state?.player.steps ?? 0) % 2 ? right : left) ?? 0;
  }

  private wish(dt_s: number): Touch {
    const touch: Touch = { dt_s, cart_force: 0, tip_force: 0, drive: null };
    if (this.hasControls) {
      // Nothing moves before the visitor does; and whoever has finished need not wait long for the agent.
      const { player, rival } = this.state ?? {};
      if (!this.moved) touch.dt_s = 0;
      else if (player?.over && rival && !rival.over) touch.dt_s *= FORWARD;
      touch.drive = this.action();
      return touch;
    }
    const { world, state, keys, grip } = this;
    const side = (keys.right ? 1 : 0) - (keys.left ? 1 : 0);
    if (side !== 0) Object.assign(touch, world?.large.push?.(side, keys.shift));
    if (grip && state && !state.player.over && world?.large.grips) {
      const pulled = world.large.grips.pull(grip.what, grip.hand, this.surface, this.pose(state.player, false));
      Object.assign(grip, { from: pulled.from, words: pulled.words });
      touch.cart_force += pulled.force.cart_force ?? 0;
      touch.tip_force += pulled.force.tip_force ?? 0;
      this.touchedMs = performance.now();
    }
    return touch;
  }

  // ---- drawing

  /** The state between the newest step and the one before it, as far as time has come. */
  private pose(body: Body, ghost: boolean): Pose {
    const { environment, world, state } = this;
    const sinceS = this.hasControls && !this.moved ? 0 : (performance.now() - this.arrivedMs) / 1000;
    const share = Math.min(1, (state?.ahead ?? 1) + sinceS / (environment?.step_s ?? 1));
    const { before } = body;
    if (body.over || before.length !== body.state.length) return { state: body.state, body, ghost };
    const turns = world?.turns ?? [];
    return {
      state: body.state.map((to, k) => {
        let way = to - before[k]!;
        if (turns.includes(k)) way -= 2 * Math.PI * Math.round(way / (2 * Math.PI));
        return before[k]! + way * share;
      }),
      body,
      ghost,
    };
  }

  private draw(nowMs: number): void {
    const passedS = Math.min(0.1, (nowMs - this.lastMs) / 1000);
    this.lastMs = nowMs;
    this.owedS = Math.min(0.1, this.owedS + passedS);
    if (!this.asking || nowMs - this.askedMs > PATIENCE_MS) {
      this.asking = true;
      this.askedMs = nowMs;
      const { environment } = this;
      this.touch(this.wish(this.owedS))
        .then((state) => environment === this.environment && this.answer(state))
        .catch(() => {}) // the run has ended
        .finally(() => (this.asking = false));
      this.owedS = 0;
    }
    const { state, world } = this;
    if (!state || !world) return;
    // Less motion: it moves by itself only while a hand is at it.
    if (!calm() || this.hasControls || nowMs - this.touchedMs < 3000 || nowMs - this.drewMs > 500) {
      this.drewMs = nowMs;
      this.drawField(state, world);
    }
    const everyMs = calm() ? 1000 : 120;
    if (nowMs - this.wroteMs > everyMs) {
      this.wroteMs = nowMs;
      this.writeReadings(state, world);
    }
  }

  private drawField(state: StageState, world: World): void {
    const c = this.surface.begin();
    const player = this.pose(state.player, false);
    world.large.scene(c, this.surface, player);
    if (state.rival) {
      c.globalAlpha = 0.6;
      world.large.body(c, this.surface, this.pose(state.rival, true));
      c.globalAlpha = 1;
    }
    world.large.body(c, this.surface, player);
    const { grip } = this;
    if (!grip || state.player.over) return;
    c.strokeStyle = c.fillStyle = palette.rust;
    c.lineWidth = 1.5;
    c.setLineDash([3, 3]);
    c.beginPath();
    c.moveTo(grip.from.x, grip.from.y);
    c.lineTo(grip.hand.x, grip.hand.y);
    c.stroke();
    c.setLineDash([]);
    dot(c, grip.hand.x, grip.hand.y, 4);
    c.textAlign = "left";
    c.font = "11px system-ui, sans-serif";
    c.fillText(grip.words, grip.hand.x + 8, grip.hand.y - 9);
  }

  private writeReadings(state: StageState, world: World): void {
    const { player } = state;
    const pose = this.pose(player, false);
    this.canvas.setAttribute("aria-label", world.large.describe(pose));
    if (this.hasControls) {
      write(this.yours, figure(player.total));
      write(this.agents, state.rival ? figure(state.rival.total) : "–");
      this.writeHint(state);
      return;
    }
    this.hint.hidden = true;
    this.writeOdds(state);
    write(this.value, figure(Math.round(state.value * 10) / 10));
    write(this.total, player.over && player.terminated ? `${figure(player.total)}, over` : figure(player.total));
    write(this.best, state.best === null ? "–" : figure(state.best));
    this.drawCurve();
  }

  private writeHint(state: StageState): void {
    const { player, rival } = state;
    let words = "";
    if (!this.moved) words = `Round ${state.rounds.length + 1}: begins with your first move`;
    else if (player.over && rival && !rival.over) words = "The agent goes on, 6 times as fast";
    this.hint.hidden = words === "";
    write(this.hint, words);
  }

  private writeOdds({ odds }: StageState): void {
    const { environment } = this;
    if (!environment) return;
    if (environment.choices.length > 0) {
      this.bars.forEach(({ bar, number }, k) => {
        const share = odds[k] ?? 0;
        bar.style.setProperty("--share", `${(100 * share).toFixed(0)}%`);
        write(number, `${Math.round(100 * share)}%`);
      });
      return;
    }
    const [low, high] = environment.range;
    const [mean = 0, spread = 0] = odds;
    const place = Math.max(0, Math.min(1, (mean - low) / (high - low)));
    const wide = Math.min(0.5, spread / (high - low));
    const { bar, number } = this.bars[0]!;
    bar.style.setProperty("--from", `${(100 * Math.max(0, place - wide)).toFixed(0)}%`);
    bar.style.setProperty("--to", `${(100 * (1 - Math.min(1, place + wide))).toFixed(0)}%`);
    bar.style.setProperty("--at", `${(100 * place).toFixed(1)}%`);
    write(number, figure(Math.round(mean * 100) / 100));
  }

  private drawCurve(): void {
    const c = this.curveSurface.begin();
    const { width, height } = this.curveSurface;
    const { values } = this;
    let [least, most] = [Infinity, -Infinity];
    for (const value of values) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    const room = Math.max(1, most - least) * 0.1;
    [least, most] = [least - room, most + room];
    c.strokeStyle = palette.hair;
    c.beginPath();
    c.moveTo(0, height - 0.5);
    c.lineTo(width, height - 0.5);
    c.stroke();
    c.strokeStyle = palette.accent;
    c.lineWidth = 1.5;
    c.lineJoin = "round";
    c.beginPath();
    values.forEach((value, k) => {
      const x = width - ((values.length - 1 - k) / (MEMORY - 1)) * width;
      c.lineTo(x, 2 + (height - 4) * (1 - (value - least) / (most - least)));
    });
    c.stroke();
  }
}
