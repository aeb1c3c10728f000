// What a browser may lack that other people's code takes for granted. What stands in for it lets the page go on without. It is
// imported before all else.

/** The locale of a system without one (`C`) is no name that numbers can be written by. */
function standInForLocale(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { configurable: true, get: () => "en" });
  }
}

let blank: (() => void) | undefined;
let isBlank = false;

/** A canvas gives no context where the browser has no memory for one, or was forbidden to: what is drawn on it goes nowhere. */
function standInForContexts(): void {
  const { getContext } = HTMLCanvasElement.prototype;
  const nowhere = new WeakMap<HTMLCanvasElement, CanvasRenderingContext2D>();
  HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, ...asked: unknown[]) {
    const stands = nowhere.get(this);
    if (stands) return stands;
    const context = (getContext as (...asked: unknown[]) => RenderingContext | null).apply(this, asked);
    if (context || asked[0] !== "2d") return context;
    nowhere.set(this, contextOf(this));
    isBlank = true;
    blank?.();
    return nowhere.get(this)!;
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

/** Tells whoever shows notices of the first canvas that nothing can be drawn on, also of one before. */
export function onBlankCanvas(listen: () => void): void {
  blank = () => {
    blank = undefined;
    listen();
  };
  if (isBlank) blank();
}

standInForLocale();
standInForContexts();
