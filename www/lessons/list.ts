// The list of lessons in the tab Explain: first those of the open room, then those of the other rooms.

import { h } from "../parts/dom";
import { capital } from "../parts/format";
import { LESSONS } from "./all";
import type { Lesson } from "./lesson";
import { lessonLink } from "./render";

export class LessonList {
  readonly element: HTMLElement;

  constructor(room: string) {
    const own = LESSONS.filter((lesson) => lesson.room === room);
    const others = LESSONS.filter((lesson) => lesson.room !== room);
    this.element = h("div.lesson-list", [
      h("p", "A lesson takes about ten minutes. You predict a result, train the runs here, and compare."),
      list(own),
      h("h3", "In other rooms"),
      list(others),
    ]);
  }
}

const list = (lessons: Lesson[]): HTMLElement =>
  h("ul", ...lessons.map((lesson) => h("li", lessonLink(lesson, lesson.title), h("span.small", capital(lesson.room)))));
