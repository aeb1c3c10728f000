// Start of the page: header, theme, and one open room with one run. The files of another room are loaded when the visitor opens that room.
// After a crash the page shows a report with offers to continue.

import "./fallbacks";
import type { Client, Crash, Options } from "./run/client";
import { connect } from "./run/connect";
import { choose, type Module } from "./run/features";
import { datasetOf } from "./run/dataset";
import type { Dataset } from "./run/protocol";
import type { Claim } from "./gallery/claim";
import { isolate, keep, keepRooms, prepareOffline } from "./run/isolate";
import { currentLink, lessonIn, placeIn, variantIn } from "./run/link";
import { textOf } from "./run/notice";
import { loadVisit, places, type SavedRun } from "./run/store";
import { absent, isOffline } from "./parts/absent";
import { Announcer } from "./parts/announce";
import { Badge, summary } from "./parts/badge";
import { copy } from "./parts/dialog";
import { h, icon } from "./parts/dom";
import { capital } from "./parts/format";
import { keptRuns } from "./parts/kept";
import { closePage } from "./parts/life";
import { Notices } from "./parts/notices";
import { Page } from "./parts/page";
import { PALETTE_KEY, Search, type Command } from "./parts/commands";
import { roving } from "./parts/roving";
import { startTheme, themeButton } from "./parts/theme";
import { rememberedDevice } from "./parts/device";
import { moduleOf, ROOMS, type Entry } from "./rooms";
import { onBlankCanvas } from "./fallbacks";
import "./design.css";
import "./style.css";
import "./rooms/shared/layout.css";

/** Place of the start page in addresses. */
const START = "";
/** Pages without a run, by their place in addresses, such as `#/gallery`. Their files are loaded when they are opened. */
const PAGES: Record<string, { title: string; words: string; load: () => Promise<HTMLElement> }> = {
  [START]: { title: "Start", words: "home tiles", load: async () => (await import("./start")).start() },
  lessons: { title: "Lessons", words: "course teach learn", load: async () => (await import("./lessons")).lessonsPage() },
  gallery: { title: "Gallery", words: "records tracks verify", load: async () => (await import("./gallery")).gallery() },
};
/** Delay before files are cached for offline use, so that the files of this visit load first. */
const KEEP_MS = 10_000;

/**
 * Options to open a room. Without `room`, the current room is opened. `variant` is the variant of the run, if neither a config nor a link
 * names it.
 */
type OpenOptions = Omit<Options, "room" | "module"> & { room?: string; variant?: string };

const context = { notices: new Notices(), announcer: new Announcer(), open: (options: OpenOptions) => void open(options), commands };
const { notices, announcer } = context;

const tools = document.querySelector<HTMLElement>("#tools")!;
const container = document.querySelector<HTMLElement>("#room")!;
const nav = document.querySelector<HTMLElement>("#rooms")!;
const theme = themeButton();
const search = h("button.search", icon("search"), h("span", "Search"), h("kbd", PALETTE_KEY));
const palette = new Search({
  commands: (query) => page?.commands(query) ?? commands(),
  room: () => currentRoom,
  open: context.open,
  failed: (error) => notices.show("error", textOf(error), "Check the connection and search again."),
});
const keys = h("button.quiet", { hidden: true, "aria-label": "Help", title: "Help (?)" }, "?");

declare global {
  /** The client of the open room, for the browser's console: `hothouse.command({ kind: "pause" })`. */
  var hothouse: Client | undefined;
}

/** Rooms in the header. A wasm module may add a room. */
let rooms = ROOMS.map(({ id }) => ({ id, title: capital(id) }));
let page: Page | undefined;
/** Id of the open room or page, or of the one that is loading. */
let currentRoom = "";
let badge: Badge | undefined;
let claim: Claim | undefined;
/** Number of requests to open a room. If this number changes while a room loads, the loaded room is closed again. */
let openings = 0;

for (const { id, store } of ROOMS) if (store) places.set(id, store);
startTheme();
tools.append(search, theme, keys);
roving(tools);
container.before(notices.element);
document.body.append(announcer.element);
keys.addEventListener("click", () => void page?.help());
search.addEventListener("click", () => palette.open());
document.querySelector("#skip")?.addEventListener("click", (event) => {
  // By default, the browser would write the link's target into the address, which is reserved for links to runs.
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
});
function follow(): void {
  const requested = roomOf(location.hash);
  if (requested !== currentRoom) void (requested in PAGES ? openPage(requested) : enter(requested, currentLink()));
  // If only the tab or the variant changes, for example by the back button, the open page handles the address.
  else if (!page?.follow(location.hash)) void open({ link: currentLink() });
}
onBlankCanvas(() =>
  notices.show(
    "warning",
    "This browser provides no canvas to draw on",
    "Numbers and tables still work. For pictures, close other tabs or use another browser.",
  ),
);
currentRoom = roomOf(location.hash);
// Some hosts cannot forbid frames of this document by a header. Only embed.html runs in a frame.
if (window.top === window) {
  addEventListener("hashchange", follow);
  void begin();
  setTimeout(() => void readyOffline(), KEEP_MS);
} else {
  const whole = h("a", { href: location.href, target: "_blank", rel: "noopener" }, "Open it in a tab");
  container.replaceChildren(h("main.starting", { id: "main", tabindex: -1 }, "Hothouse does not run inside another page. ", whole, "."));
}

/** Caches the files of every room for offline use, then shows a note. Does nothing if the browser asks for reduced data use. */
async function readyOffline(): Promise<void> {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  prepareOffline();
  // A host without headers isolates the page only when a room is opened. Until then, the module of the rooms is not known.
  const module =
    (globalThis.hothouse?.backend.module as Module | undefined) ?? (crossOriginIsolated ? choose("auto").candidates[0] : undefined);
  if (!module) return void setTimeout(() => void readyOffline(), KEEP_MS);
  if (await keepRooms(module)) document.querySelector("#offline")!.textContent = "Ready offline: all rooms work without a network.";
}

/** Returns the id of the room or page in a link such as `#/backgammon?…`, and the first room for other links. */
function roomOf(link: string): string {
  const name = /^#\/?([^?/]+)/.exec(link)?.[1] ?? "";
  return [...rooms.map(({ id }) => id), ...Object.keys(PAGES)].find((id) => id === name) ?? rooms[0]!.id;
}

function writeRooms(): void {
  const pages = Object.entries(PAGES).filter(([id]) => id !== START);
  const places = [...rooms, ...pages.map(([id, { title }]) => ({ id, title }))];
  nav.replaceChildren(...places.map(({ id, title }) => h("a", { href: `#/${id}`, "aria-current": id === currentRoom && "page" }, title)));
  // The list scrolls on a narrow page, so the open room is scrolled into view.
  const open = nav.querySelector<HTMLElement>("[aria-current]");
  requestAnimationFrame(() => open && (nav.scrollLeft = open.offsetLeft - nav.offsetLeft + open.offsetWidth - nav.clientWidth));
}

/** Returns the commands of the header: theme, system, rooms and pages. */
function commands(): Command[] {
  return [
    { kind: "Actions", name: "Switch between light and dark", note: theme.title, words: "theme", run: () => theme.click() },
    { kind: "Actions", name: "System in use", words: "hardware", run: () => badge?.button.click() },
    ...rooms.map(({ id, title }) => ({ kind: "Rooms", name: title, run: () => (location.hash = `#/${id}`) })),
    ...Object.entries(PAGES).map(([id, { title, words }]) => ({
      kind: "Rooms",
      name: title,
      words,
      run: () => (location.hash = `#/${id}`),
    })),
  ];
}

/** Opens the run in the address. After a reload, continues the saved run of that address. */
async function begin(): Promise<void> {
  if (currentRoom in PAGES) return openPage(currentRoom);
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const link = currentLink();
  const reloaded = navigation?.type === "reload" || navigation?.type === "back_forward";
  const opening = openings;
  const runs = reloaded ? await loadVisit(currentRoom).catch(() => []) : [];
  if (opening !== openings) return; // the visitor has opened another room
  const kept = runs.find(({ address }) => address === link.replace(/&digest=[^&]*/, ""));
  await open({ link, checkpoint: kept?.bytes });
}

/** Opens another room. The previous room's run remains saved. */
async function enter(next: string, link: string): Promise<void> {
  currentRoom = next;
  const entering = ++openings;
  // A link without settings, or the address of a saved run, continues that run. Any other link starts a new run.
  const runs = [...keptRuns(next), ...(await loadVisit(next).catch(() => []))];
  if (entering !== openings) return;
  const run = runs.find(({ address }) => !link.includes("?") || link === address);
  await open({ link, checkpoint: run?.bytes, variant: run?.variant });
}

/** Returns the variant of the run that the options describe; undefined for the room's first variant. */
function variantOf({ variant, config, link = currentLink() }: OpenOptions): string | undefined {
  return variant || config?.variant || variantIn(link);
}

/** Returns the visitor's own data for a link to a run on such data, if the link contains none. */
async function dataFor({ own, ownData }: Entry, options: OpenOptions): Promise<Dataset | undefined> {
  const { config, checkpoint, link = currentLink() } = options;
  if (config || checkpoint || !ownData || own !== variantIn(link) || /[?&](data|digest)=/.test(link)) return undefined;
  return datasetOf(await ownData());
}

function forget(): void {
  badge?.button.remove();
  claim?.button.remove();
  page = badge = claim = undefined;
  keys.hidden = true;
}

/** Closes the open room or page. Returns the save of the room's run. */
async function depart(leaving: Page | undefined): Promise<SavedRun | undefined> {
  if (leaving) return leaving.depart();
  closePage();
  return undefined;
}

function leave(): void {
  page?.close();
  page?.client.close();
  forget();
}

/** Saves the open run and shows a page of `PAGES`. */
async function openPage(id: string): Promise<void> {
  const opening = ++openings;
  const leaving = page;
  const { title, load } = PAGES[id]!;
  currentRoom = id;
  forget();
  notices.clear();
  writeRooms();
  container.replaceChildren(h("p.starting", "Starting…"));
  await depart(leaving);
  try {
    const shown = await load();
    if (opening !== openings) return;
    document.body.className = `room-${id}`;
    document.title = `${title} | Hothouse`;
    container.replaceChildren(shown);
  } catch (error) {
    if (opening === openings) showCrash(`The page ${title} could not be loaded`, { text: textOf(error), autosave: null }, undefined);
  }
}

/** Saves the open run and opens another run. With `undoing`, no undo notice is shown. */
async function open(options: OpenOptions, undoing = false): Promise<void> {
  const opening = ++openings;
  const leaving = page;
  forget();
  notices.clear();
  writeRooms();
  container.replaceChildren(h("p.starting", "Starting…"));
  const left = await depart(leaving);
  if (opening !== openings) return;
  let client: Client;
  let opened: Page;
  try {
    // The checkpoint in `options` may contain a run of another room.
    const room = ROOMS.find(({ id }) => id === (options.room ?? currentRoom)) ?? ROOMS[0]!;
    const expected = room.load?.();
    expected?.catch(() => {}); // awaited later
    // A link with a digest is checked. The digest needs the arithmetic of the CPU.
    const link = options.link?.includes("digest=") && !options.checkpoint ? options.link : undefined;
    const checking = link ? import("./gallery/claim").catch(() => undefined) : undefined;
    const device = link ? "cpu" : rememberedDevice();
    await isolate();
    const data = await dataFor(room, options);
    client = await connect({ device, data, ...options, room: room.id, module: moduleOf(room, variantOf(options)) });
    const loaded = client.room.id === room.id ? await expected : undefined;
    const claims = await checking;
    if (opening !== openings) return client.close();
    currentRoom = client.room.id;
    rooms = [...rooms, ...client.rooms.filter(({ id }) => !rooms.some((room) => room.id === id))];
    // Style sheets of opened rooms stay loaded. This class selects the rules of the current room.
    document.body.className = `room-${currentRoom}`;
    opened = new Page(client, context, loaded?.extension);
    if (link && !client.refusal) claim = claims?.Claim.of(link, client, announcer);
  } catch (error) {
    if (opening === openings) await showFailure(textOf(error), opening);
    return;
  }
  page = opened;
  writeRooms();
  badge = new Badge(client.backend, opened.counts, client.device, () => page?.show(["settings", "device"]));
  const own = badge;
  client.onEvent(({ kind }) => (kind === "device" || kind === "began") && own === badge && own.show(client.device));
  search.after(...(claim ? [claim.button] : []), badge.button);
  keys.hidden = false;
  container.replaceChildren(opened.element);
  opened.show(placeIn(location.hash), lessonIn(location.hash));
  // Sets the global after the room has added its listeners, because the client replays earlier events only to the first listener.
  globalThis.hothouse = client;
  // The files of this room are cached for offline use too.
  keep(performance.getEntriesByType("resource").map(({ name }) => name));
  const before = leaving?.client.room.id;
  // After a change of rooms no notice is shown, because the visitor can return through the header.
  if (left && before && !undoing && (before === currentRoom || options.room)) {
    notices.offerUndo("Another run was opened", () => void open({ room: before, checkpoint: left.bytes, variant: left.variant }, true));
  }
  client.onSilence((silence) => {
    if (page !== opened) return;
    if (!silence) return notices.withdraw(SILENT);
    const { text, autosave } = silence;
    notices.show("error", SILENT, `${text}. The browser may have stopped it to free memory. Wait, or restart`, {
      label: autosave ? "Restart from the last autosave" : "Restart the run",
      run: () => {
        leave();
        void open(autosave ? { checkpoint: autosave } : { link: currentLink() });
      },
    });
  });
  client.onCrash((crash) => {
    if (page !== opened) return;
    leave();
    showCrash("Training stopped with an error", crash, client);
  });
}

const SILENT = "Training may have stopped";

/** Shows why a room did not open: there is no network, or an error. */
async function showFailure(text: string, opening: number): Promise<void> {
  const isAbsent = await isOffline();
  const again = (): void => void open({ link: currentLink() });
  const shown = isAbsent ? await absent(currentRoom, again) : undefined;
  if (opening !== openings) return;
  if (!shown) return showCrash("Training could not start", { text, autosave: null }, undefined);
  notices.clear();
  container.replaceChildren(shown);
}

/** Replaces the room with a crash report and buttons to continue. */
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
    ? h("button.strong", { onclick: () => void open({ checkpoint: autosave }) }, "Continue from the last autosave")
    : h("button.strong", { onclick: () => void open({ link: currentLink() }) }, "Try again");
  container.replaceChildren(
    h("main.crash", { id: "main", tabindex: -1 }, [
      h("h1", title),
      h("div", { role: "alert" }, [
        h("p", [
          autosave
            ? "Progress up to the last autosave is safe. Continue from it, or start a new run. Please add the report to a bug report."
            : "Try again, or start a new run. Please add the report to a bug report.",
        ]),
      ]),
      h("div.row", again, h("button", { onclick: () => startAnew() }, "New run"), copied),
      h("pre", { tabindex: 0, role: "region", "aria-label": "Report" }, report),
    ]),
  );
  again.focus();
}

function startAnew(): void {
  history.replaceState(null, "", `${location.pathname}${location.search}#/${currentRoom}`);
  void open({ link: currentLink() });
}
