// Tests of `<hothouse-room>` and its frame `embed.html` in pages of another origin.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadedBy, trace } from "../../scripts/page.mjs";
import { ROOMS } from "../../scripts/rooms.mjs";
import { serve } from "../../scripts/serve.mjs";
import { ALL, inAll } from "../../scripts/tiers.mjs";
import { dist, event, house, visit, WAIT_MS } from "./fixture.mjs";
import { element, outer } from "./frames.mjs";
import { replaying } from "./replay.mjs";
import { addressOf, serious } from "./rooms.mjs";

const here = house();
before(async () => (here.replay = await replaying()));
after(() => here.replay?.close());
/** A run whose frame is on the server of the test. */
const CONTROL = 'room="control" src="PAGE/"';
/** Opens a page of another origin whose frame replays a run. */
const replayed = (body, settings) => outer(here, body, { server: here.replay, ...settings });
/**
 * Serves the page without headers. The page of `npm test` has only modules with threads, so its runs are replayed here. In the tier
 * `--all`, the runs train.
 */
const bare = () => (ALL ? serve(dist, { isolated: false }) : replaying({ isolated: false }));
/** A small run, which leaves time for other tests. */
const SMALL = 'link="#/control?envs=64&v=2"';

inAll(
  "the blog post shows a run with its steps and its result",
  "the outer page receives the solution of a run, with its goal",
  async () => {
    const page = await outer(here, element('room="control" variant="CartPole-v1"'));
    const solved = await page.next("solved");
    assert.equal(solved.goal, 475);
    await page.next("progress", ({ tests, iteration }) => tests.mean_return >= 475 && iteration >= solved.iteration);
    assert.deepEqual(page.said, []);
    await page.close();
  },
);

test("in a page that is not isolated, the frame trains and reports, and attributes and methods change the run", async () => {
  const page = await outer(here, element(`${SMALL} controls="none"`), { init: trace });
  const began = await page.next("began");
  const frame = await page.frame();
  assert.match(began.link, /^#\/control\?variant=CartPole-v1&seed=1&envs=64&v=\d+$/);
  assert.deepEqual([began.room, began.variant], ["control", "CartPole-v1"]);
  assert.equal(await page.evaluate(() => crossOriginIsolated), false);
  assert.ok(began.isolated && began.threads >= 1, "Document-Isolation-Policy isolates the frame");
  await frame.waitForFunction(() => traced.pictureMs);
  const first = await page.next("progress");
  const later = await page.next("progress", ({ iteration }) => iteration > Math.max(3, first.iteration));
  assert.ok(later.counts.env_steps > first.counts.env_steps);
  assert.ok(Number.isFinite(later.metrics.mean_return) && later.trainSeconds > 0);
  assert.equal(later.standing.state, "learning");
  assert.match(later.standing.words, /^learning/);
  const entries = await page.evaluate(() => history.length);
  const shown = (selector) => frame.locator(selector).isVisible();
  assert.deepEqual([await shown(".transport"), await shown(".first-knobs"), await shown(".returns .plot")], [false, false, true]);
  const set = (values) => page.evaluate((values) => Object.assign(document.querySelector("hothouse-room"), values), values);
  await set({ controls: "all", theme: "dark" });
  await frame.locator(".transport").waitFor();
  assert.equal(await frame.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.evaluate(() => document.querySelector("hothouse-room").pause());
  await frame.getByRole("button", { name: "Play" }).waitFor();
  await page.evaluate(() => document.querySelector("hothouse-room").play());
  await frame.getByRole("button", { name: "Pause" }).waitFor();
  await page.evaluate(() => document.querySelector("hothouse-room").set("lr", 0.002));
  await frame.locator('a[href*="lr"]').waitFor();
  assert.match(await frame.locator("a").getAttribute("href"), /^\.\/#\/control\?.*envs=64.*&at=\d+:lr=0\.002&v=/);
  const { length } = await page.evaluate(() => noted);
  await page.evaluate(() => document.querySelector("hothouse-room").removeAttribute("link"));
  await set({ room: "control", variant: "Pendulum-v1" });
  assert.match((await page.next("began", undefined, length)).link, /variant=Pendulum-v1&seed=1/);
  assert.equal(await page.evaluate(() => history.length), entries, "the visitor's back button leaves the outer page");
  assert.equal(await page.evaluate(() => document.querySelector("hothouse-room").shadowRoot.querySelectorAll("iframe").length), 1);
  assert.deepEqual(page.said, []);
  await page.close();
});

test("an element below the visible part starts when it is scrolled into view; in an isolated page its frame is isolated too", async () => {
  const page = await replayed(`<div style="height: 3000px"></div>${element(CONTROL)}`, { isolated: true });
  const frames = () => page.evaluate(() => document.querySelector("hothouse-room").shadowRoot.querySelectorAll("iframe").length);
  // The element has seen the same place, because observers are called in the order of their creation.
  await page.evaluate(() => new Promise((resolve) => new IntersectionObserver(resolve).observe(document.querySelector("hothouse-room"))));
  assert.equal(await frames(), 0);
  await page.locator("hothouse-room").scrollIntoViewIfNeeded();
  const began = await page.next("began");
  assert.equal(await frames(), 1);
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  assert.equal(began.isolated, true);
  await page.close();
});

test("the frame takes neither focus nor keys from the outer page, and stores nothing", async () => {
  const page = await replayed(`<input id="outer" autofocus>${element(CONTROL)}`);
  await page.locator("#outer").focus();
  await page.next("progress");
  assert.equal(await page.evaluate(() => document.activeElement.id), "outer");
  await page.keyboard.type("r s");
  assert.equal(await page.locator("#outer").inputValue(), "r s");
  const frame = await page.frame();
  await frame.getByRole("button", { name: "Pause" }).click();
  await frame.getByRole("button", { name: "Play" }).waitFor();
  const stored = await frame.evaluate(async () => ({
    local: Object.keys(localStorage).filter((name) => name !== "hothouse.tour"),
    session: Object.keys(sessionStorage),
    databases: (await indexedDB.databases()).map(({ name }) => name),
    caches: await caches.keys(),
    workers: (await navigator.serviceWorker.getRegistrations()).length,
  }));
  assert.deepEqual(stored, { local: [], session: [], databases: [], caches: [], workers: 0 });
  await page.close();
});

test("on a host without headers, a service worker isolates the frame and caches nothing", async () => {
  const server = await bare();
  const page = await outer(here, element(`${SMALL} src="PAGE/"`), { server });
  assert.equal((await page.next("began")).isolated, true);
  await page.next("progress");
  const frame = await page.frame();
  assert.deepEqual(await frame.evaluate(() => caches.keys()), []);
  await page.close();
  await server.close();
});

inAll(
  "on a host without headers, a service worker isolates the frame and caches nothing",
  "the page replaces the service worker of a frame by its own",
  async () => {
    const server = await bare();
    const page = await visit(here, { server, at: "embed.html#/control?envs=64&v=2", started: false });
    await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
    const script = () => page.evaluate(async () => new URL((await navigator.serviceWorker.ready).active.scriptURL).search);
    assert.equal(await script(), "?frame");
    await page.goto(`${server.url}#/control`);
    await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
    await page.waitForFunction(() => navigator.serviceWorker.controller && !navigator.serviceWorker.controller.scriptURL.includes("?"));
    assert.equal(await script(), "");
    // The service worker of the page isolates frames too.
    await page.goto(`${server.url}embed.html#/control?envs=64&v=2`);
    await page.waitForFunction(() => globalThis.hothouse);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await page.context().close();
    await server.close();
  },
);

test("if nothing isolates the frame, it uses one thread and states the reason", async () => {
  const server = await bare();
  const page = await outer(here, element(`${SMALL} src="PAGE/"`), { server, context: { serviceWorkers: "block" } });
  const began = await page.next("began");
  assert.equal(began.isolated, false);
  if (ALL) assert.equal(began.threads, 1);
  await page.next("progress");
  const frame = await page.frame();
  await frame.getByText("Training on one thread. Threads need a page that is cross-origin isolated.").waitFor();
  assert.equal(await frame.evaluate(() => hothouse.backend.module), "simd128");
  await page.close();
  await server.close();
});

test("only embed.html can be framed", async () => {
  const page = await outer(here, `<iframe title="page" src="PAGE/"></iframe><iframe title="file" src="PAGE/icon.svg"></iframe>`);
  await page.waitForFunction(() => document.readyState === "complete");
  assert.deepEqual(
    [
      ...new Set(
        page
          .frames()
          .slice(1)
          .map((frame) => frame.url()),
      ),
    ],
    ["chrome-error://chromewebdata/"],
  );
  assert.ok(
    page.said.some((text) => /frame-ancestors 'none'/.test(text)),
    page.said.join("\n"),
  );
  await page.close();
});

test("the page does not start in a frame of a host without headers, and offers a tab", async () => {
  const server = await bare();
  const page = await outer(here, '<iframe title="page" src="PAGE/#/cube"></iframe>', { server });
  const frame = page.frameLocator("iframe");
  await frame.getByText("Hothouse does not run inside another page.").waitFor();
  assert.match(await frame.getByRole("link", { name: "Open it in a tab" }).getAttribute("href"), /#\/cube$/);
  assert.equal(await page.frames()[1].evaluate(() => globalThis.hothouse), undefined);
  await page.close();
  await server.close();
});

/** Links that a module refuses, each with a part of the message. */
const REFUSED = [
  ["a link of a later version", 'link="#/control?variant=CartPole-v1&v=99"', /newer Hothouse \(format 99, .*Update Hothouse/],
  ["a link to a file that is absent", 'link="#/words?data=0123456789abcdef.7.book.txt&v=2"', /book\.txt/],
];

/** Opens an element with a wrong link. Checks its error, and that the element works again after its link is corrected. */
async function wrong(attributes, message) {
  const page = await outer(here, `<p id="text">Text</p>${element(attributes)}`);
  await failed(page, message);
  await page.evaluate(() => Object.assign(document.querySelector("hothouse-room"), { link: "#/control?envs=64&v=2" }));
  assert.equal((await page.next("began")).variant, "CartPole-v1");
  await page.close();
}

/** Checks that the frame shows an error and nothing else. */
async function failed(page, message) {
  await page.next("error", (error) => message.test(error.message));
  const frame = await page.frame();
  await frame.getByRole("alert").filter({ hasText: message }).waitFor();
  assert.equal(await frame.locator("img").count(), 0);
  assert.equal(await frame.evaluate(() => globalThis.hothouse), undefined, "no run trains");
  assert.equal(await page.locator("#text").textContent(), "Text");
}

test("an unknown room and markup as a room show an error and harm nothing else", async () => {
  const page = await replayed(`<p id="text">Text</p>${element('room="attic" src="PAGE/"')}`);
  await failed(page, /There is no room called 'attic'. The rooms are: control, backgammon, cube, logic, words/);
  const markup = "<img src=x onerror=parent.harm()>";
  await page.evaluate((room) => Object.assign(document.querySelector("hothouse-room"), { room }), markup);
  await failed(page, /There is no room called '%3Cimg%20src%3Dx%20onerror%3Dparent.harm\(\)%3E'/);
  // The element works again after its room is corrected.
  await page.evaluate(() => Object.assign(document.querySelector("hothouse-room"), { room: "control" }));
  assert.equal((await page.next("began")).variant, "CartPole-v1");
  await page.close();
});

test("markup as a variant shows an error and harms nothing else", () =>
  wrong('link="#/control?variant=%3Cimg%20src=x%20onerror=harm()%3E&v=2"', /no environment called '<img src=x onerror=harm\(\)>'/));

for (const [name, attributes, message] of REFUSED)
  inAll("markup as a variant shows an error and harms nothing else", `${name} shows an error and harms nothing else`, () =>
    wrong(attributes, message),
  );

test("an address without a built page shows an error in the element", async () => {
  const page = await outer(here, element('src="javascript:harm()"'));
  assert.match((await page.next("error")).message, /address 'javascript:harm\(\)' of the page is invalid/);
  await page.getByRole("alert").filter({ hasText: "Set the attribute 'src'" }).waitFor();
  await page.close();
});

test("the frame ignores messages of windows other than its outer page, and messages of other forms", async () => {
  const page = await replayed(element(CONTROL));
  const { length } = await page.next("began").then(() => page.evaluate(() => noted));
  const frame = await page.frame();
  await frame.evaluate(() => postMessage({ hothouse: 1, kind: "open", link: "#/cube" }, "*"));
  await page.evaluate(() => {
    const { contentWindow } = document.querySelector("hothouse-room").shadowRoot.querySelector("iframe");
    for (const message of [null, "open", { hothouse: 2, kind: "open", link: "#/cube" }, { hothouse: 1, kind: "open", link: 3 }])
      contentWindow.postMessage(message, "*");
    // The element ignores messages that the outer page sends to itself.
    postMessage({ hothouse: 1, kind: "error", detail: { message: "of the outer page" } }, "*");
  });
  await page.next("progress", undefined, length + 3);
  const later = (await page.evaluate(() => noted)).slice(length);
  assert.deepEqual(
    later.filter(({ name }) => name === "began" || name === "error"),
    [],
  );
  assert.equal(await frame.evaluate(() => hothouse.room.id), "control");
  await page.close();
});

/** Opens the frame alone, and returns the size of the files that a first visit loads, in kB. */
async function firstLoad(server) {
  const context = await here.browser.newContext();
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const loaded = loadedBy(page, dist);
  await page.goto(`${server.url}embed.html`);
  await page.waitForFunction(() => globalThis.hothouse);
  await event(page, "metrics");
  const kb = loaded();
  await context.close();
  return kb;
}

test("a first visit to the frame loads at most 120 kB besides the module, compressed", async () => {
  const kb = await firstLoad(here.replay); // a replay loads no module
  assert.ok(kb > 50 && kb <= 120, `${kb} kB`);
});

inAll(
  "a first visit to the frame loads at most 120 kB besides the module, compressed",
  "a first visit to the frame loads at most 700 kB, compressed",
  async () => {
    const kb = await firstLoad(here.server);
    console.log(`embed.first_load_kb ${kb.toFixed(1)}`);
    assert.ok(kb > 400 && kb <= 700, `${kb} kB`);
  },
);

/** Maximum time in which the pictures follow a change of the frame's size. */
const SETTLE_MS = 10_000;
const SIZES = [
  { width: 400, height: 600 },
  { width: 640, height: 480 },
  { width: 1024, height: 600 },
];
const THEMES = ["light", "dark"];
for (const [k, room] of ROOMS.entries()) {
  const fits = async () => {
    // Outside the tier `--all`, one room is light and one is dark.
    for (const theme of ALL ? THEMES : [THEMES[k]]) {
      const page = await visit(here, { server: here.replay, at: `embed.html?theme=${theme}${addressOf(room)}`, started: false });
      await page.waitForFunction(() => globalThis.hothouse);
      for (const size of SIZES) {
        await page.setViewportSize(size);
        // Pictures follow the size of the frame in a later frame.
        await page.waitForFunction(
          () => {
            const panel = document.querySelector(".live-panel");
            return document.documentElement.scrollWidth === innerWidth && panel.scrollWidth === panel.clientWidth;
          },
          null,
          { timeout: SETTLE_MS },
        );
        const bar = await page.locator(".transport .play").boundingBox();
        assert.ok(bar.y + bar.height <= size.height, "the buttons are in the frame");
      }
      assert.deepEqual(await serious(page, theme), []);
      assert.deepEqual(await page.locator("a").allTextContents(), ["Open in Hothouse"]);
      const link = page.locator("a.away");
      assert.deepEqual([await link.getAttribute("target"), await link.getAttribute("rel")], ["_blank", "noopener"]);
      assert.match(await link.getAttribute("href"), new RegExp(`^\\./#/${room}\\?`));
      assert.deepEqual(page.said, []);
      await page.context().close();
    }
  };
  if (k < THEMES.length) test(`${room} fits the frame, has one link, and passes axe`, fits);
  else
    inAll(
      `${room}: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit`,
      `${room} fits the frame, has one link, and passes axe`,
      fits,
    );
}
