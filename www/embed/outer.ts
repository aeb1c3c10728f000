// Sends and receives the messages between the frame and the outer page. Only the page that contains the frame can send commands.

import { PROTOCOL, posted, versionOf, type Controls, type FromFrame, type Theme, type ToFrame } from "../element/messages";

const CONTROLS: Controls[] = ["all", "play", "knobs", "none"];
const THEMES: Theme[] = ["auto", "light", "dark"];

/** Returns `value` if it is one of `values`, otherwise the first of `values`. */
const known = <T extends string>(values: T[], value: unknown): T => values.find((one) => one === value) ?? values[0]!;
export const controlsOf = (value: unknown): Controls => known(CONTROLS, value);
export const themeOf = (value: unknown): Theme => known(THEMES, value);

/** Sends a message to the outer page. Without an outer page, does nothing. */
export function tell(message: FromFrame): void {
  // Any page may contain the frame, so the message has no target origin. It describes the run only.
  if (parent !== self) parent.postMessage(posted(message), "*");
}

/** Calls `take` for each valid message of the outer page. */
export function listen(take: (message: ToFrame) => void): void {
  addEventListener("message", ({ source, data }) => {
    if (source === parent && parent !== self && versionOf(data) === PROTOCOL && isValid(data)) take(data);
  });
}

function isValid(data: Record<string, unknown>): data is ToFrame {
  const { kind, link, running, name, value } = data;
  if (kind === "open") return typeof link === "string";
  if (kind === "run") return typeof running === "boolean";
  if (kind === "knob") return typeof name === "string" && ["number", "string"].includes(typeof value);
  return kind === "look";
}
