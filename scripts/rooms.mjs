// The rooms there are, for scripts: by the page's own list. What a script does for one room alone is in scripts/rooms/<room>.mjs;
// a room without that file has what every room has.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, Trouble } from "./sh.mjs";

const LIST = "www/rooms/index.ts";

/** Their names in the order of the header; the first is open where the address names none. */
export const ROOMS = [...readFileSync(join(root, LIST), "utf8").matchAll(/^ *\{ id: "([\w-]+)"/gm)].map(([, id]) => id);
if (!ROOMS.length) throw new Trouble(`${LIST} lists no room`, 'one room a line there: { id: "name", … }');

/** What the scripts of each room export under this name, as `[room, what]`; rooms without it are left out. */
export async function own(name) {
  const found = [];
  for (const id of ROOMS) {
    const file = new URL(`./rooms/${id}.mjs`, import.meta.url);
    const all = existsSync(file) ? await import(file.href) : {};
    if (name in all) found.push([id, all[name]]);
  }
  return found;
}
