// Draws in CSS pixels, so that the text of a drawing has the type sizes of the page.

import { untilClosed } from "../../parts/life";

/** Calls `draw` with the width of an element when the element is shown and when its width changes. */
export function fit(element: Element, draw: (width: number) => void): void {
  let drawn = 0;
  const observer = new ResizeObserver(([entry]) => {
    const { width } = entry!.contentRect;
    if (!width || width === drawn) return;
    drawn = width;
    // The drawing may resize other observed elements. The callback of an observer must not do this, so the drawing waits for a frame.
    requestAnimationFrame(() => draw(width));
  });
  observer.observe(element);
  untilClosed(() => observer.disconnect());
}
