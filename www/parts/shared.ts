// Texts about a shared run: the contents of its link, and the commands that start the same run in a terminal and in Python.

import { copyField } from "./dialog";
import { h } from "./dom";
import { quoted } from "./shell";
import type { Config, Shared } from "../run/protocol";

/** Returns the commands for a run that is saved in `file`. `saving` is the button that saves it. */
export function commandsOf(config: Config, { command, changes, limits }: Shared, file: string, saving: HTMLElement): HTMLElement[] {
  const repeats =
    changes > 0 && `The command repeats ${changesInWords(changes)}, ${inTime(changes)}. The Python call does not; a saved run does.`;
  return [
    h("h3", "Terminal"),
    h("p.small", "In a clone of the repository, with Rust installed. See ", documentLink("cli", "all commands"), "."),
    copyField("Command", command),
    copyField("Resume command", `cargo run --release -- resume ${quoted(file)}`),
    h("h3", "Python"),
    h("p.small", [
      "After ",
      h("code", "pip install ./crates/python"),
      " in the clone, and ",
      h("code", "import hothouse"),
      ". See ",
      documentLink("python", "the Python package"),
      ".",
    ]),
    copyField("Python", python(config)),
    copyField("Resume in Python", `hothouse.Run.restore(${JSON.stringify(file)})`),
    h("p.row", saving, h("span.small", "Writes this file with the current state.")),
    ...[repeats, ...limits].flatMap((words) => (words ? [h("p.small", words)] : [])),
  ];
}

const documentLink = (name: string, words: string): HTMLElement =>
  h("a", { href: `docs/${name}.html`, target: "_blank", rel: "noopener" }, words);

const changesInWords = (changes: number): string => (changes === 1 ? "one live change of a knob" : `${changes} live changes of knobs`);
const inTime = (changes: number): string => (changes === 1 ? "at its iteration" : "each at its iteration");

/** Returns the expression that starts a run of this config in Python, without live changes. */
function python({ room, variant, seed, knobs, data }: Config): string {
  const of = (value: unknown): string => JSON.stringify(value);
  const set = Object.entries(knobs).map(([name, value]) => `${of(name)}: ${of(value)}`);
  const parts = [of(room), `variant=${of(variant)}`, `seed=${seed}`];
  if (set.length) parts.push(`knobs={${set.join(", ")}}`);
  if (data) parts.push(`data=${of(data.name)}`);
  return `hothouse.Run(${parts.join(", ")})`;
}

/** Describes the contents and limits of a link. */
export function inWords({ changes, checked_at, limits }: Shared): string {
  const contents = `The link contains the settings and the seed${changes ? `, and ${changesInWords(changes)}, ${inTime(changes)}` : ""}.`;
  const checked = checked_at === null ? "" : ` After ${checked_at} iterations the page checks that the run was reproduced.`;
  return [contents + checked, ...limits].join(" ");
}
