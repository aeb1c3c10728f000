// Compares each section of the page of samples with its saved picture in tests/samples. `SAMPLES=write npm test -- --only page` writes the
// pictures anew. To run this file alone: `SAMPLES=write node --test tests/web/samples.test.mjs`.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { samples } from "../../scripts/samples.mjs";
import { serve } from "../../scripts/serve.mjs";
import { filesUnder, root } from "../../scripts/sh.mjs";
import { inAll } from "../../scripts/tiers.mjs";
import { house, part, WAIT_MS } from "./fixture.mjs";
import { difference, reduced } from "./pictures.mjs";
import { serious } from "./rooms.mjs";

/** The flags and the file of Linux' font library make the rendering of text and colours independent of the machine's settings. */
const here = house(["--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"], {
  env: { FONTCONFIG_FILE: join(root, "tests/web/fonts.conf") },
});
const WRITE = process.env.SAMPLES === "write";
const PICTURES = join(root, "tests/samples");
const FAILED = join(root, "test-results/samples");
const MOST_BYTES = 700_000;
const SCREENS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const LOOKS = Object.keys(SCREENS).flatMap((screen) => ["light", "dark"].map((colorScheme) => ({ screen, colorScheme })));

before(async () => (here.samples = await serve(await samples())));
after(() => here.samples?.close());

/** Returns a page without content, in which pictures are compared. */
const blank = async () => (here.blank?.isClosed() === false ? here.blank : (here.blank = await here.browser.newPage()));

/** Opens the page of samples. The bundled typeface also replaces the typeface of code, which depends on the machine. */
async function open({ screen, colorScheme }) {
  const page = await here.browser.newPage({ viewport: SCREENS[screen], colorScheme, reducedMotion: "reduce" });
  page.setDefaultTimeout(WAIT_MS);
  page.said = [];
  page.on("console", (message) => message.type() === "error" && page.said.push(message.text()));
  page.on("pageerror", (error) => page.said.push(String(error)));
  await page.goto(here.samples.url);
  await page.locator("#progress").waitFor();
  await page.evaluate(() => document.documentElement.style.setProperty("--mono", "var(--sans)"));
  return page;
}

const sections = (page) => page.locator(".sample").evaluateAll((all) => all.map(({ id }) => id));

/**
 * Takes the picture of a section. Scrolls to each chart of the section first, because the page draws a chart only when it is on the screen.
 */
async function picture(page, id) {
  const section = page.locator(`#${id}`);
  for (const plot of await section.locator(".plot:visible").all()) {
    await plot.scrollIntoViewIfNeeded();
    await page.waitForFunction((plot) => !plot.ariaLabel.endsWith("nothing yet"), await plot.elementHandle());
  }
  return section.screenshot({ animations: "disabled", caret: "hide" });
}

/** Compares a picture with the saved one. Returns a list with the difference, or an empty list. */
async function faults(name, now) {
  const saved = join(PICTURES, name);
  const found = existsSync(saved) ? await difference(await blank(), readFileSync(saved), now) : "there is no picture";
  if (!found) return [];
  mkdirSync(FAILED, { recursive: true });
  writeFileSync(join(FAILED, name), now);
  return [`${name}: ${found}`];
}

/** Looks of `npm test`: each screen and each colour scheme occurs once. */
const USUAL = [LOOKS[0], LOOKS[3]];

for (const look of LOOKS) {
  const compares = async () => {
    const page = await open(look);
    const found = [];
    for (const id of await sections(page)) {
      const [name, now] = [`${[id, ...Object.values(look)].join("-")}.png`, await picture(page, id)];
      if (WRITE) writeFileSync(join(PICTURES, name), await reduced(await blank(), now));
      else found.push(...(await faults(name, now)));
    }
    assert.deepEqual(await serious(page, look.colorScheme), []);
    assert.deepEqual(page.said, []);
    assert.deepEqual(found, [], "see test-results/samples; if it is intended: SAMPLES=write node --test tests/web/samples.test.mjs");
    await page.close();
  };
  if (WRITE || USUAL.includes(look))
    test(`the samples look like their pictures, and axe finds no serious issue: ${Object.values(look).join(", ")}`, compares);
  else
    inAll(
      "the samples look like their pictures, and axe finds no serious issue: desktop, light",
      `the samples look like their pictures, and axe finds no serious issue: ${Object.values(look).join(", ")}`,
      compares,
    );
}

test("each picture belongs to a section, and all together are small", async () => {
  const page = await open(LOOKS[0]);
  const wanted = (await sections(page)).flatMap((id) => LOOKS.map((look) => `${[id, ...Object.values(look)].join("-")}.png`));
  const found = readdirSync(PICTURES);
  if (WRITE) for (const name of found.filter((name) => !wanted.includes(name))) rmSync(join(PICTURES, name));
  else assert.deepEqual(found.sort(), wanted.sort());
  const bytes = readdirSync(PICTURES).reduce((sum, name) => sum + readFileSync(join(PICTURES, name)).length, 0);
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
  await page.close();
});

test("the comparison finds another colour, padding or radius, and tolerates a shift by one pixel", async () => {
  const page = await open(LOOKS[0]);
  const plain = await reduced(await blank(), await picture(page, "buttons"));
  for (const [rule, differs] of [
    ["button.strong { background: color-mix(in srgb, var(--brand) 94%, white) }", true],
    ["button { padding: 0 14px }", true],
    ["button { border-radius: 4px }", true],
    ["button { font-weight: 500 }", true],
    ["button { padding: 0 12px }", false],
    ["#buttons { text-rendering: geometricPrecision }", false],
    ["#buttons .row { translate: 1px 0 }", false],
    ["#buttons .row { translate: 2px 0 }", true],
  ]) {
    const at = await page.evaluate((rule) => document.styleSheets[0].insertRule(rule, document.styleSheets[0].cssRules.length), rule);
    const found = await difference(await blank(), plain, await picture(page, "buttons"));
    assert.equal(Boolean(found), differs, `${rule}: ${found}`);
    await page.evaluate((at) => document.styleSheets[0].deleteRule(at), at);
  }
  await page.close();
});

/** Returns the notation of each equation in the page's sources. */
function notations() {
  const sources = filesUnder(join(root, "www")).filter((file) => file.endsWith(".ts") && !file.includes("www/pkg"));
  const text = sources.map((file) => readFileSync(file, "utf8")).join("");
  const found = [...text.matchAll(/\bequation\(\s*(?:(?:"[^"]*"|`[^`]*`)[\s+]*)+,\s*(["`])(.+?)\1/g)].map(([, , notation]) => notation);
  assert.equal(found.length, text.match(/\bequation\(/g).length);
  return found.map((notation) => notation.replace(/\$\{.+?\}/g, "1"));
}

/** Returns the names of the typefaces that the page's texts have. The name of a typeface of the machine is followed by its text. */
async function typefaces(page) {
  const client = await page.context().newCDPSession(page);
  for (const domain of ["DOM", "CSS"]) await client.send(`${domain}.enable`);
  const { nodes } = await client.send("DOM.getFlattenedDocument", { depth: -1, pierce: true });
  const texts = nodes.filter(({ nodeType, nodeValue }) => nodeType === 3 && nodeValue.trim());
  const elements = texts.map(({ parentId, nodeValue }) => [parentId, nodeValue]);
  const drawn = nodes.flatMap(({ pseudoElements = [] }) => pseudoElements.map(({ nodeId, pseudoType }) => [nodeId, pseudoType]));
  const found = [...elements, ...drawn].map(async ([nodeId, words]) => {
    const { fonts } = await client.send("CSS.getPlatformFontsForNode", { nodeId });
    return fonts.map(({ familyName, isCustomFont }) => (isCustomFont ? familyName : `${familyName} of the machine: ${words}`));
  });
  return [...new Set((await Promise.all(found)).flat())].sort();
}

test("the samples and all equations use the bundled typefaces only", async () => {
  const page = await open(LOOKS[0]);
  const { equation } = await part("parts/equation");
  const markup = notations().map((notation) => equation("", notation));
  await page.locator("#equation").evaluate((section, markup) => section.insertAdjacentHTML("beforeend", markup), markup.join(""));
  await page.evaluate(() => document.fonts.ready.then(() => {}));
  assert.deepEqual(await typefaces(page), ["Geologica", "STIX Two Math"]);
  // Chromium measures the letter under an accent before it makes the letter italic.
  await page.evaluate(() => document.styleSheets[0].insertRule("mi { text-transform: none !important }"));
  assert.deepEqual(await typefaces(page), ["Geologica", "STIX Two Math"]);
  await page.close();
});
