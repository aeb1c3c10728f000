// Entry point of the frame in another page: reads the frame's address, opens the run, and receives messages of the outer page.

import "../fallbacks";
import type { Client } from "../run/client";
import { connect } from "../run/connect";
import { isolateFrame } from "../run/isolate";
import { linkOf, variantIn } from "../run/link";
import { inWords, textOf } from "../run/notice";
import { Announcer } from "../parts/announce";
import { h } from "../parts/dom";
import { Notices } from "../parts/notices";
import { startTheme, useTheme } from "../parts/theme";
import { moduleOf, ROOMS, type Entry } from "../rooms";
import { Embed } from "./embed";
import { controlsOf, listen, tell, themeOf } from "./outer";
import "../design.css";
import "../style.css";
import "../rooms/shared/layout.css";
import "./embed.css";

// Style sheets for the stages of the rooms in a frame.
import.meta.glob("../rooms/*/embed.css", { eager: true });

declare global {
  /** The client of the open run, for the browser's console. */
  var hothouse: Client | undefined;
}

const around = { notices: new Notices(), announcer: new Announcer() };
const container = document.querySelector<HTMLElement>("#room")!;
let embed: Embed | undefined;
/** Number of requests to open a run. If this number changes while a run opens, the run is closed again. */
let openings = 0;

startTheme();
const query = new URLSearchParams(location.search);
look(query.get("controls"), query.get("theme"));
container.before(around.notices.element);
document.body.append(around.announcer.element);
listen((message) => {
  if (message.kind === "open") void open(message.link);
  else if (message.kind === "run") embed?.run(message.running);
  else if (message.kind === "knob") embed?.change(message.name, message.value);
  else look(message.controls, message.theme);
});
addEventListener("hashchange", () => void open(location.hash));
void isolateFrame().then(() => {
  tell({ kind: "listening" });
  void open(location.hash);
});

function look(controls: unknown, theme: unknown): void {
  document.body.dataset.controls = controlsOf(controls);
  useTheme(themeOf(theme));
}

/** Opens the run of a link. An invalid link shows an error, and nothing trains. */
async function open(link: string): Promise<void> {
  const opening = ++openings;
  embed?.close();
  embed = undefined;
  around.notices.clear();
  container.replaceChildren(h("p.starting", "Starting…"));
  try {
    const room = roomOf(link);
    const expected = room.load?.();
    expected?.catch(() => {}); // awaited later
    const client = await connect({ room: room.id, module: moduleOf(room, variantIn(link)), link: linkOf(link) });
    const loaded = await expected;
    if (opening !== openings || client.refusal) client.close();
    if (opening !== openings) return;
    if (client.refusal) throw new Error(inWords(client.refusal));
    // Style sheets of opened rooms stay loaded. This class selects the rules of the current room.
    document.body.className = `embed room-${room.id}`;
    embed = new Embed(client, around, loaded?.extension);
    container.replaceChildren(embed.element);
    client.onCrash(({ text }) => opening === openings && fail("Training stopped with an error", text, link));
    globalThis.hothouse = client;
  } catch (error) {
    if (opening === openings) fail("This run could not start", textOf(error), link);
  }
}

/** Returns the room in a link such as `#/backgammon?…`; without a room, the first one. */
function roomOf(link: string): Entry {
  const [, name = ""] = /^#?\/?([^?/]*)/.exec(link) ?? [];
  const room = name ? ROOMS.find(({ id }) => id === name) : ROOMS[0];
  if (room) return room;
  throw new Error(`There is no room called '${name}'. The rooms are: ${ROOMS.map(({ id }) => id).join(", ")}.`);
}

/** Shows an error in place of the run and reports it to the outer page. */
function fail(title: string, message: string, link: string): void {
  embed?.close();
  embed = undefined;
  tell({ kind: "error", detail: { message: `${title}: ${message}` } });
  const again = h("button", { onclick: () => void open(link) }, "Try again");
  container.replaceChildren(h("main.failed", h("h1", title), h("p", { role: "alert" }, message), h("div.row", again)));
}
