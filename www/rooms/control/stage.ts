// The stage: a single environment that the page shows large. The worker steps it in real time. Either the current policy acts in the
// environment, or the visitor acts. The visitor plays a round against the agent, which starts from the same initial state. The training
// does not use this environment.

import type { Body, Stage as StageState, Touch } from "./protocol";
import { button, Choice, h, id, write } from "../../parts/dom";
import { animate, calm, Surface, touch as touchScreen } from "../../parts/loop";
import { recall, remember } from "../../parts/prefs";
import { palette } from "../../parts/theme";
import { font, stroke } from "../../parts/canvas";
import { Hands, keyName, type Grip, type Handled, type Scene, type Side } from "./hands";
import { Duel, Watching } from "./readings";
import { paceOf, PACES, Touches, type PaceName } from "./touches";
import { dot, type Point, type Pose } from "./worlds/world";

/** Speed of the agent's environment after the visitor's episode has ended, as a multiple of real time. */
const FORWARD = 6;

export class SingleEnvironment implements Handled {
  readonly element: HTMLElement;
  /** The environment and its world; undefined before the first run. */
  scene: Scene | undefined;
  driving = false;
  private readonly taker = h("button.take", { onclick: () => this.toggle() });
  private readonly canvas = h("canvas", { role: "img", "aria-label": "The single environment" });
  private readonly surface = new Surface(this.canvas);
  private readonly hint = h("p.stage-hint", { hidden: true });
  private readonly help = h("p.unseen", { id: id("stage") });
  private readonly field: HTMLElement;
  private readonly buttons = h("div.row.push");
  private readonly invitation = h("p.about");
  private readonly speeds: HTMLElement;
  private readonly watching = new Watching();
  private readonly duel: Duel;
  private readonly hands: Hands;
  private readonly touches = new Touches();
  private pace = paceOf(recall("pace"));
  private newest: { state: StageState; atMs: number } | undefined;
  /** Number of times that the controls have changed hands. */
  private handovers = 0;
  /** Number of single steps that the visitor has requested after an error stopped the training. */
  private singles = 0;
  /** Error that stopped training, or null. After an error, the environment shows the state before the error. */
  private failed: string | null = null;
  /** True once the visitor has acted in this round. Until then, both environments of the round are paused. */
  private moved = false;
  private readonly lastMs = { touched: -Infinity, drew: -Infinity, wrote: -Infinity };

  constructor(
    private readonly touch: (touch: Touch) => Promise<StageState>,
    private readonly say: (text: string, about: string) => void,
    private readonly onTake: () => void,
  ) {
    this.field = h(
      "div.stage-field",
      { tabindex: 0, role: "application", "aria-label": "The single environment", "aria-describedby": this.help.id },
      [this.canvas, this.hint],
    );
    this.duel = new Duel(say);
    this.hands = new Hands(this.field, this);
    this.speeds = this.speedChoice();
    this.element = h("div.stage", [
      this.field,
      h("div.stage-actions.row", this.taker, this.buttons, this.invitation, this.speeds),
      h("div.stage-side", this.watching.element, this.duel.element),
      this.help,
    ]);
    this.element.addEventListener("keydown", (event) => this.escape(event));
    animate(this.element, (nowMs) => this.draw(nowMs));
  }

  begin(scene: Scene): void {
    this.take(false);
    this.scene = scene;
    this.newest = undefined;
    this.failed = null;
    this.duel.begin();
    this.watching.begin(scene);
    this.field.setAttribute("aria-label", `The single ${scene.world.one}`);
    this.show();
  }

  toggle(): void {
    this.take(!this.driving);
  }

  take(taken: boolean): void {
    if (taken === this.driving) return;
    this.driving = taken;
    this.handovers += 1;
    this.moved = false;
    // The next answer begins another episode, so its step count must not be compared with the count in the previous answer.
    this.newest = undefined;
    this.hands.letGo();
    this.show();
    if (!this.scene) return;
    if (!taken) return this.say("The agent has the controls again.", "controls");
    this.lastMs.touched = performance.now();
    this.field.focus({ preventScroll: true });
    this.onTake();
    const keys = keysHelp(this.scene);
    this.duel.showKeys(keys);
    this.say(
      `You have the controls, at ${this.pace} speed. ${keys} The round begins with your first move` +
        `${touchScreen() ? "" : "; Escape gives them back"}.`,
      "controls",
    );
  }

  private escape(event: KeyboardEvent): void {
    if (event.key !== "Escape" || !this.driving) return;
    event.preventDefault();
    this.take(false);
    this.field.focus({ preventScroll: true });
  }

  // ---- the controls

  private show(): void {
    const { scene, driving, hands } = this;
    this.element.classList.toggle("driven", driving);
    this.watching.element.hidden = driving;
    this.duel.element.hidden = !driving;
    this.speeds.hidden = !driving;
    this.invitation.hidden = driving;
    this.taker.textContent = driving ? (touchScreen() ? "Give back" : "Give back (Esc)") : "Take the controls";
    this.taker.title = driving ? "Give the controls back (c or Escape)" : "Take the controls (c)";
    this.taker.classList.toggle("strong", !driving);
    if (!scene) return;
    const { controls, invite, inviteTouch, large } = scene.world;
    write(this.invitation, (touchScreen() && inviteTouch) || invite);
    this.help.textContent = help(scene, driving);
    const label = (side: Side): string => {
      const choice = controls[side];
      return choice !== undefined ? scene.environment.choices[choice]! : side === "left" ? "To the left" : "To the right";
    };
    const sides: Side[] = controls.up === undefined ? ["left", "right"] : ["left", "up", "right"];
    const { keys } = scene.world;
    if (driving && keys)
      this.buttons.replaceChildren(...[...keys.keys()].filter(Boolean).map((key) => hands.keyButton(key, keyWords(scene, key))));
    else if (driving) this.buttons.replaceChildren(...sides.map((side) => hands.button(side, label(side))));
    else if (this.failed !== null) this.buttons.replaceChildren(button("Step", () => (this.singles += 1)));
    else if (large.push) this.buttons.replaceChildren(hands.button("left", "Push left"), hands.button("right", "Push right"));
    else this.buttons.replaceChildren();
    this.buttons.hidden = this.buttons.childElementCount === 0;
  }

  /** Creates the choice of the speed that applies while the visitor has the controls. */
  private speedChoice(): HTMLElement {
    const { element } = new Choice<PaceName>(
      "Speed",
      [
        { value: "quarter", words: "Quarter" },
        { value: "half", words: "Half" },
        { value: "full", words: "Full" },
      ],
      this.pace,
      (pace) => {
        this.pace = pace;
        remember("pace", pace);
      },
    );
    // A click moves the focus to this choice, where the arrow keys do not steer. The handler returns the focus to the field.
    element.addEventListener("click", ({ detail }) => detail > 0 && setTimeout(() => this.field.focus({ preventScroll: true })));
    return h("div.row.pace", h("span.small", { "aria-hidden": "true" }, "Speed"), element);
  }

  touched(): void {
    this.lastMs.touched = performance.now();
    this.moved = true;
  }

  pushed(side: Side, shift: boolean): void {
    this.say(`Pushing the ${shift ? "tip" : "cart"} ${side}`, "push");
  }

  reach(at: Point, near: number): string | undefined {
    if (!this.newest || !this.scene) return undefined;
    return this.scene.world.large.grips?.reach(at, near, this.surface, this.pose(this.newest.state.player, false));
  }

  // ---- requests and answers

  /**
   * Sends the visitor's input and the time since the previous call. Called for each animation frame in which the environment, the state
   * plane or the networks are visible. While the visitor has the controls, only the drawing of the environment calls `pass`.
   */
  pass(nowMs: number): void {
    const { scene } = this;
    this.touches.pass(nowMs, this.rate, (dt_s) =>
      this.touch(this.nextTouch(dt_s)).then((state) => scene === this.scene && state.handovers === this.handovers && this.answer(state)),
    );
  }

  /**
   * Speed of the environments' time, as a multiple of real time. While the visitor has the controls, the speed is 0 until the visitor acts.
   * After the visitor's episode has ended, the rest of the agent's episode is faster.
   */
  private get rate(): number {
    if (!this.driving) return 1;
    if (!this.moved || this.hands.waits) return 0;
    const { player, rival } = this.newest?.state ?? {};
    if (!player?.over) return PACES[this.pace];
    return rival && !rival.over ? FORWARD : 1;
  }

  private nextTouch(dt_s: number): Touch {
    const { scene, hands } = this;
    const state = this.newest?.state;
    const touch: Touch = { dt_s, cart_force: 0, tip_force: 0, drive: null, handovers: this.handovers, singles: this.singles };
    if (this.driving) {
      touch.drive = scene ? hands.action(scene, state?.player.steps ?? 0) : [0];
      return touch;
    }
    if (hands.side !== 0) Object.assign(touch, scene?.world.large.push?.(hands.side, hands.keys.shift));
    const grips = scene?.world.large.grips;
    if (hands.grip && state && !state.player.over && grips) {
      const { force, from, words } = grips.pull(hands.grip.what, hands.grip.hand, this.surface, this.pose(state.player, false));
      Object.assign(hands.grip, { from, words });
      touch.cart_force += force.cart_force ?? 0;
      touch.tip_force += force.tip_force ?? 0;
      this.lastMs.touched = performance.now();
    }
    return touch;
  }

  private answer(state: StageState): void {
    const before = this.newest?.state.player;
    this.newest = { state, atMs: performance.now() };
    this.watching.remember(state.value);
    this.duel.take(state.rounds);
    const { player, failed } = state;
    if (failed !== this.failed) {
      this.failed = failed;
      this.show();
    }
    if (this.driving && before && player.steps < before.steps) this.moved = false;
    if (failed !== null && !this.driving && before?.steps !== player.steps) this.say(failedWords(state), "step");
    // A fall is announced only if it happens soon after a push.
    const fell = player.over && player.terminated && before && !before.over;
    if (!this.driving && fell && performance.now() - this.lastMs.touched < 4000)
      this.say(`The single ${this.scene?.world.one} ended after ${before.steps} steps. Another begins in a moment.`, "fall");
  }

  // ---- drawing

  /**
   * Returns the state of a body for drawing, interpolated between its previous and its latest step. The share of the latest step grows with
   * the time since the latest answer. After the end of an episode, the state is not interpolated.
   */
  private pose(body: Body, ghost: boolean): Pose {
    const { state, before } = body;
    if (body.over || before.length !== state.length) return { state, body, ghost };
    const sinceS = (this.rate * (performance.now() - (this.newest?.atMs ?? 0))) / 1000;
    const share = Math.min(1, (this.newest?.state.ahead ?? 1) + sinceS / (this.scene?.environment.step_s ?? 1));
    const turns = this.scene?.world.turns ?? [];
    const between = state.map((to, k) => {
      let way = to - before[k]!;
      if (turns.includes(k)) way -= 2 * Math.PI * Math.round(way / (2 * Math.PI));
      return before[k]! + way * share;
    });
    return { state: between, body, ghost };
  }

  private draw(nowMs: number): void {
    const { scene, lastMs } = this;
    this.pass(nowMs);
    if (!this.newest || !scene || this.surface.width === 0) return;
    const { state } = this.newest;
    // With reduced motion, every frame is drawn only while the visitor acts or shortly afterwards. Otherwise, two frames a second are
    // drawn.
    if (!calm() || this.driving || nowMs - lastMs.touched < 3000 || nowMs - lastMs.drew > 500) {
      lastMs.drew = nowMs;
      this.drawField(state, scene);
    }
    if (nowMs - lastMs.wrote <= (calm() ? 1000 : 120)) return;
    lastMs.wrote = nowMs;
    this.canvas.setAttribute("aria-label", scene.world.large.describe(this.pose(state.player, false)));
    if (this.driving) this.duel.show(state);
    else this.watching.show(state);
    if (!this.driving && state.failed !== null) write(this.invitation, failedWords(state));
    const hint = this.driving ? this.hintOf(state) : "";
    this.hint.hidden = hint === "";
    write(this.hint, hint);
  }

  private hintOf({ player, rival, rounds }: StageState): string {
    if (player.fault !== null) return "The rules failed";
    if (!this.moved) return `Round ${rounds.length + 1} begins with your first move`;
    return player.over && rival && !rival.over ? "The agent finishes at 6× speed" : "";
  }

  private drawField(state: StageState, { world: { large, keys } }: Scene): void {
    const c = this.surface.begin();
    const player = this.pose(state.player, false);
    large.scene(c, this.surface, player);
    const shadow = (): void => {
      if (!state.rival) return;
      c.globalAlpha = 0.6;
      large.body(c, this.surface, this.pose(state.rival, true));
      c.globalAlpha = 1;
    };
    // The agent's body is a shadow behind the visitor's body. In an environment from a file, the agent has a small picture of its own,
    // which is drawn in front.
    if (!keys) shadow();
    large.body(c, this.surface, player);
    if (keys) shadow();
    if (this.hands.grip && !state.player.over) drawGrip(c, this.hands.grip);
  }
}

/** Describes the single environment after an error in the environment's rules. */
const failedWords = ({ player: { fault, steps, over } }: StageState): string =>
  fault !== null
    ? `Failed again: ${fault}.`
    : over
      ? `The episode ended after ${steps} steps without an error.`
      : `State after ${steps} steps, before the error. Step takes the agent's next action.`;

function drawGrip(c: CanvasRenderingContext2D, { from, hand, words }: Grip): void {
  c.strokeStyle = c.fillStyle = palette.error;
  c.lineWidth = 1.5;
  c.setLineDash([3, 3]);
  stroke(c, from.x, from.y, hand.x, hand.y);
  c.setLineDash([]);
  dot(c, hand.x, hand.y, 4);
  c.textAlign = "left";
  c.font = font(12);
  c.fillText(words, hand.x + 8, hand.y - 9);
}

/** Returns the effect of a key that an environment's file names: the name of the key's choice, or the numbers of its action. */
function keyWords({ environment: { choices }, world }: Scene, key: string): string {
  const action = world.keys?.get(key) ?? [];
  return choices[action[0] ?? 0] ?? action.join(", ");
}

function keysHelp(scene: Scene): string {
  const { environment, world } = scene;
  const { choices } = environment;
  if (world.keys) {
    const named = [...world.keys.keys()].map((key) => `${keyName(key)}: ${keyWords(scene, key)}`);
    return `${named.join(", ")}${world.keys.has("") ? "" : ". Time stops while no key is held"}.`;
  }
  const { left, right, up, rest } = world.controls;
  if (touchScreen())
    return `Press the left or right side of the picture${up === undefined ? "" : ", the middle for the main engine"}, or hold the buttons.`;
  if (choices.length === 0) return "Hold the left or right arrow key; with Shift at half strength.";
  const named = (key: string, choice: number | undefined): string => (choice === undefined ? "" : `${key}: ${choices[choice]}`);
  const parts = [
    named("left arrow", left),
    named("up arrow", up),
    named("right arrow", right),
    `no key: ${rest === undefined ? "alternates" : choices[rest]}`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

/** Returns the help text on the keys for screen readers. */
function help(scene: Scene, driving: boolean): string {
  const acts = "The current policy acts here in real time.";
  if (touchScreen()) return driving ? keysHelp(scene) : acts;
  if (driving) return `${keysHelp(scene)} Or press a side of the picture. Escape gives the controls back.`;
  const push = scene.world.large.push ? " Left and right arrow keys push the cart, with Shift the tip of the pole." : "";
  return `${acts}${push} The key c takes the controls.`;
}
