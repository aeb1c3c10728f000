// Replacements for browser features that third-party code requires. main.ts imports this file before all other modules.

/** Replaces an invalid locale. On a system with the locale `C`, the formatting of numbers throws. */
function replaceInvalidLocale(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { configurable: true, get: () => "en" });
  }
}

let blank: (() => void) | undefined;
let isBlank = false;

/**
 * Makes `getContext` return an inert 2D context if the browser returns none. A browser returns none if its memory is exhausted or if it
 * blocks canvases.
 */
function replaceMissingContexts(): void {
  const { getContext } = HTMLCanvasElement.prototype;
  const inert = new WeakMap<HTMLCanvasElement, CanvasRenderingContext2D>();
  HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, ...asked: unknown[]) {
    const replacement = inert.get(this);
    if (replacement) return replacement;
    const context = (getContext as (...asked: unknown[]) => RenderingContext | null).apply(this, asked);
    if (context || asked[0] !== "2d") return context;
    inert.set(this, contextOf(this));
    isBlank = true;
    blank?.();
    return inert.get(this)!;
  } as typeof getContext;
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const gradient = { addColorStop: () => {} };
  const answers = {
    measureText: () => ({ width: 0 }),
    createImageData: (width: number, height: number) => new ImageData(width, height),
    createLinearGradient: () => gradient,
    createRadialGradient: () => gradient,
  };
  const known: object = { canvas, ...answers };
  return new Proxy(known as CanvasRenderingContext2D, {
    get: (context, name) => (name in context ? Reflect.get(context, name) : () => {}),
  });
}

/** Calls `listen` once, as soon as a canvas gets no context. If a canvas has already got none, calls `listen` at once. */
export function onBlankCanvas(listen: () => void): void {
  blank = () => {
    blank = undefined;
    listen();
  };
  if (isBlank) blank();
}

replaceInvalidLocale();
replaceMissingContexts();
