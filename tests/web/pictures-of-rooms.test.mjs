// Pictures and videos of the stage: their files, their contents, the ends of a recording, and errors.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOMS } from "../../scripts/rooms.mjs";
import { root } from "../../scripts/sh.mjs";
import { house, lab, place, script } from "./fixture.mjs";
import { replayed, replays } from "./replay.mjs";
import { accessible, addressOf, fits, SCREENS } from "./rooms.mjs";

const here = house();
replays(here);

/** Presses a button that saves a file, and returns the file. */
const saved = async (page, name) => {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
};

/** Waits until the stage is drawn, and opens the section for pictures. */
async function section(page) {
  await place(page, "Live");
  await page.locator(".live-panel canvas, .live-panel svg.drawing, .sheet").first().waitFor();
  await place(page, "Share", "Pictures");
  await page.getByRole("button", { name: "Save picture" }).waitFor();
}

/** Runs in the page: moves the page's clock forward. */
function later(ms) {
  const now = performance.now.bind(performance);
  performance.now = () => now() + ms;
}

/** Runs in the page: decodes a picture. Returns its size in px, the number of colours in its middle, and the red channel of a corner. */
async function decoded(base64) {
  const image = await createImageBitmap(new Blob([Uint8Array.fromBase64(base64)], { type: "image/png" }));
  const c = new OffscreenCanvas(image.width, image.height).getContext("2d");
  c.drawImage(image, 0, 0);
  const [x, y] = [Math.floor(image.width / 8), Math.floor(image.height / 4)];
  const pixels = new Uint32Array(c.getImageData(x, y, 6 * x, 2 * y).data.buffer);
  return { width: image.width, height: image.height, colours: new Set(pixels).size, corner: c.getImageData(1, 1, 1, 1).data[0] };
}

for (const [k, room] of ROOMS.entries())
  test(`the picture of ${room} is a PNG of the stated size that shows the stage`, async () => {
    const { colorScheme, viewport } = SCREENS[k % 2];
    const page = await replayed(here, { at: addressOf(room), paused: true, context: { colorScheme, viewport } });
    // If the stage shows a text and no canvas, waits until the text is complete.
    await page.waitForFunction(() => {
      const sheet = document.querySelector(".sheet");
      return !sheet || (sheet.innerText.length > 20 && !sheet.querySelector(".typing"));
    });
    await section(page);
    await page.evaluate(later, 10_000); // the page announces at most one text in three seconds
    const { name, bytes } = await saved(page, "Save picture");
    assert.match(name, new RegExp(`^hothouse-${room}-.*\\.png$`));
    const { width, height, colours, corner } = await page.evaluate(decoded, bytes.toString("base64"));
    assert.ok(width > 2 * 300 && width <= 2 * (viewport.width + 72) && height > 2 * 200, `${width} by ${height}`);
    assert.ok(colours > 20, `${colours} colours`);
    assert.equal(corner > 128, colorScheme === "light");
    const size = [width, height].map((side) => side.toLocaleString("en"));
    await page.getByText(`Picture saved, ${size[0]} by ${size[1]} pixels.`).waitFor({ state: "attached" });
    // The page shows the section again, and the button has the focus.
    await page.waitForFunction(() => document.activeElement?.textContent === "Save picture");
    assert.match(await page.evaluate(() => location.hash), new RegExp(`^#/${room}/share/pictures`));
    assert.deepEqual(page.said, []);
    await page.context().close();
  });

/** Elements with all kinds of content that pictures contain, in the typeface of the page. The button is left out of a picture. */
const PAINTED = `
  <style>@font-face {
    font-family: "Bundled";
    font-weight: 400 700;
    src: url("data:font/woff2;base64,${readFileSync(join(root, "www/fonts/Geologica.woff2"), "base64")}");
  }</style>
  <div id="whole" style="position:absolute;inset:0 auto auto 0;width:300px;height:200px;background:#fff;overflow:hidden">
    <p style="position:absolute;left:20px;top:10px;width:100px;margin:0;color:#d00;font:bold 20px Bundled">III<br>III</p>
    <div style="position:absolute;left:150px;top:20px;width:100px;height:40px;border-radius:8px;background:#0a0;opacity:.5"></div>
    <div style="position:absolute;left:150px;top:80px;width:96px;height:36px;border:2px solid #00d"></div>
    <div style="display:contents"><i style="position:absolute;left:20px;top:80px;width:30px;height:30px;background:#d0d"></i></div>
    <button style="position:absolute;left:20px;top:130px;width:50px;height:20px">Go</button>
    <b style="position:absolute;left:80px;top:130px;width:30px;height:30px;background:#0dd;visibility:hidden"></b>
    <svg style="position:absolute;left:150px;top:130px" width="120" height="60" viewBox="0 0 60 30">
      <defs><marker id="head" viewBox="0 0 10 10" refX="5" refY="5" markerWidth="4" markerHeight="4" orient="auto">
        <path d="M0 0 10 5 0 10Z" fill="#a50" /></marker></defs>
      <g opacity="0.5"><circle cx="8" cy="8" r="6" fill="#00f" /></g>
      <rect x="20" y="2" width="12" height="12" rx="2" fill="#f80" stroke="#000" stroke-width="2" />
      <line x1="2" y1="24" x2="20" y2="24" stroke="#808" stroke-width="2" stroke-dasharray="4 2" />
      <path d="M28 24H46" stroke="#a50" stroke-width="2" marker-end="url(#head)" />
      <text x="40" y="12" font-size="12" font-family="Bundled" fill="#080">M</text>
    </svg>
  </div>`;

/** Runs in the page: returns the mean colour of each tile of 10 by 10 pixels of an image. */
function tiles(image) {
  const c = new OffscreenCanvas(300, 200).getContext("2d");
  c.drawImage(image, 0, 0);
  return Array.from({ length: 600 }, (_, k) => {
    const { data } = c.getImageData(10 * (k % 30), 10 * Math.floor(k / 30), 10, 10);
    return [0, 1, 2].map((channel) => data.reduce((sum, value, at) => (at % 4 === channel ? sum + value : sum), 0) / 100);
  });
}

test("a painted element equals the element on the screen, without its controls", async () => {
  const page = await here.browser.newPage();
  await page.setContent(PAINTED);
  assert.equal(await page.evaluate(() => document.fonts.load("20px Bundled").then(({ length }) => length)), 1);
  await page.evaluate(`${await script("parts/paint")}; globalThis.tiles = ${tiles}`);
  const painted = await page.evaluate(() => {
    const canvas = new OffscreenCanvas(300, 200);
    part.paint(canvas.getContext("2d"), document.querySelector("#whole"));
    document.querySelector("button").remove();
    return tiles(canvas);
  });
  const png = await page.screenshot({ clip: { x: 0, y: 0, width: 300, height: 200 } });
  const decode = async (base64) => tiles(await createImageBitmap(new Blob([Uint8Array.fromBase64(base64)])));
  const shown = await page.evaluate(decode, png.toString("base64"));
  const far = painted.flatMap((colour, k) => {
    const most = Math.max(...colour.map((value, channel) => Math.abs(value - shown[k][channel])));
    return most > 12 ? [`${10 * (k % 30)}, ${10 * Math.floor(k / 30)}: ${colour} instead of ${shown[k]}`] : [];
  });
  assert.deepEqual(far, []);
  assert.ok(new Set(shown.map(String)).size > 40);
  await page.close();
});

/**
 * Decodes a video in a page without a content security policy. Returns its size in px, its duration in s, and the number of colours of a
 * frame.
 */
async function decodedVideo(bytes) {
  const page = await here.browser.newPage();
  await page.setContent("<video muted></video>");
  const found = await page.evaluate(async (base64) => {
    const video = document.querySelector("video");
    const once = (name) =>
      new Promise((resolve, reject) => {
        video.addEventListener(name, resolve, { once: true });
        video.addEventListener("error", () => reject(new Error(video.error.message)));
      });
    video.src = URL.createObjectURL(new Blob([Uint8Array.fromBase64(base64)], { type: "video/webm" }));
    await once("loadeddata");
    video.currentTime = 0.5;
    await once("seeked");
    const { videoWidth: width, videoHeight: height, duration } = video;
    const c = new OffscreenCanvas(width, height).getContext("2d");
    c.drawImage(video, 0, 0);
    return { width, height, duration, colours: new Set(new Uint32Array(c.getImageData(0, 0, width, height).data.buffer)).size };
  }, bytes.toString("base64"));
  await page.close();
  return found;
}

const record = async (page) => {
  await section(page);
  await page.getByRole("button", { name: "Record video" }).click();
  await page.getByText(/^Recording: \d+ of 60 s$/).waitFor();
};

/** Waits until the recording has a second or more. */
const recorded = (page) => page.getByText(/^Recording: [1-9]\d? of 60 s$/).waitFor();

test("a recording of Control is a video of the stage, on a light desktop and on a dark phone with reduced motion", async () => {
  const page = await replayed(here);
  for (const { colorScheme, viewport, reducedMotion } of SCREENS) {
    await page.emulateMedia({ colorScheme, reducedMotion });
    await page.setViewportSize(viewport);
    await record(page);
    assert.ok(await page.locator(".stage-field canvas").isVisible());
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Stop and save");
    await accessible(page, ".recording");
    await fits(page);
    await recorded(page);
    const { name, bytes } = await saved(page, "Stop and save");
    assert.match(name, /^hothouse-control-CartPole-v1-seed1-.*\.webm$/);
    const { width, height, duration, colours } = await decodedVideo(bytes);
    assert.ok(width > 300 && width <= viewport.width + 72 && height > 200 && width % 2 === 0 && height % 2 === 0, `${width} by ${height}`);
    assert.ok(duration > 0.5 && duration < 60, `${duration} s`);
    assert.ok(colours > 20, `${colours} colours`);
    await page.getByRole("status").getByText(`seconds and is in ${name}.`).waitFor();
    // The visitor stopped the recording, so the page shows the section again.
    await page.waitForFunction(() => document.activeElement?.textContent === "Record video");
    assert.equal(await page.locator(".recording").isVisible(), false);
  }
  assert.deepEqual(page.said, []);
  await page.context().close();
});

/** Ends of a recording, each with the reason that the page shows. The last one leaves the page, and shows no reason. */
const ENDS = [
  ["The stage is no longer shown.", (page) => place(page, "Settings")],
  ["The run has changed.", (page) => page.getByRole("button", { name: "New run", exact: true }).click()],
  ["A video lasts at most 60 seconds.", (page) => page.evaluate(later, 60_000)],
  [
    undefined,
    async (page) => {
      await page.getByRole("link", { name: "Cube", exact: true }).click();
      await lab(page, "cube");
    },
  ],
];
test("a recording ends and is saved if another tab opens, a new run begins, 60 s have passed, or another room opens", async () => {
  const page = await replayed(here);
  for (const [reason, act] of ENDS) {
    await record(page);
    await recorded(page);
    const [file] = await Promise.all([page.waitForEvent("download"), act(page)]);
    assert.match(file.suggestedFilename(), /^hothouse-control-.*\.webm$/, reason);
    assert.ok((await decodedVideo(readFileSync(await file.path()))).width > 300, reason);
    if (reason) await page.getByRole("status").getByText(reason).waitFor();
    assert.equal(await page.locator(".recording").isVisible(), false, reason);
  }
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("a browser that cannot record a video has no button to record, and the section says so", async () => {
  // Without the class MediaRecorder, and then, in another room, without a kind of video that it can record.
  const page = await replayed(here, { init: () => Object.assign(globalThis, { Recorder: MediaRecorder, MediaRecorder: undefined }) });
  for (const room of ["control", "cube"]) {
    if (room === "cube") {
      await page.evaluate(() => {
        globalThis.MediaRecorder = globalThis.Recorder;
        MediaRecorder.isTypeSupported = () => false;
      });
      await page.getByRole("link", { name: "Cube", exact: true }).click();
      await lab(page, "cube");
    }
    await section(page);
    await page.getByText("This browser cannot record a video. Save pictures").waitFor();
    assert.equal(await page.getByRole("button", { name: "Record video" }).count(), 0, room);
    await accessible(page);
    assert.ok((await saved(page, "Save picture")).bytes.length > 1000, room);
  }
  await page.context().close();
});

const FAULTS = {
  "The picture could not be saved: the browser could not encode the picture.": [
    "Save picture",
    () => (HTMLCanvasElement.prototype.toBlob = (take) => take(null)),
  ],
  "The video could not be recorded: no encoder.": [
    "Record video",
    () =>
      (MediaRecorder.prototype.start = () => {
        throw new Error("no encoder");
      }),
  ],
};
test("an error is shown if a picture or a video cannot be encoded", async () => {
  const page = await replayed(here);
  for (const [message, [name, fault]] of Object.entries(FAULTS)) {
    await section(page);
    await page.evaluate(fault);
    await page.getByRole("button", { name }).click();
    await page.getByRole("alert").getByText(message).waitFor();
    assert.equal(await page.locator(".recording").isVisible(), false);
    assert.equal(await page.getByRole("button", { name, includeHidden: true }).isEnabled(), true);
  }
  await page.context().close();
});
