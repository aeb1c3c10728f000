// The page's start: header, theme, and one room around one run. Of several rooms one is open; another is loaded when it is
// asked for. When the run crashes, the page says what happened and offers the way back.

import "./stand-ins";
import type { Client, Crash, Options } from "./run/client";
import { connect } from "./run/connect";
import type { Module } from "./run/features";
import { keep, keepRooms } from "./run/isolate";
import { textOf } from "./run/notice";
import { loadVisit, places } from "./run/store";
import { Announcer } from "./parts/announce";
import { Badge, summary } from "./parts/badge";
import { copy } from "./parts/dialog";
import { h } from "./parts/dom";
import { capital } from "./parts/format";
import { keptRuns } from "./parts/kept";
import { Notices } from "./parts/notices";
import { Page } from "./parts/page";
import { startTheme, themeButton } from "./parts/theme";
import { rememberedDevice } from "./parts/device";
import { ROOMS } from "./rooms";
import { onBlankCanvas } from "./stand-ins";
import "./style.css";
import "./rooms/shared/layout.css";

/** What a visit needs comes first. */
const KEEP_MS = 10_000;

/** What is opened, where it says no other in the room that the address names. */
type Opening = Omit<Options, "room"> & { room?: string };

const around = { notices: new Notices(), announcer: new Announcer(), open: (options: Opening) => void open(options) };
const { notices, announcer } = around;

const tools = document.querySelector<HTMLElement>("#tools")!;
const place = document.querySelector<HTMLElement>("#room")!;
const nav = document.querySelector<HTMLElement>("#rooms")!;
const keys = h("button.quiet", { "aria-label": "Help", title: "Help (?)" }, "?");

declare global {
  /** The run of the open room, for the browser's console: `hothouse.command({ kind: "pause" })`. */
  var hothouse: Client | undefined;
}

/** As the header has them; a module may have one more. */
let rooms = ROOMS.map(({ id }) => ({ id, title: capital(id) }));
let page: Page | undefined;
/** The room that is open or about to be. */
let here = "";
let badge: Badge | undefined;
/** Counts what was opened, so that a room that comes late is closed again. */
let openings = 0;

for (const { id, store } of ROOMS) if (store) places.set(id, store);
startTheme();
tools.append(themeButton(), keys);
place.before(notices.element);
document.body.append(announcer.element);
keys.addEventListener("click", () => page?.help());
document.querySelector("#skip")?.addEventListener("click", (event) => {
  // The address belongs to links that carry a run.
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
});
addEventListener("hashchange", () => {
  const asked = roomOf(location.hash);
  if (asked !== here) void enter(asked, location.hash);
  // Where only the variant changes, as by the way back, the page takes it up and keeps what it has.
  else if (!page?.follow(location.hash)) void open({ link: location.hash });
});
onBlankCanvas(() =>
  notices.show(
    "warning",
    "This browser gives the page no canvas to draw on",
    "Figures and tables are there all the same. For the pictures, close other tabs or use another browser.",
  ),
);
here = roomOf(location.hash);
void begin();
setTimeout(() => void readyOffline(), KEEP_MS);

/** Has every room there without a network too, unless the visitor spares data, and says so. */
async function readyOffline(): Promise<void> {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  const module = globalThis.hothouse?.backend.module as Module | undefined;
  if (!module) return void setTimeout(() => void readyOffline(), KEEP_MS);
  if (await keepRooms(module)) document.querySelector("#offline")!.textContent = "Ready offline: every room opens without a network.";
}

/** `#/backgammon?…`; whatever names no room is of the first. */
function roomOf(link: string): string {
  const name = /^#\/?([^?/]+)/.exec(link)?.[1];
  return rooms.find(({ id }) => id === name)?.id ?? rooms[0]!.id;
}

function writeRooms(): void {
  nav.replaceChildren(...rooms.map(({ id, title }) => h("a", { href: `#/${id}`, "aria-current": id === here && "page" }, title)));
  // On a narrow page they scroll.
  const open = nav.querySelector<HTMLElement>("[aria-current]");
  requestAnimationFrame(() => open && (nav.scrollLeft = open.offsetLeft - nav.offsetLeft + open.offsetWidth - nav.clientWidth));
}

/** A page that is loaded again goes on with the run of its address; any other begins it. */
async function begin(): Promise<void> {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const link = location.hash;
  const again = navigation?.type === "reload" || navigation?.type === "back_forward";
  const opening = openings;
  const runs = again ? await loadVisit(here).catch(() => []) : [];
  if (opening !== openings) return; // the visitor has gone elsewhere
  const kept = runs.find(({ address }) => address === link.replace(/&digest=[^&]*/, ""));
  await open({ link, checkpoint: kept?.bytes });
}

/** Another room: the run of the one before is kept to come back to. */
async function enter(next: string, link: string): Promise<void> {
  here = next;
  const entering = ++openings;
  // The bare name, or the address that it had, asks for the run that was left; any other for a run of its own.
  const runs = [...keptRuns(next), ...(await loadVisit(next).catch(() => []))];
  if (entering !== openings) return;
  const run = runs.find(({ address }) => !link.includes("?") || link === address);
  await open({ link, checkpoint: run?.bytes });
}

function forget(): void {
  badge?.button.remove();
  page = badge = undefined;
  keys.hidden = true;
}

function leave(): void {
  page?.close();
  page?.client.close();
  forget();
}

/** Opens a run in place of the one that is open, which is kept: `undoes` it where that was its purpose. */
async function open(options: Opening, undoes = false): Promise<void> {
  const opening = ++openings;
  const leaving = page;
  forget();
  notices.clear();
  writeRooms();
  place.replaceChildren(h("p.starting", "Starting."));
  const left = await leaving?.depart();
  if (opening !== openings) return;
  let client: Client;
  let opened: Page;
  try {
    // A file may be of another room than the address.
    const room = ROOMS.find(({ id }) => id === (options.room ?? here)) ?? ROOMS[0]!;
    const expected = room.load?.();
    expected?.catch(() => {}); // told below
    client = await connect({ device: rememberedDevice(), ...options, room: room.id });
    const extension = client.room.id === room.id ? await expected : undefined;
    if (opening !== openings) return client.close();
    here = client.room.id;
    rooms = [...rooms, ...client.rooms.filter(({ id }) => !rooms.some((room) => room.id === id))];
    // The sheets of rooms that were opened stay; each rule of theirs is for the room of this class.
    document.body.className = `room-${here}`;
    opened = new Page(client, around, extension?.extension);
  } catch (error) {
    if (opening === openings) showCrash("Training could not start", { text: textOf(error), autosave: null }, undefined);
    return;
  }
  page = opened;
  writeRooms();
  badge = new Badge(client.backend, opened.counts, client.device);
  const own = badge;
  client.onEvent(({ kind }) => (kind === "device" || kind === "began") && own === badge && own.show(client.device));
  tools.prepend(badge.button);
  keys.hidden = false;
  place.replaceChildren(opened.element);
  // Now that the room listens: whoever listens first is told what happened before.
  globalThis.hothouse = client;
  // What this room brought, too, for when there is no network.
  keep(performance.getEntriesByType("resource").map(({ name }) => name));
  const before = leaving?.client.room.id;
  // Between two rooms one goes by their names.
  if (left && before && !undoes && (before === here || options.room)) {
    notices.offerUndo("Another run was opened", () => void open({ room: before, checkpoint: left.bytes }, true));
  }
  client.onSilence((silence) => {
    if (page !== opened) return;
    if (!silence) return notices.withdraw(SILENT);
    const { text, autosave } = silence;
    notices.show("error", SILENT, `${text}. The browser may have ended it, as where memory is short. Wait, or restart`, {
      label: autosave ? "Restart from the last autosave" : "Restart the run",
      run: () => {
        leave();
        void open(autosave ? { checkpoint: autosave } : { link: location.hash });
      },
    });
  });
  client.onCrash((crash) => {
    if (page !== opened) return;
    leave();
    showCrash("Training stopped with an error", crash, client);
  });
}

const SILENT = "Training may have ended";

/** In place of the room: what happened, and the steps one can take. */
function showCrash(title: string, crash: Crash, from: Client | undefined): void {
  notices.clear();
  const report = [
    title,
    crash.text,
    from ? `Hothouse ${from.backend.version}, ${summary(from.backend, from.device)}, module ${from.backend.module}` : "",
    from?.device?.why ?? "",
    ...(from?.backend.why ?? []),
    navigator.userAgent,
    location.href,
  ]
    .filter(Boolean)
    .join("\n");
  const copied = h("button", "Copy report");
  copied.addEventListener("click", async () => {
    copied.textContent = (await copy(report)) ? "Report copied" : "Select the text and copy it";
  });
  const { autosave } = crash;
  const again = autosave
    ? h("button.strong", { onclick: () => void open({ checkpoint: autosave }) }, "Go on from the last autosave")
    : h("button.strong", { onclick: () => void open({ link: location.hash }) }, "Try again");
  place.replaceChildren(
    h("main.crash", { id: "main", tabindex: -1 }, [
      h("h1", title),
      h("div", { role: "alert" }, [
        h("p", [
          autosave
            ? "Nothing before the last autosave is lost. Go on from it, or start a new run; the report helps whoever looks for the cause."
            : "Try again, or start a new run; the report helps whoever looks for the cause.",
        ]),
      ]),
      h("div.row", again, h("button", { onclick: () => startAnew() }, "New run"), copied),
      h("pre", { tabindex: 0, role: "region", "aria-label": "Report" }, report),
    ]),
  );
  again.focus();
}

function startAnew(): void {
  history.replaceState(null, "", `${location.pathname}${location.search}${here === rooms[0]!.id ? "" : `#/${here}`}`);
  void open({ link: location.hash });
}
