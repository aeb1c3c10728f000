// Page for a room that this browser has not stored and cannot load without a network. It offers the rooms that are stored.

import { choose } from "../run/features";
import { ROOMS } from "../rooms";
import { h } from "./dom";
import { capital } from "./format";

declare const __MODULES__: Record<string, string>;

/** Returns true if the host of the page does not answer. The service worker does not answer requests of this method. */
export const isOffline = (): Promise<boolean> =>
  fetch(document.baseURI, { method: "HEAD", cache: "no-store" }).then(
    () => false,
    () => true,
  );

/** Returns true if the browser has stored a module of the room that it can run. */
async function isStored(room: string): Promise<boolean> {
  for (const flavour of choose("auto").candidates) {
    const script = __MODULES__[`${room}/${flavour}`];
    const module = script && new URL(script.replace(/\.js$/, "_bg.wasm"), document.baseURI).href;
    if (module && (await caches.match(module).catch(() => undefined))) return true;
  }
  return false;
}

/** Creates the page. `again` tries to open the room again. */
export async function absent(room: string, again: () => void): Promise<HTMLElement> {
  const stored: string[] = [];
  for (const { id } of ROOMS) if (id !== room && "caches" in globalThis && (await isStored(id))) stored.push(id);
  const links = stored.map((id) => h("li", h("a", { href: `#/${id}` }, capital(id))));
  return h("main.crash", { id: "main", tabindex: -1 }, [
    h("h1", `${capital(room)} needs a network the first time`),
    h("div", { role: "alert" }, [
      h("p", "This browser has not stored the files of this room, and there is no network now."),
      stored.length > 0 && h("p", "These rooms are stored here and work without a network:"),
    ]),
    stored.length > 0 && h("ul.row", links),
    h("div.row", h("button.strong", { onclick: again }, "Try again")),
  ]);
}
