// Messages between the page and its worker. A test of a replayed run sends messages in place of the worker, and reads those of the page.

/**
 * Runs in the page before its scripts: records in `sent` what the page sends to its workers. Messages and commands of the kinds `kept` do
 * not reach the worker.
 */
export function watched(kept = []) {
  globalThis.sent = [];
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message, transfer) {
    sent.push(message);
    if (!kept.includes(message.command?.kind ?? message.kind)) postMessage.call(this, message, transfer);
  };
}

/** Passes messages to the page as if its worker had sent them, one after the other. */
export const tell = (page, ...messages) =>
  page.evaluate((messages) => messages.forEach((data) => hothouse.worker.onmessage({ data })), messages);

/** Passes events of the run to the page. */
export const tellEvents = (page, ...events) =>
  tell(page, { kind: "events", events, progress: null, epoch: null, variant: null, keptBefore: [] });

/** Passes a save of the run to the page, as the worker does after a request for an autosave. */
export const tellAutosave = (page, bytes = [1, 2, 3]) =>
  page.evaluate((bytes) => {
    const { variant, worker } = hothouse;
    worker.onmessage({ data: { kind: "autosave", bytes: new Uint8Array(bytes), variant: variant.id, address: location.hash } });
  }, bytes);

/**
 * Runs in the page before its scripts: collects what the page does each second, such as a heartbeat to its worker, so that `seconds` can do
 * it sooner.
 */
export function clocked() {
  globalThis.ticks = [];
  const plain = setInterval;
  globalThis.setInterval = (work, ms, ...rest) => {
    if (ms === 1000) ticks.push(work);
    return plain(work, ms, ...rest);
  };
}

/** Lets the page do at once what it does in `count` seconds. */
export const seconds = (page, count) =>
  page.evaluate((count) => {
    for (let second = 0; second < count; second++) for (const tick of ticks) tick();
  }, count);
