// The list of rooms, read from the page's list. The optional file scripts/rooms/<room>.mjs contains the parts of the scripts that are
// specific to a room.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, Trouble } from "./sh.mjs";

const LIST = "www/rooms/index.ts";

/** Room names in the order of the header. The first room is the default. */
export const ROOMS = [...readFileSync(join(root, LIST), "utf8").matchAll(/^ *\{ id: "([\w-]+)"/gm)].map(([, id]) => id);
/** Names of all modules: one for each room, and one for each variant that needs a module of its own. */
export const MODULE_NAMES = [...readFileSync(join(root, LIST), "utf8").matchAll(/\b(?:id|own): "([\w-]+)"/g)].map(([, id]) => id);
if (!ROOMS.length) throw new Trouble(`${LIST} lists no room`, 'list one room per line: { id: "name", … }');

/** Returns `[room, value]` for each room whose script exports `name`. */
export async function own(name) {
  const found = [];
  for (const id of ROOMS) {
    const file = new URL(`./rooms/${id}.mjs`, import.meta.url);
    const all = existsSync(file) ? await import(file.href) : {};
    if (name in all) found.push([id, all[name]]);
  }
  return found;
}
