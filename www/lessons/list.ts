// The list of a room's lessons in the tab Explain, and the page with all lessons.

import { h } from "../parts/dom";
import { capital } from "../parts/format";
import { LESSONS } from "./all";
import type { Lesson } from "./lesson";
import { lessonLink } from "./render";
import "./lessons.css";

const ABOUT = "A lesson takes about ten minutes. You predict a result, train the runs here, and compare.";

export class LessonList {
  readonly element: HTMLElement;

  constructor(room: string) {
    const own = LESSONS.filter((lesson) => lesson.room === room);
    this.element = h("div.lesson-list", [
      h("p", ABOUT),
      h("ul", ...own.map((lesson) => h("li", lessonLink(lesson, lesson.title)))),
      h("p", h("a", { href: "#/lessons" }, "Lessons of all rooms")),
    ]);
  }
}

/** Creates the page with all lessons. */
export const lessonsPage = (): HTMLElement =>
  h("main.lessons", { id: "main", tabindex: -1 }, [
    h("div.intro", h("h1", "Lessons"), h("p.lead", ABOUT)),
    h("ol.lesson-cards", LESSONS.map(card)),
  ]);

function card(lesson: Lesson, k: number): HTMLElement {
  return h("li.card", [
    h("p.small", `Lesson ${k + 1}, ${capital(lesson.room)}`),
    h("h2", lessonLink(lesson, lesson.title)),
    h("p", lesson.asks),
  ]);
}
