// A short tour of a room: the picture, the curve, and a knob. The tour's box lies above the results, beside the title; on a narrow page it
// lies at an edge of the screen. The box never covers the curve and does not block the page. The tour starts automatically only on the
// first visit of a room.

import { h, icon, id, write } from "./dom";
import { untilClosed } from "./life";
import { calm } from "./loop";
import { recall, remember } from "./prefs";
import { reveal } from "./tabs";

/**
 * Step of the tour. `at` is the CSS selector of the element that the step explains. A step with `change` ends when the visitor changes a
 * knob or starts a run.
 */
export type Step = { at: string; heading: string; words: string; change?: boolean };

/** Key under which the browser stores the rooms whose tour has started. */
const SEEN = "tour";
const seenRooms = (): string[] => recall(SEEN)?.split(" ") ?? [];

/** Returns true if the tour of a room has not started in this browser. */
export const isFirstVisit = (room: string): boolean => !seenRooms().includes(room);

const GAP = 16;
/** Maximum page width at which the picture and the curve are one below the other, in px. */
const NARROW = 900;

/** Returns the steps of the tour for a room that defines no steps. `subject` is the grammatical subject of the first sentence. */
export const steps = (subject: string): Step[] => [
  { at: ".returns", heading: "Training runs", words: `${subject} has been training since the page opened. This curve shows its results.` },
  ...knobToCurve("Drag a slider far to either side."),
];

/**
 * Returns the last step of every tour, which explains a knob and its effect on the curve. `dare` is a sentence that suggests a change of
 * the knob.
 */
export const knobToCurve = (dare: string): Step[] => [
  {
    at: ".first-knobs",
    heading: "Turn a knob",
    words: `${dare} A line on the curve marks the change. Undo it in the tab Settings.`,
    change: true,
  },
];

export class Tour {
  private readonly heading = h("h2", { id: id("tour"), tabindex: -1 });
  private readonly words = h("p");
  private readonly count = h("span.small");
  private readonly back = h("button", { onclick: () => this.go(this.at - 1) }, "Back");
  private readonly next = h("button.strong", { onclick: () => this.go(this.at + 1) });
  private readonly box: HTMLElement;
  private steps: Step[];
  private at = -1;
  private offered = false;
  private target: HTMLElement | undefined;
  /** Element that had the focus when the visitor started the tour; null if the tour started automatically. */
  private before: Element | null = null;
  private readonly escape = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    this.end();
  };

  constructor(
    private readonly room: string,
    private readonly usual: Step[],
    place: HTMLElement,
  ) {
    this.steps = usual;
    this.box = h("section.tour", { "aria-labelledby": this.heading.id, hidden: true }, [
      h("div.dialog-head", this.heading, h("button.quiet", { "aria-label": "End the tour", onclick: () => this.end() }, icon("close"))),
      h("div", { role: "status" }, this.words),
      h("div.row", this.count, this.back, this.next),
    ]);
    place.prepend(this.box);
    untilClosed(() => (this.end(), this.box.remove()));
  }

  /** Starts the tour on the first visit of its room with this browser. The focus does not move. */
  beginOnce(): void {
    if (this.offered) return;
    this.offered = true;
    if (isFirstVisit(this.room)) this.begin(false);
  }

  /**
   * Starts a tour at its first step. `requested` is true if the visitor asked for the tour. `steps` are by default the steps of the room.
   */
  begin(requested = true, steps = this.usual): void {
    this.steps = steps;
    remember(SEEN, [...new Set([...seenRooms(), this.room])].join(" "));
    this.before = requested ? document.activeElement : null;
    document.addEventListener("keydown", this.escape);
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
    if (this.target) reveal(this.target);
    this.target?.classList.add("toured");
    this.box.hidden = false;
    this.box.classList.toggle("low", !!this.target?.closest(".side"));
    write(this.heading, step.heading);
    write(this.words, step.words);
    write(this.count, `${to + 1} of ${this.steps.length}`);
    this.back.hidden = to === 0;
    write(this.next, to + 1 < this.steps.length ? "Next" : "End");
    if (scroll && this.target) this.scroll(this.target);
  }

  /**
   * Scrolls to the target. A wide page is shown from its top. On a narrow page, the box is at the top or the bottom of the
   * screen, and the target is placed next to the box.
   */
  private scroll(target: HTMLElement): void {
    const behavior = calm() ? "auto" : "smooth";
    if (innerWidth > NARROW) {
      scrollTo(0, 0);
      return target.scrollIntoView({ block: "nearest", behavior });
    }
    const [box, at] = [this.box, target.querySelector(".plot") ?? target].map((element) => element.getBoundingClientRect());
    const top = this.box.classList.contains("low") ? at!.bottom - box!.top + GAP : at!.top - box!.bottom - GAP;
    scrollBy({ top, behavior });
  }
}
