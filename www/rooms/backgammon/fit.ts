// Sizes a drawing in CSS pixels, so that its text has the same type sizes as the page.

import { untilClosed } from "../../parts/life";

/** Calls `draw` with the width of an element when the element is shown and when its width changes. */
export function fit(element: Element, draw: (width: number) => void): void {
  let drawn = 0;
  const observer = new ResizeObserver(([entry]) => {
    const { width } = entry!.contentRect;
    if (!width || width === drawn) return;
    drawn = width;
    // The callback of a `ResizeObserver` must not resize observed elements, but `draw` may do so. Therefore `draw` waits for the next
    // frame.
    requestAnimationFrame(() => draw(width));
  });
  observer.observe(element);
  untilClosed(() => observer.disconnect());
}
