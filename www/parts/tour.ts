// A short way from what one sees to a knob and to what it does to the curve. It stands beside what it speaks of, takes nothing
// over and ends whenever one likes; it begins by itself on a first visit alone.

import { h, icon, id, write } from "./dom";
import { untilClosed } from "./life";
import { calm } from "./loop";
import { recall, remember } from "./prefs";

/** What is pointed at, in a few words. One that waits for a change of a knob goes on when there is one. */
export type Step = { at: string; heading: string; words: string; change?: boolean };

const GAP = 12;
const EDGE = 8;
/** Below this width the box lies over the bar. */
const NARROW = 760;

/** For a room without steps of its own. */
export const steps = (subject: string): Step[] => [
  { at: ".returns", heading: "It learns", words: `${subject} has been learning since the page opened. This curve says how well it does.` },
  ...knobToCurve("Drag one far to either side."),
];

/** The part of every tour that leads to a knob and back to the curve. */
export const knobToCurve = (dare: string): Step[] => [
  { at: ".first-knobs", heading: "Turn a knob", words: `${dare} It acts at once, while training goes on.`, change: true },
  {
    at: ".returns",
    heading: "See what it does",
    words: "A vertical line marks the change: watch the curve after it. Below, among the knobs, you can go back to before the change.",
  },
];

export class Tour {
  private readonly heading = h("h2", { id: id("tour"), tabindex: -1 });
  private readonly words = h("p");
  private readonly count = h("span.small");
  private readonly back = h("button", { onclick: () => this.go(this.at - 1) }, "Back");
  private readonly next = h("button.strong", { onclick: () => this.go(this.at + 1) });
  private readonly box: HTMLElement;
  private readonly observer = new ResizeObserver(() => this.place());
  private at = -1;
  private offered = false;
  private target: HTMLElement | undefined;
  /** What had the focus before. */
  private before: Element | null = null;
  private readonly escape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    this.end();
  };
  private readonly resized = (): void => this.place();

  constructor(
    private readonly steps: Step[],
    place: HTMLElement,
  ) {
    this.box = h("section.tour", { "aria-labelledby": this.heading.id, hidden: true }, [
      h("div.dialog-head", this.heading, h("button.quiet", { "aria-label": "End the tour", onclick: () => this.end() }, icon("close"))),
      h("div", { role: "status" }, this.words),
      h("div.row", this.count, this.back, this.next),
    ]);
    place.prepend(this.box);
    untilClosed(() => (this.end(), this.box.remove()));
  }

  /** On the first visit to this browser, and never again by itself. The focus stays where it is. */
  beginOnce(): void {
    if (this.offered) return;
    this.offered = true;
    if (recall("tour") === null) this.begin(false);
  }

  begin(asked = true): void {
    remember("tour", "seen");
    this.before = asked ? document.activeElement : null;
    document.addEventListener("keydown", this.escape);
    addEventListener("resize", this.resized);
    this.observer.observe(document.body);
    this.go(0, asked);
    if (asked) this.heading.focus({ preventScroll: true });
  }

  changed(): void {
    if (this.steps[this.at]?.change) this.go(this.at + 1);
  }

  end(): void {
    if (this.at < 0) return;
    const focused = this.box.contains(document.activeElement);
    this.at = -1;
    this.box.hidden = true;
    this.target?.classList.remove("toured");
    this.target = undefined;
    document.removeEventListener("keydown", this.escape);
    removeEventListener("resize", this.resized);
    this.observer.disconnect();
    if (!focused) return;
    if (this.before instanceof HTMLElement && this.before.isConnected && this.before !== document.body)
      this.before.focus({ preventScroll: true });
    else document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
  }

  private go(to: number, scroll = true): void {
    const step = this.steps[to];
    if (!step) return this.end();
    this.at = to;
    this.target?.classList.remove("toured");
    this.target = document.querySelector<HTMLElement>(step.at) ?? undefined;
    this.target?.classList.add("toured");
    this.box.hidden = false;
    write(this.heading, step.heading);
    write(this.words, step.words);
    write(this.count, `${to + 1} of ${this.steps.length}`);
    this.back.hidden = to === 0;
    write(this.next, to + 1 < this.steps.length ? "Next" : "End");
    this.place();
    if (scroll) this.reveal();
  }

  /** Beside the target where there is room, on its own side of the screen: over it in no case but where it fills the screen. */
  private place(): void {
    if (this.box.hidden) return;
    const { style } = this.box;
    if (innerWidth <= NARROW || !this.target) {
      style.left = style.top = "";
      this.box.classList.add("low");
      return;
    }
    this.box.classList.remove("low");
    const box = this.target.getBoundingClientRect();
    const width = this.box.offsetWidth;
    const wide = document.documentElement.clientWidth;
    const clamp = (value: number, most: number): number => Math.max(EDGE, Math.min(value, most - EDGE));
    const [left, right] = [box.left - GAP - width, box.right + GAP];
    let [x, y] = [clamp(box.left, wide - width), box.bottom + GAP];
    if (left >= EDGE || right + width <= wide - EDGE) [x, y] = [left >= EDGE ? left : right, box.top];
    style.left = `${x + scrollX}px`;
    style.top = `${y + scrollY}px`;
  }

  private reveal(): void {
    const behavior = calm() ? "auto" : "smooth";
    this.target?.scrollIntoView({ block: innerWidth <= NARROW ? "start" : "nearest", behavior });
    if (!this.box.classList.contains("low")) this.box.scrollIntoView({ block: "nearest", behavior });
  }
}
