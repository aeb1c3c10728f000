// A short tour from the picture to a knob and its effect on the curve. The tour's box is placed beside its target and does not block the
// page. The tour starts automatically only on the first visit.

import { h, icon, id, write } from "./dom";
import { untilClosed } from "./life";
import { calm } from "./loop";
import { recall, remember } from "./prefs";

/** A step of the tour. `at` is a CSS selector of its target. With `change`, the next step follows when the visitor changes a knob. */
export type Step = { at: string; heading: string; words: string; change?: boolean };

const GAP = 12;
const EDGE = 8;
/** Page width below which the box is at the bottom of the screen, in px. */
const NARROW = 760;

/** Steps of the tour in a room that defines none. `subject` is the subject of the first sentence. */
export const steps = (subject: string): Step[] => [
  { at: ".returns", heading: "Training runs", words: `${subject} has been training since the page opened. This curve shows its results.` },
  ...knobToCurve("Drag a slider far to either side."),
];

/** Last steps of every tour: a knob and its effect on the curve. `dare` is the sentence that suggests a change. */
export const knobToCurve = (dare: string): Step[] => [
  { at: ".first-knobs", heading: "Turn a knob", words: `${dare} The change applies at once, while training continues.`, change: true },
  {
    at: ".returns",
    heading: "See the effect",
    words: "A vertical line marks the change. Watch the curve after it. You can undo the change below, under Knobs.",
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
  /** Element that had the focus before the tour. */
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

  /** Starts the tour on the first visit with this browser. The focus does not move. */
  beginOnce(): void {
    if (this.offered) return;
    this.offered = true;
    if (recall("tour") === null) this.begin(false);
  }

  begin(requested = true): void {
    remember("tour", "seen");
    this.before = requested ? document.activeElement : null;
    document.addEventListener("keydown", this.escape);
    addEventListener("resize", this.resized);
    this.observer.observe(document.body);
    this.go(0, requested);
    if (requested) this.heading.focus({ preventScroll: true });
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

  /** Places the box beside the target, or below it if there is no space. */
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
