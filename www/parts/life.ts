// The life of a room's page, of which there is one at a time: what listens to more than its own elements says here how that stops.

let life = new AbortController();

/** Aborted once the page that is open now is closed. */
export const pageLife = (): AbortSignal => life.signal;

/** Stops it as the page is closed, or sooner, where what this gives is called. */
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
