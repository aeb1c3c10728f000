// The panel with the open lesson, beside the room.

import { button, h, icon, id } from "../parts/dom";
import { addressOf, currentLink, lessonIn, placeIn } from "../run/link";
import { LESSONS } from "./all";
import type { Lesson } from "./lesson";
import { LessonPage } from "./page";
import { Trainer, type LessonSources } from "./trainer";
import "./lessons.css";

export class Lessons {
  readonly element = h("aside.lesson", { hidden: true });
  private readonly trainer: Trainer;
  private page: LessonPage | undefined;
  private isReached = false;

  constructor(sources: LessonSources) {
    this.trainer = new Trainer(sources, () => this.page?.update());
    this.open(lessonIn(location.hash));
  }

  /** Opens a lesson. Closes the panel if `name` is empty. */
  open(name: string): void {
    const { element } = this;
    const lesson = LESSONS.find((one) => one.name === name);
    if (lesson && this.page?.lesson === lesson && !element.hidden) return;
    this.isReached = false;
    element.hidden = !name;
    this.page = lesson && new LessonPage(lesson, this.trainer);
    const title = h("h2", { id: id("lesson"), tabindex: -1 }, lesson?.title ?? "This lesson does not exist");
    element.setAttribute("aria-labelledby", title.id);
    element.replaceChildren(
      h("div.lesson-head", [
        h("p.small", lesson ? placeOf(lesson) : `The address names '${name}'.`),
        button(icon("close"), close, { class: "quiet", "aria-label": "Close the lesson" }),
      ]),
      title,
      this.page?.element ?? h("p", h("a", { href: "#/lessons" }, "All lessons")),
    );
  }

  /** Scrolls to the lesson and moves the focus to its title, unless this has happened since the lesson was opened. */
  reach(): void {
    const { element } = this;
    if (element.hidden || this.isReached) return;
    this.isReached = true;
    element.querySelector("h2")!.focus({ preventScroll: true });
    element.scrollTop = 0;
    element.scrollIntoView({ block: "nearest" });
    // A panel that is higher than the screen does not move if it covers the screen already.
    element.firstElementChild!.scrollIntoView({ block: "nearest" });
  }
}

const placeOf = (lesson: Lesson): string => `Lesson ${LESSONS.indexOf(lesson) + 1} of ${LESSONS.length}`;

/** Closes the lesson: removes its name from the address. */
function close(): void {
  location.hash = addressOf(currentLink(), placeIn(location.hash));
  document.querySelector<HTMLElement>("#main")?.focus();
}
