// Creates elements from the blocks of a lesson. Text of a file becomes text nodes, never markup.

import { addressOf, currentLink } from "../run/link";
import { h } from "../parts/dom";
import { LESSONS } from "./all";
import type { Lesson } from "./lesson";
import { spansOf, type Block, type Span } from "./markdown";

/** Creates a link that opens a lesson. If the lesson's room is open, its current run continues. */
export function lessonLink({ name, room }: Lesson, words: string): HTMLElement {
  const address = `#/${room}`;
  const link = h("a", { href: addressOf(address, [], name) }, words);
  // In the lesson's room, the link gets the address that the current run has at the moment of the click.
  link.addEventListener("click", () => {
    if (document.body.classList.contains(`room-${room}`)) link.href = addressOf(currentLink() || address, [], name);
  });
  return link;
}

/** Creates the nodes of a line. Links lead to other lessons or to other sites; the names of other documents are plain text. */
export const lineOf = (text: string): Node[] => spansOf(text).map(nodeOf);

function nodeOf(span: Span): Node {
  if (span.kind !== "link") return span.kind === "plain" ? document.createTextNode(span.text) : h(span.kind, span.text);
  const lesson = LESSONS.find(({ name }) => span.to === `${name}.md`);
  if (lesson) return lessonLink(lesson, span.text);
  return span.to.startsWith("https://") ? h("a", { href: span.to }, span.text) : document.createTextNode(span.text);
}

export const elementsOf = (blocks: Block[]): HTMLElement[] => blocks.map(elementOf);

function elementOf(block: Block): HTMLElement {
  switch (block.kind) {
    case "heading":
      return h("h4", lineOf(block.text));
    case "paragraph":
      return h("p", lineOf(block.text));
    case "list":
      return h(block.ordered ? "ol" : "ul", ...block.items.map((item) => h("li", lineOf(item))));
    case "fence":
      return h("pre", { tabindex: 0, role: "region", "aria-label": block.tag }, block.text);
    case "table":
      return h("table", [
        h("thead", h("tr", ...block.head.map((cell) => h("th", { scope: "col" }, lineOf(cell))))),
        h("tbody", [block.rows.map((row) => h("tr", ...row.map((cell) => h("td.text", lineOf(cell)))))]),
      ]);
  }
}
