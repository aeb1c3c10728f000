// Input by pointer, wheel and touch, which zooms and pans a chart and moves its cursor.

export type Range = [number, number];

export interface Axes {
  /** Returns the rectangle of the plot in the browser's window, in px. */
  box(): DOMRect;
  range(): Range;
  /** Shows a range; undefined shows the whole axis. */
  zoom(range: Range | undefined): void;
  /** Moves the cursor to a point of the browser's window. */
  point(clientX: number, clientY: number): void;
}

/** Minimum length of a drag; a shorter movement is a click. */
const DRAG_PX = 6;
const WHEEL = 0.002;

/** Scales `range` by `factor`. The position `at` stays fixed. */
export const about = ([from, to]: Range, at: number, factor: number): Range => [at - (at - from) * factor, at + (to - at) * factor];

/** Adds listeners to `area`, and an element that marks the range during a drag. */
export function zooming(area: HTMLElement, axes: Axes): void {
  const selection = document.createElement("div");
  selection.className = "zoom-part";
  selection.hidden = true;
  area.append(selection);
  const at = (clientX: number): number => {
    const { left, width } = axes.box();
    const [from, to] = axes.range();
    return from + Math.max(0, Math.min(1, (clientX - left) / width)) * (to - from);
  };
  let from: number | undefined;
  /**
   * Fingers on the plot by pointer id. `x` is the finger's position in the window, in px. `held` is the axis value that stays under the
   * finger.
   */
  const fingers = new Map<number, { x: number; held: number }>();

  area.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") {
      fingers.set(event.pointerId, { x: event.clientX, held: at(event.clientX) });
      for (const finger of fingers.values()) finger.held = at(finger.x);
      axes.point(event.clientX, event.clientY);
    } else if (event.button === 0) from = event.clientX;
  });
  area.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (finger) {
      finger.x = event.clientX;
      const [a, b] = [...fingers.values()];
      if (!a || !b) return axes.point(event.clientX, event.clientY);
      if (Math.abs(a.x - b.x) < 2 * DRAG_PX) return;
      // Zooms so that the held axis values stay under their fingers.
      const { left, width } = axes.box();
      const each = (b.held - a.held) / (b.x - a.x);
      const start = a.held - (a.x - left) * each;
      if (each > 0) axes.zoom([start, start + width * each]);
      return;
    }
    if (from === undefined || Math.abs(event.clientX - from) < DRAG_PX) return;
    area.setPointerCapture(event.pointerId);
    const { left, width, top, height } = axes.box();
    const own = area.getBoundingClientRect();
    const ends = [from, event.clientX].map((x) => Math.max(left, Math.min(left + width, x)) - own.left).sort((a, b) => a - b) as Range;
    selection.hidden = false;
    selection.style.cssText = `left:${ends[0]}px;width:${ends[1] - ends[0]}px;top:${top - own.top}px;height:${height}px`;
  });
  const end = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
    if (from !== undefined && event.type === "pointerup" && Math.abs(event.clientX - from) >= DRAG_PX)
      axes.zoom([at(from), at(event.clientX)].sort((a, b) => a - b) as Range);
    from = undefined;
    selection.hidden = true;
  };
  for (const kind of ["pointerup", "pointercancel"] as const) area.addEventListener(kind, end);
  area.addEventListener("dblclick", () => axes.zoom(undefined));
  area.addEventListener(
    "wheel",
    (event) => {
      // The wheel zooms only with Ctrl or while the chart has the focus. Otherwise it scrolls the page.
      if (!event.ctrlKey && document.activeElement !== area) return;
      event.preventDefault();
      const range = axes.range();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = ((event.deltaX || event.deltaY) / axes.box().width) * (range[1] - range[0]);
        axes.zoom([range[0] + by, range[1] + by]);
      } else axes.zoom(about(range, at(event.clientX), Math.exp(event.deltaY * (event.deltaMode ? 20 : 1) * WHEEL)));
    },
    { passive: false },
  );
}
