// Commands of the search that start a run on a template of an environment. Import this module dynamically, because it contains the texts of
// all templates.

import type { Command, Opening } from "../../parts/commands";
import { keep } from "./own/newest";
import { TEMPLATES, type Template } from "./own/templates";

/** Returns a command for each template. */
export const starters = ({ open }: Opening): Command[] =>
  TEMPLATES.map((template) => ({
    ...{ kind: "Templates", name: template.name, note: "Your environment", words: template.title },
    run: () => void start(template, open),
  }));

/** Stores a copy of the template, which the editor then opens, and starts a run in it. */
async function start({ name, text }: Template, open: Opening["open"]): Promise<void> {
  await keep(new File([text], name));
  history.pushState(null, "", "#/control?variant=own");
  const content = new TextEncoder().encode(text);
  const data = { name, bytes: content.length, hash: "", content };
  open({ room: "control", variant: "own", config: { version: 2, room: "control", variant: "own", seed: 1, knobs: {}, data } });
}
