// Lifetime of a room's page. Only one page is open at a time. Parts with listeners outside their own elements register their cleanup here.

let life = new AbortController();

/** Returns the signal that aborts when the current page closes. */
export const pageLife = (): AbortSignal => life.signal;

/** Calls `stop` when the page closes, or earlier when the returned function is called. */
export function untilClosed(stop: () => void): () => void {
  const { signal } = life;
  const once = (): void => {
    signal.removeEventListener("abort", once);
    stop();
  };
  signal.addEventListener("abort", once);
  return once;
}

export function closePage(): void {
  const closing = life;
  life = new AbortController();
  closing.abort();
}
