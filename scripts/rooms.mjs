// List of rooms for scripts, from the page's list. scripts/rooms/<room>.mjs contains the room-specific parts of the scripts and is
// optional.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, Trouble } from "./sh.mjs";

const LIST = "www/rooms/index.ts";

/** Room names in the order of the header. The first room is the default. */
export const ROOMS = [...readFileSync(join(root, LIST), "utf8").matchAll(/^ *\{ id: "([\w-]+)"/gm)].map(([, id]) => id);
if (!ROOMS.length) throw new Trouble(`${LIST} lists no room`, 'list one room per line: { id: "name", … }');

/** The exports called `name` of the rooms' scripts, as `[room, export]`; rooms without such an export are skipped. */
export async function own(name) {
  const found = [];
  for (const id of ROOMS) {
    const file = new URL(`./rooms/${id}.mjs`, import.meta.url);
    const all = existsSync(file) ? await import(file.href) : {};
    if (name in all) found.push([id, all[name]]);
  }
  return found;
}
