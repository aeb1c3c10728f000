// The page's start: header, theme, and one room around one experiment. Of several rooms one is open; another is loaded when
// it is asked for. When the experiment crashes, the page says what happened and offers the way back.

import { connect, type Lab } from "./run/client";
import type { Crash, InUse, Options } from "./run/handle";
import { Announcer } from "./parts/announce";
import { Badge, summary } from "./parts/badge";
import { copy } from "./parts/dialog";
import { h } from "./parts/dom";
import { Notices } from "./parts/notices";
import { startTheme, themeButton } from "./parts/theme";
import { rememberedDevice, type Counts } from "./parts/device";
import { ControlRoom } from "./rooms/control/view";
import type { Device } from "./run/protocol";
import "./style.css";

/** A room that is open: what the page needs of it. */
interface Room {
  readonly element: HTMLElement;
  readonly backend: InUse;
  device(): Device | undefined;
  readonly counts: Counts;
  /** Calls back after what trains may have changed. */
  onDevice(callback: () => void): void;
  onCrash(callback: (crash: Crash) => void): void;
  /** Takes a link up without being opened anew; false where it cannot. */
  follow(link: string): boolean;
  help(): void;
  /** Ends the experiment with its autosave kept, and gives that back. */
  leave(): Promise<Uint8Array | null>;
  close(): void;
}

const around = { notices: new Notices(), announcer: new Announcer() };
const { notices, announcer } = around;

const ROOMS: { id: string; name: string; open(options: Options): Promise<Room> }[] = [
  {
    id: "control",
    name: "Control",
    async open(options) {
      const lab: Lab = await connect({ device: rememberedDevice(), ...options });
      const room = new ControlRoom(lab, around);
      return {
        element: room.element,
        backend: lab.backend,
        device: () => lab.device,
        counts: room.counts,
        onDevice: (callback) => lab.onEvent(({ kind }) => (kind === "device" || kind === "began") && callback()),
        onCrash: lab.onCrash,
        follow: (link) => room.follow(link),
        help: () => room.help(),
        leave: () => (room.close(), lab.leave()),
        close: () => (room.close(), lab.close()),
      };
    },
  },
  {
    id: "backgammon",
    name: "Backgammon",
    async open(options) {
      const [{ connect }, { BackgammonRoom }] = await Promise.all([import("./run/backgammon/client"), import("./rooms/backgammon/view")]);
      const parlour = await connect({ device: rememberedDevice(), ...options });
      const room = new BackgammonRoom(parlour, around);
      return {
        element: room.element,
        backend: parlour.backend,
        device: () => parlour.device,
        counts: room.counts,
        onDevice: (callback) => parlour.onEvent(({ kind }) => (kind === "device" || kind === "began") && callback()),
        onCrash: parlour.onCrash,
        follow: (link) => room.follow(link),
        help: () => room.help(),
        leave: () => (room.close(), parlour.leave()),
        close: () => (room.close(), parlour.close()),
      };
    },
  },
];

const tools = document.querySelector<HTMLElement>("#tools")!;
const place = document.querySelector<HTMLElement>("#room")!;
const rooms = document.querySelector<HTMLElement>("#rooms")!;
const keys = h("button", { type: "button", class: "quiet", "aria-label": "Keyboard shortcuts", title: "Keys (?)" }, "?");

let room: Room | undefined;
let kind = ROOMS[0]!;
let badge: Badge | undefined;
/** Runs of rooms that were left in this visit, with the address they had: who comes back goes on. */
const left = new Map<string, { bytes: Uint8Array; link: string }>();
/** Counts what was opened, so that a room that comes late is closed again. */
let openings = 0;

startTheme();
tools.append(themeButton(), keys);
place.before(notices.element);
document.body.append(announcer.element);
keys.addEventListener("click", () => room?.help());
document.querySelector("#skip")?.addEventListener("click", (event) => {
  // The address belongs to links that carry a run.
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
});
addEventListener("hashchange", ({ oldURL }) => {
  const asked = roomOf(location.hash);
  if (asked !== kind) void enter(asked, location.hash, new URL(oldURL).hash);
  // Where only the environment changes, as by the way back, the room takes it up and keeps what it has.
  else if (!room?.follow(location.hash)) void open({ link: location.hash });
});
kind = roomOf(location.hash);
void open({ link: location.hash });

/** `#/backgammon?…`; whatever names no room is of the first. */
function roomOf(link: string): (typeof ROOMS)[0] {
  const name = /^#\/?([a-z]+)/.exec(link)?.[1];
  return ROOMS.find(({ id }) => id === name) ?? ROOMS[0]!;
}

function writeRooms(): void {
  rooms.replaceChildren(...ROOMS.map(({ id, name }) => h("a", { href: `#/${id}`, "aria-current": id === kind.id && "page" }, name)));
}

/** Another room: the run of the one before is kept to come back to. */
async function enter(next: (typeof ROOMS)[0], link: string, from: string): Promise<void> {
  const [before, leaving] = [kind, room];
  kind = next;
  const opening = ++openings;
  forget();
  place.replaceChildren(h("p", { class: "starting" }, "Starting."));
  writeRooms();
  const bytes = await leaving?.leave();
  if (bytes) left.set(before.id, { bytes, link: from });
  if (opening !== openings) return;
  // The bare name, or the address that it had, asks for the run that was left; any other for a run of its own.
  const kept = left.get(next.id);
  await open(!link.includes("?") || link === kept?.link ? { link, checkpoint: kept?.bytes } : { link });
}

/** What belongs to the room that was open. */
function forget(): void {
  badge?.close();
  badge?.button.remove();
  room = badge = undefined;
  keys.hidden = true;
}

function leave(): void {
  room?.close();
  forget();
}

async function open(options: Options): Promise<void> {
  const opening = ++openings;
  leave();
  notices.clear();
  writeRooms();
  place.replaceChildren(h("p", { class: "starting" }, "Starting."));
  let opened: Room;
  try {
    opened = await kind.open(options);
  } catch (error) {
    if (opening === openings) showCrash("Training could not start", { text: error instanceof Error ? error.message : String(error), autosave: null }, undefined);
    return;
  }
  if (opening !== openings) return opened.close();
  room = opened;
  badge = new Badge(opened.backend, opened.counts, opened.device());
  const own = badge;
  opened.onDevice(() => own === badge && own.show(opened.device()));
  tools.prepend(badge.button);
  keys.hidden = false;
  place.replaceChildren(opened.element);
  opened.onCrash((crash) => {
    if (room !== opened) return;
    leave();
    showCrash("Training stopped with an error", crash, opened);
  });
}

/** In place of the room: what happened, and the steps one can take. */
function showCrash(title: string, crash: Crash, from: Room | undefined): void {
  notices.clear();
  const report = [
    title,
    crash.text,
    from ? `Hothouse ${from.backend.version}, ${summary(from.backend, from.device())}, module ${from.backend.module}` : "",
    from?.device()?.why ?? "",
    ...(from?.backend.why ?? []),
    navigator.userAgent,
    location.href,
  ]
    .filter(Boolean)
    .join("\n");
  const copied = h("button", { type: "button" }, "Copy report");
  copied.addEventListener("click", async () => {
    copied.textContent = (await copy(report)) ? "Report copied" : "Select the text and copy it";
  });
  const { autosave } = crash;
  const again = autosave
    ? h("button", { type: "button", class: "strong", onclick: () => void open({ checkpoint: autosave }) }, "Go on from the last autosave")
    : h("button", { type: "button", class: "strong", onclick: () => void open({ link: location.hash }) }, "Try again");
  place.replaceChildren(
    h(
      "main",
      { id: "main", tabindex: -1, class: "crash" },
      h("h1", {}, title),
      h(
        "div",
        { role: "alert" },
        h(
          "p",
          {},
          autosave
            ? "Nothing before the last autosave is lost. Go on from it, or begin anew; the report helps whoever looks for the cause."
            : "Try again, or begin anew; the report helps whoever looks for the cause.",
        ),
      ),
      h("div", { class: "row" }, again, h("button", { type: "button", onclick: () => startAnew() }, "Begin anew"), copied),
      h("pre", { tabindex: 0, role: "region", "aria-label": "Report" }, report),
    ),
  );
  again.focus();
}

function startAnew(): void {
  history.replaceState(null, "", `${location.pathname}${location.search}${kind === ROOMS[0] ? "" : `#/${kind.id}`}`);
  void open({ link: location.hash });
}

