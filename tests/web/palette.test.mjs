// Tests of the command palette, of the keyboard path to the main action of each room, and of the equality of visible and spoken names.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOMS } from "../../scripts/rooms.mjs";
import { root } from "../../scripts/sh.mjs";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, event, house, lab, part, place, visit } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";
import { accessible, addressOf, leave, SCREENS } from "./rooms.mjs";

// With this flag Chromium computes accessible names for the page.
const here = house(["--enable-blink-features=ComputedAccessibilityInfo"]);
replays(here);
/** Address of a small run with short iterations. */
const SMALL = "#/control?envs=64&v=2";
const LONG_TASK_MS = 50;
const MOST = 50;
/** Most presses of Tab before the main action. The links of the header are ten stops. */
const STOPS = 16;
/** Names of the main action of each room. */
const MAIN_ACTIONS = {
  control: /^Take the controls/,
  backgammon: /^(Roll|Watch|Play)/,
  cube: /^Scramble/,
  logic: /^Damage the middle/,
  words: /^Write/,
};

const field = (page) => page.getByRole("combobox", { name: "Search" });
const options = (page) => page.getByRole("listbox", { name: "Commands" }).getByRole("option");
/** Opens the palette, enters a query, and runs the first result. */
async function find(page, query) {
  await page.keyboard.press("Control+k");
  await field(page).fill(query);
  await field(page).press("Enter");
}
/** Waits until the current run is in the list of runs. */
const listed = (page) => page.locator(".run-list li").first().waitFor({ state: "attached" });
const focused = (page) => page.evaluate(() => document.activeElement.computedName);
/** Returns the page's address. Playwright's `page.url()` may be late. */
const address = (page) => page.evaluate(() => location.hash);

test("a query matches words in any order, the start of a name first, and shows at most 50 results", async () => {
  const { matches } = await part("parts/palette");
  const command = (kind, name, rest) => ({ kind, name, run() {}, ...rest });
  const all = [
    command("Actions", "Save run"),
    command("Actions", "New run", { key: "r" }),
    command("Knobs", "Learning rate", { note: "0.01", words: "lr" }),
    command("Knobs", "Decay of the rate"),
    command("Rooms", "Runners"),
    ...Array.from({ length: 60 }, (_, k) => command("Others", `Thing ${k}`)),
  ];
  const found = (query) => [...matches(all, query).groups].map(([kind, { length }]) => `${kind} ${length}`);
  const names = (query) => [...matches(all, query).groups.values()].flat().map(({ name }) => name);
  assert.deepEqual(names("rate learn"), ["Learning rate"]);
  assert.deepEqual(names("rate"), ["Learning rate", "Decay of the rate"]);
  assert.deepEqual(names("dec"), ["Decay of the rate"]);
  assert.deepEqual(names("run"), ["Runners", "Save run", "New run"]);
  assert.deepEqual(names("LR"), ["Learning rate"]);
  assert.deepEqual(names("knob 0.01"), ["Learning rate"]);
  assert.deepEqual(names("unn"), ["Runners"]);
  assert.deepEqual(names("learning room"), []);
  assert.deepEqual(found(""), ["Actions 2", "Knobs 2", "Rooms 1", "Others 45"]);
  assert.equal(matches(all, "").count, 65);
  assert.deepEqual(found("thing"), ["Others 50"]);
});

/** Runs in the page: searches for each name in the open palette, and returns the names that are not in their group of results. */
async function unlisted(wanted) {
  const input = document.querySelector(".command-palette input");
  const missing = [];
  for (const [kind, names] of Object.entries(wanted))
    for (const name of names) {
      input.value = `${name} ${kind}`;
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      const group = [...document.querySelectorAll(".command-palette [role=group]")].find((group) => {
        const label = group.ariaLabel ?? document.getElementById(group.getAttribute("aria-labelledby"))?.textContent;
        return label === kind && group.checkVisibility();
      });
      const found = [...(group?.querySelectorAll(".command-name") ?? [])].some(({ textContent }) => textContent.includes(name));
      if (!found) missing.push(`${kind}: ${name}`);
    }
  return missing;
}

test("the palette opens by key and by button, lists everything, and returns the focus", async () => {
  const page = await replayed(here, { at: SMALL, context: { viewport: { width: 1280, height: 720 } } });
  await listed(page);
  const opener = page.getByRole("button", { name: "Search Ctrl K", exact: true });
  await opener.click();
  await field(page).waitFor();
  assert.equal(await focused(page), "Search");
  assert.ok((await options(page).count()) <= MOST);
  await page.keyboard.press("Escape");
  assert.equal(await focused(page), "Search Ctrl K");

  const wanted = await page.evaluate(() => ({
    Rooms: [...document.querySelectorAll("#rooms a")].map(({ textContent }) => textContent),
    Environments: [...document.querySelectorAll(".worlds a")].map(({ textContent }) => textContent),
    Knobs: [...hothouse.knobs.map(({ label }) => label), "Seed"],
    Tabs: [...document.querySelectorAll(".tabs button")].map(({ textContent }) => textContent),
    Sections: [...document.querySelectorAll(".chips [role=tab]:not([hidden])")].map(({ textContent }) => textContent),
    Devices: ["Train on the faster device", "Train on the CPU", "Train on the GPU"],
    Runs: ["CartPole, Environments 64"],
    Actions: [
      ...["Play or pause", "Step: one iteration, then pause", "New run from the first step", "Next environment", "Speed: real time"],
      ...["Take the controls of the single environment", "Open or close the table of mean return", "Show or hide the past run"],
      ...["Save run", "Load run", "Copy link", "Curves as CSV"],
      ...["Help", "Take the tour", "Switch between light and dark", "System in use"],
    ],
  }));
  for (const [kind, names] of Object.entries(wanted)) assert.ok(names.length > 0, kind);
  await page.keyboard.press("Control+k");
  await field(page).waitFor();
  assert.deepEqual(await page.evaluate(unlisted, wanted), []);
  await page.keyboard.press("Control+k");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await leave(page);
});

test("arrow keys, Enter and the pointer choose a command; an empty result suggests a query", async () => {
  const page = await replayed(here, { at: SMALL });
  await page.keyboard.press("Control+k");
  const active = () =>
    field(page).evaluate((input) => document.getElementById(input.getAttribute("aria-activedescendant"))?.textContent ?? "");
  await field(page).fill("explore");
  const names = await options(page).allTextContents();
  assert.ok(names.length > 2, names.join());
  assert.equal(await active(), names[0]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await active(), names[2]);
  await page.keyboard.press("ArrowUp");
  assert.equal(await active(), names[1]);
  assert.equal(await options(page).and(page.locator("[aria-selected=true]")).textContent(), names[1]);
  await page.keyboard.press("Enter");
  assert.equal(await page.getByRole("tab", { name: "Explore", exact: true }).getAttribute("aria-selected"), "true");
  assert.equal(await page.getByRole("dialog").count(), 0);

  await page.keyboard.press("Control+k");
  await field(page).fill("xyzzy");
  await page.getByText("Nothing matches “xyzzy”. Try").waitFor();
  assert.equal(await options(page).count(), 0);
  await page.keyboard.press("Enter");
  await field(page).fill("pause");
  const paused = await ahead(page, "running");
  await options(page).first().click();
  assert.equal((await paused()).running, false);
  await leave(page);
});

test("a command goes to a section, a knob, a run, a device, a variant and a room", async () => {
  const page = await replayed(here, { at: SMALL, context: { permissions: ["clipboard-read", "clipboard-write"] } });
  await listed(page);
  // Waits until the page has written the run's settings into the address. Before that, the back button does not lead to the same run.
  await page.waitForFunction(() => /seed=1/.test(location.hash));
  await find(page, "sweep compare");
  assert.match(await address(page), /#\/control\/compare\/sweep\?/);
  assert.equal(await focused(page), "Sweep");
  await page.goBack();
  await page.getByRole("tabpanel", { name: "Live", exact: true }).waitFor();

  await find(page, "environments knobs");
  assert.match(await address(page), /#\/control\/settings/);
  assert.equal(await focused(page), "Environments");
  await find(page, "runs cartpole");
  assert.match(await address(page), /#\/control\/compare/);
  assert.equal(await focused(page), "Name of the run");
  await find(page, "train cpu");
  assert.match(await address(page), /#\/control\/settings\/device/);
  assert.ok(await page.locator(".device input").nth(1).isChecked());
  await find(page, "terminal python");
  assert.match(await address(page), /#\/control\/share\/run/);
  await find(page, "copy link");
  assert.match(await address(page), /#\/control\/share/);

  const began = await ahead(page, "began");
  await find(page, "acrobot");
  assert.equal((await began()).config.variant, "Acrobot-v1");
  await find(page, "room cube");
  await lab(page, "cube");
  // The search also leads out of the open room, and works on pages without a room.
  await find(page, "gallery");
  await page.locator(".entry").first().waitFor();
  await find(page, "verilog");
  await lab(page, "logic");
  assert.match(await address(page), /#\/logic\/explore/);
  await find(page, "step size and collapse");
  await page.locator(".lesson").getByRole("heading", { level: 2, name: "Step size and collapse" }).waitFor();
  await leave(page);
});

/** Searches from any room, and the result that must be the first or among the others: its name and its note. */
const SEARCHES = {
  lizard: "Growing lizard Logic",
  snake: "snake.py Your environment",
  verilog: "The circuit Logic",
  attention: "Read a text Words",
  "backgammon position": "Analyse a position Backgammon",
  onnx: "Model Cube",
  discount: "Discount: how far ahead an agent looks Control",
  hosting: "Hosting Document",
};

/** Runs in the page: returns the searches whose result is missing in the open palette. */
async function unfound([searches, room]) {
  const input = document.querySelector(".command-palette input");
  return Object.entries(searches).filter(([query, wanted]) => {
    input.value = query;
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    const found = [...document.querySelectorAll(".command-palette .command")].map((one) =>
      [...one.children].map((part) => part.textContent).join(" "),
    );
    // In its own room, the note of a result is the tab or missing.
    const name = wanted.slice(0, wanted.lastIndexOf(" "));
    return !found.some((one) => one === wanted || (wanted.endsWith(room) && one.startsWith(name)));
  });
}

/** Runs in the page: returns the open room's variants as the search of other rooms shows them. */
const variantsHere = () => ({
  word: hothouse.room.variant_word,
  variants: [...document.querySelectorAll(".worlds .chips a")].map((link) => ({
    id: new URLSearchParams(link.getAttribute("href").split("?")[1]).get("variant"),
    name: link.textContent,
    summary: link.title,
  })),
});

test("from each room, the search finds variants, sections, templates, lessons and documents of all", async () => {
  const page = await replayed(here, { at: addressOf(ROOMS[0]) });
  const variants = {};
  for (const room of ROOMS) {
    if (room !== ROOMS[0]) await page.evaluate((address) => (location.hash = address), addressOf(room));
    await lab(page, room);
    variants[room] = await page.evaluate(variantsHere);
    await page.keyboard.press("Control+k");
    await field(page).waitFor();
    const title = await page.evaluate(() => hothouse.room.title);
    assert.deepEqual(await page.evaluate(unfound, [SEARCHES, title]), [], room);
    await page.keyboard.press("Escape");
  }
  // UPDATE=1 writes the list of the variants, which Rust declares.
  const file = join(root, "www/rooms/variants.json");
  if (process.env.UPDATE) writeFileSync(file, `${JSON.stringify(variants, null, 2)}\n`);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), variants);
  await leave(page);
});

test("a query with a number sets a live knob within its limits", async () => {
  const page = await replayed(here, { at: SMALL });
  const marked = await ahead(page, "mark");
  await page.keyboard.press("Control+k");
  await field(page).fill("learning rate 0.003");
  assert.equal(await options(page).first().textContent(), "Set Learning rate to 0.003");
  await page.keyboard.press("Enter");
  const { knob, to } = await marked();
  assert.deepEqual([knob, to], ["lr", 0.003]);
  await page.keyboard.press("Control+k");
  await field(page).fill("learning rate 7");
  await options(page).filter({ hasText: "Enter a number from 0.00001 to 0.1." }).click();
  assert.equal(await focused(page), "Learning rate");
  // The palette does not set a knob that needs a new run; it only moves the focus to it.
  await page.keyboard.press("Control+k");
  await field(page).fill("environments 128");
  assert.equal(await options(page).filter({ hasText: "Set Environments" }).count(), 0);
  await leave(page);
});

test("the palette's key works in a text field and without single-key shortcuts, but not above another dialog", async () => {
  const page = await replayed(here, {
    at: "#/control/settings/knobs?envs=64&v=2",
    init: () => localStorage.setItem("hothouse.shortcuts", "off"),
  });
  await page.getByLabel("Seed", { exact: true }).focus();
  await page.keyboard.press("Control+k");
  await field(page).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await focused(page), "Seed");
  await page.getByRole("button", { name: "Help", exact: true }).click();
  await page.getByRole("dialog", { name: "Help" }).waitFor();
  await page.keyboard.press("Control+k");
  assert.equal(await field(page).count(), 0);
  await leave(page);
});

inAll(
  "the palette opens by key and by button, lists everything, and returns the focus",
  "opening the palette causes no long task",
  async () => {
    const page = await replayed(here, { at: SMALL });
    await page.evaluate(() => hothouse.command({ kind: "pause" }));
    const ms = await page.evaluate(async () => {
      const times = [];
      const timed = async (act) => {
        const began = performance.now();
        act();
        document.body.offsetHeight; // includes the layout
        times.push(performance.now() - began);
        await new Promise((resolve) => setTimeout(resolve, 100));
      };
      const key = () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }));
      for (let i = 0; i < 5; i++) {
        await timed(key);
        await timed(key);
      }
      return times.sort((a, b) => a - b).at(times.length / 2);
    });
    console.log(`page.palette_ms ${ms.toFixed(1)}`);
    assert.ok(ms < LONG_TASK_MS, `${ms} ms`);
    await leave(page);
  },
);

test("the palette fits a desktop and a dark phone, and axe finds no issue", async () => {
  const page = await replayed(here, { at: SMALL });
  for (const { viewport, ...media } of SCREENS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia(media);
    await page.getByRole("button", { name: viewport.width > 760 ? "Search Ctrl K" : "Search", exact: true }).click();
    await options(page).first().waitFor();
    const box = await page.getByRole("dialog").boundingBox();
    const { width, height } = viewport;
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, JSON.stringify(box));
    await accessible(page, ".command-palette");
    await page.keyboard.press("Escape");
  }
  await leave(page);
});

test("arrow keys move in the variants, and Enter follows the link", async () => {
  const page = await replayed(here, { at: SMALL });
  await page.locator(".worlds a").first().focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(page), await page.locator(".worlds a").nth(1).textContent());
  assert.equal(await page.locator(".worlds a[tabindex='0']").count(), 1);
  const began = await ahead(page, "began");
  await page.keyboard.press("Enter");
  assert.notEqual((await began()).config.variant, "CartPole-v1");
  await leave(page);
});

/**
 * Runs in the page: returns the visible buttons and links in the element `part` whose accessible name does not contain their visible text
 * (WCAG 2.5.3).
 */
function misnamed(part = "body") {
  const wordsOf = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");
  const seen = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || !node.checkVisibility() || getComputedStyle(node).clipPath !== "none") return "";
    return [...node.childNodes].map(seen).join(getComputedStyle(node).display === "inline" ? "" : " ");
  };
  const named = document.querySelector(part).querySelectorAll("button, a[href], [role=button], [role=tab], [role=option], summary");
  return [...named].flatMap((element) => {
    if (!element.checkVisibility()) return [];
    const text = seen(element);
    const name = element.computedName;
    return wordsOf(name).includes(wordsOf(text)) ? [] : [`“${text.trim()}” is spoken as “${name}”`];
  });
}

/** Runs in the page: opens each tab and each section, and returns the results of `look` for the open panels. */
const everywhere = (look) =>
  [...document.querySelectorAll(".tabs button")].flatMap((tab) => {
    tab.click();
    const open = ".panels > .panel:not([hidden])";
    const sections = document.querySelectorAll(`${open} .chips [role=tab]:not([hidden])`);
    return [look(open), ...[...sections].map((section) => (section.click(), look(`${open} .panel:not([hidden])`)))].flat();
  });

test("in every room the main action is near the start of the page, and in the palette", async () => {
  const page = await replayed(here, { at: addressOf(ROOMS[0]), context: { viewport: { width: 1280, height: 720 } } });
  for (const room of ROOMS) {
    if (room !== ROOMS[0]) await page.evaluate((address) => (location.hash = address), addressOf(room));
    await lab(page, room);
    await page.locator(".live-panel button:visible", { hasText: MAIN_ACTIONS[room] }).first().waitFor();
    await page.evaluate(() => {
      document.activeElement.blur();
      getSelection().collapse(document.body, 0); // the next tab stop is the first one of the page
    });
    const stops = [];
    while (!MAIN_ACTIONS[room].test(stops.at(-1) ?? "") && stops.length < 3 * STOPS) {
      await page.keyboard.press("Tab");
      stops.push(await focused(page));
    }
    assert.ok(stops.length <= STOPS, `${room}, ${stops.length} tab stops: ${stops.join(" | ")}`);
    await page.keyboard.press("Control+k");
    await field(page).fill(stops.at(-1));
    await options(page)
      .filter({ hasText: stops.at(-1) })
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
  }
  await leave(page);
});

for (const room of ROOMS)
  inAll(
    `${room}: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit`,
    `${room}: the spoken name of every button and link contains its visible text`,
    async () => {
      const page = await visit(here, { at: addressOf(room) });
      await event(page, "metrics", 2);
      await page.evaluate(() => hothouse.command({ kind: "pause" }));
      const found = await page.evaluate(misnamed);
      found.push(...(await page.evaluate(`[...new Set((${everywhere})(${misnamed}))]`)));
      await place(page, "Live");
      await page.setViewportSize({ width: 390, height: 844 });
      found.push(...(await page.evaluate(misnamed)));
      assert.deepEqual(found, []);
      await leave(page);
    },
  );
