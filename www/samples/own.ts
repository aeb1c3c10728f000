// The editor for environments on a separate page for tests. A simple check replaces the compiler, and a fixed picture replaces an
// environment's picture.

import { h, write } from "../parts/dom";
import { dropping } from "../parts/files";
import { Notices } from "../parts/notices";
import { startTheme, themeButton } from "../parts/theme";
import type { Problem } from "../rooms/control/own/editor";
import { scene } from "./scene";
import "../design.css";
import "../style.css";
import "./own.css";

/** Number of checks so far, and the delay of each answer in ms. Tests change the delay. */
const checks = { count: 0, delayMs: 0 };
declare global {
  var sample: { checks: typeof checks; pane: import("../rooms/control/own/pane").OwnPane };
}

/** Finds some words that are not part of the language. */
async function check(text: string): Promise<Problem[]> {
  checks.count++;
  const { delayMs } = checks;
  await new Promise((done) => setTimeout(done, delayMs));
  return text.split("\n").flatMap((row, k) =>
    [...row.matchAll(/\b(?:lambda|print|global)\b/g)].map(({ 0: word, index }) => {
      const column = [...row.slice(0, index)].length + 1;
      return { line: k + 1, column, endColumn: column + word.length, message: `${word} is not part of the language.` };
    }),
  );
}

async function begin(): Promise<void> {
  startTheme();
  document.querySelector("#tools")!.append(themeButton());
  const notices = new Notices();
  const started = h("p", { role: "status", id: "started" });
  const start = (text: string, name: string): void => write(started, `Training starts: ${name}, ${text.length} characters.`);
  const { OwnPane } = await import("../rooms/control/own/pane");
  const pane = new OwnPane(notices, { check, start });
  document.querySelector("#own")!.append(notices.element, h("h1", "Your own environment"), pane.element, started);
  dropping("Drop a file with the ending .py", (file) => void pane.take(file));
  await pane.begin();
  pane.picture.show(scene);
  globalThis.sample = { checks, pane };
}

void begin();
