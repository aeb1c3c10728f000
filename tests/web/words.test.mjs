// The words room: training of a transformer, surprise and predictions in a text, attention heads, generated text, and training on the
// visitor's text. Other tests measure how well the model learns.
import assert from "node:assert/strict";
import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, aheadWhere, begun, event, eventWhere, folder, house, part, place, restore, saved, still, until } from "./fixture.mjs";
import { tellEvents } from "./messages.mjs";
import { replayed, replays } from "./replay.mjs";
import { accessible, addressOf, ask, entrance, fits, large, leave, narrows, reads, SCREENS } from "./rooms.mjs";

const here = house();
replays(here);

/** Settings of a small run, which reads, trains and writes within seconds. */
const SMALL = "width=32&layers=2&heads=2&context=32&batch=8&micro=8&steps=8&characters=60000&sample=40";
const at = (more = "") => `#/words?seed=1&${SMALL}${more}&v=2`;
/** A text for training, with letters of two and three bytes. */
const OWN = "Der Käfer läuft über die Straße. 日本のカエル。\n".repeat(400);

const READY = ".writing .strong:not([disabled])";
const enter = entrance(here, "words", at(), READY);
/** Opens a recorded run, which does not train. It has several samples, and the latest one is on the stage. No further samples follow. */
const enterReplay = async (settings) => {
  const page = await entrance(here, "words", addressOf("words"), READY, replayed)({ paused: true, ...settings });
  await text(page, ".text-stage h2", "^Latest sample$");
  return page;
};
/** Passes a sample to a replayed page as if the run had written it. */
const arrives = (page, text) =>
  tellEvents(page, {
    kind: "room",
    text: "",
    event: { kind: "sample", iteration: 99, tokens: 1_000_000, val_loss: 2, prompt: "Once upon a time, a ", text },
  });
/** Waits until the run trains on a text for which `is` returns true. */
const corpusOf = async (page, is) => {
  for (let look = 0; look < 600; look++) {
    const { corpus } = await ask(page, { ask: "about" });
    if (corpus && is(corpus)) return corpus;
    await page.waitForTimeout(100);
  }
  throw new Error("another text is learned from after a minute");
};
const refused = (page, question) =>
  page.evaluate(
    (question) =>
      hothouse.ask(question).then(
        () => "taken",
        ({ message }) => message,
      ),
    question,
  );
const text = (page, part, words) => reads(page, part, new RegExp(words, "s"));
const write = async (page, settings) => {
  const pane = page.locator(".writing");
  if (await page.locator(".settings").isHidden()) await pane.getByRole("button", { name: "Options" }).click();
  for (const [label, value] of Object.entries(settings)) await pane.getByLabel(label, { exact: true }).fill(String(value));
  await pane.getByRole("button", { name: "Write", exact: true }).click();
};
/** Returns a token in the format of the room's answers. */
const token = (...bytes) => {
  const text = Buffer.from(bytes).toString();
  return {
    id: bytes.reduce((id, byte) => 256 * id + byte, 0),
    text: text.includes("\ufffd") ? bytes.map((byte) => `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("") : text,
  };
};
/** Waits until the model has continued the visitor's prompt, and returns the text after the prompt. */
const written = async (page) => {
  await text(page, ".text-stage .head", "^Your prompt\\d+ tokens.*, (length limit|stop text|stopped)History");
  await page.locator(".writing").getByRole("button", { name: "Write", exact: true }).waitFor();
  const prompt = await page.locator(".writing").getByLabel("Prompt", { exact: true }).inputValue();
  const all = await page.locator(".sheet .tokens").textContent();
  assert.ok(all.startsWith(prompt), all);
  return all.slice(prompt.length);
};
/** Waits until the run has written at least this number of samples. */
const samplesOf = async (page, least) => {
  for (let look = 0; look < 600; look++) {
    const samples = await ask(page, { ask: "samples" });
    if (samples.length >= least) return samples;
    await page.waitForTimeout(100);
  }
  throw new Error(`fewer than ${least} samples after a minute`);
};

test("each token is placed at its own letters, also with invalid bytes and tokens that end within a letter", async () => {
  const { pieces } = await part("rooms/words/tokens");
  const found = (text, ...tokens) =>
    pieces(
      text,
      tokens.map((bytes) => token(...bytes)),
    ).map(({ text, from, to }) => [text, from, to]);
  const letters = (text) => [...Buffer.from(text)].map((byte) => [byte]);
  assert.deepEqual(found("aä日b", ...letters("aä日b")), [
    ["a", 0, 1],
    ["ä", 1, 3],
    ["日", 3, 6],
    ["b", 6, 7],
  ]);
  // The tokens contain a lone continuation byte and two incomplete letters, one of them at the end of the text.
  assert.deepEqual(found("a\ufffdb\ufffd日\ufffd", [97], [0x80], [98], [0xe6], ...letters("日"), [0xe6], [0x97]), [
    ["a", 0, 1],
    ["\ufffd", 1, 2],
    ["b", 2, 3],
    ["\ufffd", 3, 4],
    ["日", 4, 7],
    ["\ufffd", 7, 9],
  ]);
  // During generation, incomplete letters are not shown. Text that may be the beginning of the stop text is not shown either.
  assert.deepEqual(found("ab", [97], [98], [0xe6], [0x97]), [
    ["a", 0, 1],
    ["b", 1, 2],
  ]);
  assert.deepEqual(found("a", [97], [98, 99], [100]), [["a", 0, 1]]);
  assert.deepEqual(found("ab", [97], [98, 99], [100]), [
    ["a", 0, 1],
    ["b", 1, 2],
  ]);
  const [mark, sign] = ["\ufeff", "\ufffd"];
  assert.deepEqual(found(`${mark}${sign}a`, ...letters(`${mark}${sign}a`)), [
    [mark, 0, 3],
    [sign, 3, 6],
    ["a", 6, 7],
  ]);
  assert.deepEqual(found("日本a", [0xe6, 0x97, 0xa5, 0xe6], [0x9c, 0xac], [97]), [
    ["日本", 0, 2],
    ["a", 2, 3],
  ]);
});

test(
  "a text without blanks is read in few overlapping windows, so that each token has its context; tokens that the window's edge " +
    "cuts differently are dropped",
  async () => {
    const [{ pieces }, { attentionOf, readWindows, windowsOf }] = [await part("rooms/words/tokens"), await part("rooms/words/read")];
    const cut = (text, context) => {
      const tokens = [...text].map((letter) => token(...Buffer.from(letter)));
      const windows = windowsOf(text, pieces(text, tokens), context, ({ text }) => /^\s/.test(text));
      assert.ok(
        windows.every(({ from, to, text: own }) => to - from <= context && own === [...text].slice(from, to).join("")),
        JSON.stringify(windows),
      );
      return { tokens, windows };
    };
    for (const text of ["日本のカエル。".repeat(40), "日本の\n\u3000カエル。".repeat(30)]) {
      const { tokens, windows } = cut(text, 32);
      assert.ok(windows.length < tokens.length / 8 && windows.at(-1).to === tokens.length, JSON.stringify(windows));
      for (const [k, { from }] of windows.entries())
        assert.ok(k === 0 || (from > windows[k - 1].from && from <= windows[k - 1].to - 8), JSON.stringify(windows));
    }
    // A text with blanks is split only before blanks.
    assert.ok(cut("the fox saw the owl. ".repeat(20), 32).windows.every(({ from, text }) => from === 0 || text.startsWith(" ")));
    // A window may start with のカ as one token. Its other tokens are used, because they cover the same letters.
    const { tokens, windows } = cut("日本のカエル", 4);
    assert.deepEqual(
      windows.map(({ text }) => text),
      ["日本のカ", "のカエル"],
    );
    const others = [token(...Buffer.from("のカ")), ...tokens.slice(4)];
    const answers = { 日本のカ: tokens.slice(0, 4), のカエル: others };
    const client = {
      ask: async ({ text }) => ({
        tokens: answers[text],
        surprise: answers[text].map((_, k) => k || null),
        next: answers[text].map(({ text }) => [text]),
      }),
    };
    const { surprise, expected } = await readWindows(client, tokens, windows);
    assert.deepEqual(surprise, [undefined, 1, 2, 3, 1, 2]);
    assert.deepEqual(expected, [[], ["日"], ["本"], ["の"], ["カ"], ["エ"], ["ル"]]);
    const weights = new Uint8Array(Float32Array.of(1, 0, 0, 0.5, 0.5, 0, 0.25, 0.5, 0.25).buffer);
    assert.deepEqual(
      [...attentionOf(tokens.slice(2), { tokens: others, weights })],
      [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0.5, 0.25],
    );
  },
);

test("the model trains without a click: the loss is above a floor, and a test adds a sample", async () => {
  const page = await enter();
  const first = await event(page, "metrics");
  const later = await event(page, "metrics", first.progress.iteration + 5);
  assert.ok(later.progress.tokens > first.progress.tokens && later.loss > 0, JSON.stringify(later));
  const tested = await eventWhere(page, "test", ({ floor }) => floor > 0);
  assert.ok(tested.val_loss > tested.floor && Math.abs(tested.above - (tested.val_loss / tested.floor - 1)) < 1e-4, JSON.stringify(tested));
  await text(
    page,
    ".lead",
    "^Learning\\. Perplexity .* \\(minimum possible: .*\\): the model chooses as if among that many equally likely tokens\\.",
  );
  await text(page, ".returns .latest", "training .*validation ");
  const [{ prompt, text: written }] = await samplesOf(page, 1);
  assert.ok(prompt.length > 0 && written.length > 0);
  await leave(page);
});

test("older samples can be selected, the model's parts are described, and the surprise differs between the tokens of a text", async () => {
  const page = await enterReplay({ context: { reducedMotion: "reduce" } });
  await page.waitForFunction(() => document.querySelectorAll(".older li b").length >= 2);
  const samples = await ask(page, { ask: "samples" });
  assert.ok(samples.every(({ prompt }) => prompt === samples[0].prompt && prompt.length > 0));
  const slider = page.locator(".history input");
  await slider.focus();
  await page.keyboard.press("Home");
  await text(page, ".text-stage h2", "^Sample 1 of \\d+$");
  assert.equal(await page.locator(".older li").count(), 0);
  assert.equal(await page.locator(".sheet .tokens").textContent(), samples[0].prompt + samples[0].text);
  assert.equal(await page.locator(".sheet .typing").count(), 0);
  assert.match(await slider.getAttribute("aria-valuetext"), /^Sample 1 of \d+, .* tokens, loss /);
  await page.keyboard.press("ArrowRight");
  await text(page, ".text-stage h2", "^Sample 2 of \\d+$");
  assert.equal(await page.locator(".older .prose").textContent(), samples[0].prompt + samples[0].text);
  await page.keyboard.press("End");
  await text(page, ".text-stage h2", "^Latest sample$");
  await place(page, "Explore", "The model");
  const about = await page.locator(".model").textContent();
  assert.match(about, /Parameters[\d,]+, including [\d,]+ in embeddings.*4 layers of 4 attention heads.*64 tokens/s);
  assert.match(about, /64 tokens.*story grammar.*Entropy floor[\d.]+ nats per token/s);
  await page.locator(".model").getByRole("button", { name: "Tensors as a table" }).click();
  await text(page, ".model tbody", "transformer\\.wte\\.weight.*transformer\\.h\\.3\\.mlp\\.c_proj\\.weight128 × \\d+");
  await place(page, "Explore", "Read a text");
  await text(page, ".reading output", "^loss .*perplexity ");
  const fills = await page
    .locator(".paper .tokens span")
    .evaluateAll((all) => all.map((span) => Number(span.style.getPropertyValue("--fill"))));
  assert.ok(fills.length > 100 && fills[0] === 0 && Math.max(...fills) > 2 * Math.min(...fills.slice(1)), fills.join());
  await leave(page);
});

test("a text shows the surprise of each token; pointer and caret show predictions, and a head shows its attention", async () => {
  const page = await enter();
  // Pauses the run, because a model that trains longer is certain of some letters, which then have no fill.
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  await place(page, "Explore", "Read a text");
  const field = page.locator(".reading textarea");
  assert.match(await field.inputValue(), /^.{80}/s);
  await field.fill("The fox saw the owl. The fox saw the owl. Then it ran.");
  await page.waitForFunction(() => document.querySelectorAll(".paper .tokens span").length === 54);
  const fills = () =>
    page.locator(".paper .tokens span").evaluateAll((all) => all.map((span) => Number(span.style.getPropertyValue("--fill"))));
  const shown = await fills();
  assert.equal(shown[0], 0);
  assert.ok(
    shown.slice(1).every((fill) => fill > 0 && fill <= 1),
    shown.join(),
  );
  await text(page, ".reading output", "^loss .*perplexity ");
  // The tokens are below the letters of the field. The token under the pointer is selected.
  const box = await page.locator(".paper .tokens span").nth(5).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await text(page, ".reading .expected .small", "^o after f: .*%, surprise ");
  assert.equal((await page.locator(".reading .likely li").count()) >= 10, true);
  await text(page, ".reading .likely .marked", "o actual");
  // While the visitor types or moves by keys, the caret selects the token, and the mouse does not.
  await page.keyboard.press("ControlOrMeta+Home");
  await text(page, ".reading .expected .small", "^No predictions before the first token");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + 1);
  await text(page, ".reading .expected .small", "^o after f: ");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("Th");
  await text(page, ".reading .expected .small", "^Next token after h$");
  assert.equal((await page.locator(".reading .likely li").count()) >= 10, true);
  assert.equal(await page.locator(".reading .error").textContent(), "");
  assert.equal(await field.getAttribute("aria-invalid"), null);
  await field.fill("The fox saw the owl. The fox saw the owl. Then it ran.");
  await page.waitForFunction(() => document.querySelectorAll(".paper .tokens span").length === 54);
  await page.mouse.move(0, 0);
  await field.press("ControlOrMeta+Home");
  await text(page, ".reading .expected .small", "^No predictions before the first token");
  await field.press("ArrowRight");
  await text(page, ".reading .expected .small", "^h after T: ");
  await text(page, ".reading .expected [role=status]", "^“h”, .*%\\. Expected: ");
  await field.press("ControlOrMeta+End");
  await text(page, ".reading .expected .small", "^Next token after \\.$");
  const { next } = await ask(page, { ask: "read", text: "The fox saw the owl.", next: 3 });
  assert.equal(next.length, 20);
  // Selects an attention head.
  await page.locator(".reading").getByText("Attention", { exact: true }).click();
  const pane = page.locator(".reading");
  await pane.getByTitle("Layer 2, head 1").click();
  assert.equal(await pane.getByRole("radio", { name: "Layer 2, head 1" }).isChecked(), true);
  await text(page, ".reading .expected", "^Layer 2, head 1Attention from \\.");
  assert.equal(await page.locator(".reading .likely li").count(), 10);
  await page.waitForFunction(() => [...document.querySelectorAll(".reading .heads canvas")].every(({ width }) => width === 22));
  const { weights } = await ask(page, { ask: "attention", text: "The fox", layer: 1, head: 0 });
  const sums = await page.evaluate(
    (bytes) => [...new Float32Array(Uint8Array.from(Object.values(bytes)).buffer)].reduce((sum, weight) => sum + weight, 0),
    weights,
  );
  assert.ok(Math.abs(sums - 7) < 1e-4, `${sums}`);
  await page.locator(".reading").getByText("Surprise", { exact: true }).click();
  // The error names a character outside the grammar's alphabet.
  await field.fill("The fox saw 日 there.");
  await text(page, ".reading .error", "日");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  await field.fill("The fox");
  await page.waitForFunction(
    () => document.querySelector(".reading .error").textContent === "" && document.querySelectorAll(".paper .tokens span").length === 7,
  );
  await leave(page);
});

test("a prompt is continued reproducibly for a seed, until a stop text or the visitor ends it", async () => {
  const page = await enter({ context: { permissions: ["clipboard-read", "clipboard-write"] } });
  await still(page);
  await write(page, { Prompt: "Once upon a time", "Length, tokens": 30, Seed: 7 });
  const one = await written(page);
  assert.equal([...one].length, 30);
  await text(page, ".text-stage .head", "30 tokens, .* a second, length limit");
  await write(page, { Seed: 8 });
  assert.notEqual(await written(page), one);
  await write(page, { Seed: 7 });
  assert.equal(await written(page), one);
  const stage = page.locator(".text-stage");
  // The button shows the result for two seconds only.
  const copied = await begun(page, () => {
    const button = [...document.querySelectorAll(".text-stage button")].find((one) => one.textContent === "Copy");
    return new Promise((resolve) =>
      new MutationObserver(() => button.textContent === "Copied" && resolve()).observe(button, { childList: true }),
    );
  });
  await stage.getByRole("button", { name: "Copy" }).click();
  await copied();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `Once upon a time${one}`);
  // Chooses a stop text without a line break, because its field cannot contain one.
  const [stop] = /[^\n]{2}/.exec(one.slice(10));
  await write(page, { "Stop at this text": stop });
  assert.equal(await written(page), one.slice(0, one.indexOf(stop)));
  await text(page, ".text-stage .head", "stop text");
  // The visitor presses Stop at the third request for tokens. The answer to this request or a later answer reports the end.
  await page.evaluate(() => {
    let requests = 0;
    const ask = hothouse.ask.bind(hothouse);
    hothouse.ask = (question) => {
      if (question.ask === "continue" && ++requests === 3)
        [...document.querySelectorAll(".writing button")].find(({ textContent }) => textContent === "Stop").click();
      return ask(question);
    };
  });
  await write(page, { "Stop at this text": "", "Length, tokens": 10000 });
  assert.ok((await written(page)).length < 10000);
  await text(page, ".text-stage .head", "stopped");
  for (const [settings, words] of [
    [{ Temperature: -1 }, "Temperature: enter a number from 0 to 5"],
    [{ Temperature: 1, "Top-p (1: all)": 0 }, "Top-p: enter a number from 0.01 to 1"],
    [{ "Top-p (1: all)": 1, "Length, tokens": 1.5 }, "Length: enter a whole number from 1 to 10000"],
    [{ "Length, tokens": 20, Prompt: "" }, "prompt is empty"],
    [{ Prompt: "日" }, "日"],
  ]) {
    await write(page, settings);
    await text(page, ".writing .error", words);
  }
  await leave(page);
});

inAll(
  "a prompt is continued reproducibly for a seed, until a stop text or the visitor ends it",
  "a prompt is continued, inspected and returned to; without temperature the seed has no effect",
  async () => {
    const page = await enter({ context: { permissions: ["clipboard-read", "clipboard-write"] } });
    await still(page);
    await write(page, { Prompt: "Once upon a time", "Length, tokens": 30, Seed: 7 });
    const one = await written(page);
    assert.equal([...one].length, 30);
    await text(page, ".text-stage .head", "30 tokens, .* a second, length limit");
    await write(page, { Seed: 8 });
    assert.notEqual(await written(page), one);
    await write(page, { Seed: 7 });
    assert.equal(await written(page), one);
    const stage = page.locator(".text-stage");
    // The button shows the result for two seconds only.
    const copied = await begun(page, () => {
      const button = [...document.querySelectorAll(".text-stage button")].find((one) => one.textContent === "Copy");
      return new Promise((resolve) =>
        new MutationObserver(() => button.textContent === "Copied" && resolve()).observe(button, { childList: true }),
      );
    });
    await stage.getByRole("button", { name: "Copy" }).click();
    await copied();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `Once upon a time${one}`);
    // The text stays until the visitor returns to the samples.
    await stage.getByRole("button", { name: "Back to the samples" }).click();
    await text(page, ".text-stage h2", "^(Latest sample|First text)$");
    await write(page, {});
    assert.equal(await written(page), one);
    // The reading pane lists the probability of each token.
    await stage.getByRole("button", { name: "Inspect" }).click();
    assert.equal(await page.locator(".reading textarea").inputValue(), `Once upon a time${one}`);
    await page.locator(".reading").getByRole("button", { name: "Tokens as a table" }).click();
    await text(page, ".reading tbody tr:last-child", "^46.*%[\\d.]+$");
    await place(page, "Live");
    // Chooses a stop text without a line break, because its field cannot contain one.
    const [stop] = /[^\n]{2}/.exec(one.slice(10));
    await write(page, { "Stop at this text": stop });
    assert.equal(await written(page), one.slice(0, one.indexOf(stop)));
    await text(page, ".text-stage .head", "stop text");
    // At temperature 0 the most likely tokens are chosen, so the seed has no effect.
    await write(page, { "Stop at this text": "", Temperature: 0 });
    const likeliest = await written(page);
    await write(page, { Seed: 1 });
    assert.equal(await written(page), likeliest);
    // The visitor presses Stop at the third request for tokens. The answer to this request or a later answer reports the end.
    await page.evaluate(() => {
      let requests = 0;
      const ask = hothouse.ask.bind(hothouse);
      hothouse.ask = (question) => {
        if (question.ask === "continue" && ++requests === 3)
          [...document.querySelectorAll(".writing button")].find(({ textContent }) => textContent === "Stop").click();
        return ask(question);
      };
    });
    await write(page, { "Length, tokens": 10000 });
    assert.ok((await written(page)).length < 10000);
    await text(page, ".text-stage .head", "stopped");
    for (const [settings, words] of [
      [{ Temperature: -1 }, "Temperature: enter a number from 0 to 5"],
      [{ Temperature: 1, "Top-p (1: all)": 0 }, "Top-p: enter a number from 0.01 to 1"],
      [{ "Top-p (1: all)": 1, "Length, tokens": 1.5 }, "Length: enter a whole number from 1 to 10000"],
      [{ "Length, tokens": 20, Prompt: "" }, "prompt is empty"],
      [{ Prompt: "日" }, "日"],
    ]) {
      await write(page, settings);
      await text(page, ".writing .error", words);
    }
    await leave(page);
  },
);

inAll(
  "generation_keeps_the_weights_of_its_start",
  "a saved run contains its samples, and impossible requests are refused without affecting the run",
  async () => {
    const page = await enter();
    await samplesOf(page, 2);
    for (const [question, words] of [
      [{ ask: "read", text: "", next: 3 }, /empty/],
      [{ ask: "read", text: "a".repeat(33), next: 3 }, /33 tokens.*32 at once/s],
      [{ ask: "attention", text: "abc", layer: 2, head: 0 }, /no head 0 in a layer 2.*layer of 0 to 1/s],
      [{ ask: "generate", prompt: "a", sampling: { temperature: -1, top_k: 0, top_p: 1, seed: 1 }, most: 10, stop: "" }, /temperature -1/],
    ])
      assert.match(await refused(page, question), words);
    const bytes = await saved(page);
    const before = await ask(page, { ask: "samples" });
    await restore(page, bytes);
    await event(page, "metrics");
    await page.evaluate(() => hothouse.command({ kind: "pause" })); // the list shows only the latest samples
    const after = await ask(page, { ask: "samples" });
    assert.deepEqual(after[0], before[0]);
    await page.waitForFunction(
      (first) => document.querySelector(".texts").textContent.includes(first),
      after.at(-1).text.trim().slice(0, 10),
    );
    await leave(page);
  },
);

test("a user text is learned by bytes; an unusable text shows the reason, and the run continues", async () => {
  const page = await enter({ paused: true });
  await place(page, "Settings", "Your own text");
  const own = page.locator(".section.own-text");
  const train = own.getByRole("button", { name: "Train on this text" });
  const refusedFor = (words) => text(page, ".own-text .error", words);
  await train.click();
  await refusedFor("No text\\.");
  for (const [typed, words] of [
    ["short", "short|shorter|few"],
    ["a".repeat(5000), "consists of 'a' only"],
  ]) {
    await own.locator("textarea").fill(typed);
    await train.click();
    await refusedFor(words);
  }
  assert.equal((await ask(page, { ask: "about" })).corpus.own, false);
  // With byte tokens, several tokens form one letter, which is shown as a letter.
  await own.locator("textarea").fill(OWN);
  await own.getByLabel(/^Tokenizer/).selectOption("bytes");
  await train.click();
  await page.evaluate(() => hothouse.command({ kind: "start" }));
  await corpusOf(page, (corpus) => corpus.own);
  assert.ok((await event(page, "metrics")).loss > 0);
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  await place(page, "Explore", "Read a text");
  await page.locator(".reading textarea:not([disabled])").fill("Käfer 日");
  await page.waitForFunction(() => document.querySelectorAll(".paper .tokens span").length === 7);
  assert.equal((await ask(page, { ask: "tokens", text: "Käfer 日" })).length, 10);
  await text(page, ".model", "pasted text.*bytes.*unknown for your own text");
  await leave(page);
});

inAll(
  "a user text is learned by bytes; an unusable text shows the reason, and the run continues",
  "a user text is learned by bytes and by byte pairs; an unusable text shows the reason, and the run continues",
  async () => {
    const page = await enter();
    await event(page, "metrics");
    await place(page, "Settings", "Your own text");
    const own = page.locator(".section.own-text");
    const train = own.getByRole("button", { name: "Train on this text" });
    const refusedFor = (words) => text(page, ".own-text .error", words);
    const drop = (name, length, unit) =>
      page.evaluate(
        ([name, length, unit]) => {
          const files = new DataTransfer();
          files.items.add(new File([unit.repeat(length)], name));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
        },
        [name, length, unit],
      );
    await train.click();
    await refusedFor("No text\\.");
    for (const [typed, words] of [
      ["short", "short|shorter|few"],
      ["a".repeat(5000), "consists of 'a' only"],
    ]) {
      await own.locator("textarea").fill(typed);
      await train.click();
      await refusedFor(words);
    }
    await drop("zeros.bin", 5000, "\0\u0001\0");
    await text(page, ".own-text [role=status]", "zeros\\.bin, 15 kB");
    await train.click();
    await refusedFor("binary|no text|not text");
    assert.equal((await ask(page, { ask: "about" })).corpus.own, false);
    assert.ok((await event(page, "metrics")).loss > 0);
    // With byte tokens, several tokens form one letter, which is shown as a letter.
    await own.getByRole("button", { name: "Remove" }).click();
    await own.locator("textarea").fill(OWN);
    await own.getByLabel(/^Tokenizer/).selectOption("bytes");
    await train.click();
    await corpusOf(page, (corpus) => corpus.own);
    await place(page, "Explore", "Read a text");
    await page.locator(".reading textarea:not([disabled])").fill("Käfer 日");
    await page.waitForFunction(() => document.querySelectorAll(".paper .tokens span").length === 7);
    assert.equal((await ask(page, { ask: "tokens", text: "Käfer 日" })).length, 10);
    // A high temperature gives mostly invalid bytes. All of the text is shown, with a probability for each token.
    await place(page, "Live");
    await write(page, { Prompt: "Käfer", Temperature: 5, "Length, tokens": 200 });
    const seen = await written(page);
    assert.ok(seen.includes("\ufffd") && seen === (await ask(page, { ask: "stop" })).text, seen);
    await text(page, ".model", "pasted text.*bytes.*unknown for your own text");
    await text(page, ".lead", "^Learning\\. Perplexity [\\d.]+: the model");
    // A file with byte-pair tokens changes the vocabulary and keeps the preset.
    await drop("frogs.txt", 400, "The green frog sat on a stone, and the frog sang to the moon. ");
    await own.getByLabel(/^Tokenizer/).selectOption("bpe");
    await own.getByLabel(/^Vocabulary/).fill("300");
    await train.click();
    const corpus = await corpusOf(page, (corpus) => corpus.name === "frogs.txt");
    assert.ok(corpus.tokenizer === "bpe" && corpus.vocabulary <= 300 && corpus.characters_per_token > 2, JSON.stringify(corpus));
    await place(page, "Settings", "Your own text");
    await own.getByRole("button", { name: "Back to the stories" }).click();
    await corpusOf(page, (corpus) => !corpus.own);
    await event(page, "metrics");
    await leave(page);
  },
);

inAll(
  "knob_changed_during_preparation_is_in_the_file",
  "while a long text is prepared, saving is refused, and a new run starts immediately",
  async () => {
    const page = await enter();
    await event(page, "metrics");
    const refusal = await page.evaluate(async () => {
      const config = { version: 2, room: "words", variant: "char", seed: 1, knobs: { tokenizer: "bpe" } };
      await hothouse.provideData(new File(["The fox saw the owl by the old mill. ".repeat(1_000_000)], "long.txt"), config);
      let ready = false;
      hothouse.onEvent((event) => {
        ready ||= event.kind === "room" && event.event.kind === "ready";
        if (event.kind === "began") globalThis.readyBefore = ready;
      });
      return hothouse.save().then(String, (error) => error.message);
    });
    assert.match(refusal, /still being prepared.*Save it once training has started/);
    const began = await ahead(page, "began");
    await page.getByRole("button", { name: "New run", exact: true }).click();
    assert.equal((await began()).config.data.name, "long.txt");
    assert.equal(await page.evaluate(() => globalThis.readyBefore), false);
    const back = await ahead(page, "began");
    await place(page, "Settings", "Your own text");
    // The button appears when the text is prepared, which may take minutes.
    await page.locator(".section.own-text").getByRole("button", { name: "Back to the stories" }).click({ timeout: 300_000 });
    assert.equal((await back()).config.data, undefined);
    assert.ok((await event(page, "metrics")).loss > 0);
    await leave(page);
  },
);

inAll(
  "invalid_settings_and_checkpoints_are_rejected",
  "settings that exceed the memory or are invalid are refused, and the run continues",
  async () => {
    const page = await enter();
    await event(page, "metrics");
    for (const [variant, knobs, words] of [
      ["d512", { context: 576 }, /these settings need about .* MB of memory/],
      ["d512", { context: 1024, micro: 512, batch: 512 }, /would block for seconds; choose a smaller micro/],
      ["char", { context: 1024, micro: 26, batch: 104 }, /these settings need about .* MB of memory/],
      ["d512", { heads: 1 }, /choose 2 heads or more/],
    ]) {
      // Waits for an error, because an autosave may cause a notice of another level.
      const noticed = await aheadWhere(page, "notice", ({ level }) => level === "error");
      await page.evaluate(
        ([variant, knobs]) => hothouse.command({ kind: "reset", config: { version: 2, room: "words", variant, seed: 1, knobs } }),
        [variant, knobs],
      );
      const { text, next_step } = await noticed();
      assert.match(`${text} ${next_step}`, words);
    }
    assert.ok((await event(page, "metrics")).loss > 0);
    await leave(page);
  },
);

inAll("oversized_data_is_rejected_by_its_length", "a file of a gigabyte is refused before it is read, and the run continues", async () => {
  const page = await enter();
  const books = folder();
  const path = join(books, "books.txt");
  writeFileSync(path, "");
  truncateSync(path, 2 ** 30); // makes a sparse file
  await place(page, "Settings", "Your own text");
  const own = page.locator(".section.own-text");
  await own.locator("input[type=file]").setInputFiles(path);
  await text(page, ".own-text [role=status]", "books\\.txt, 1073\\.7 MB");
  await own.getByRole("button", { name: "Train on this text" }).click();
  await text(page, ".own-text .error", "books\\.txt has 1024 MB.*more than the");
  assert.ok((await event(page, "metrics")).loss > 0);
  assert.equal((await ask(page, { ask: "about" })).corpus.own, false);
  await leave(page);
  rmSync(books, { recursive: true });
});

test("a validation loss far above the training loss is reported as overfitting", async () => {
  const { result } = await part("rooms/words/text");
  assert.equal(
    result(6.35, 3.42, undefined),
    "Perplexity 572: the model chooses as if among that many equally likely tokens. Overfitting: the loss on unseen text, 6.35, is far " +
      "above the training loss, 3.42. Use a longer text, more dropout, or stop earlier.",
  );
  for (const training of [undefined, 1.1, 1]) assert.doesNotMatch(result(1.2, training, 0.285), /Overfitting/);
  assert.match(result(1.2, 1.1, 0.285), /\(minimum possible: 1\.33\)/);
});

test("pointer and keys select the tokens of a sample; a newer sample types itself, and waits meanwhile", async () => {
  const page = await enterReplay();
  const where = ".text-stage .expected .small";
  await text(page, where, "^Next token after ");
  await page.locator(".sheet").focus();
  await page.keyboard.press("Home");
  await text(page, where, "^No predictions before the first token");
  await page.keyboard.press("ArrowRight");
  await text(page, where, "^n after O: ");
  await text(page, ".text-stage .expected [role=status]", "^“n”, .*%\\. Expected: ");
  await page.keyboard.press("End");
  await text(page, where, "^Next token after ");
  await page.locator(".sheet").blur();
  // The pointer selects a token too, and a newer sample waits meanwhile.
  await page.waitForFunction(() => document.querySelectorAll(".text-stage .likely li").length >= 10);
  await page.locator(".sheet .tokens span").nth(25).hover();
  await text(page, where, " after .*: .*%, surprise ");
  await text(page, ".text-stage .likely .marked", " actual");
  const shown = await page.locator(".sheet .tokens").textContent();
  await page.evaluate(() => {
    globalThis.typing = [];
    new MutationObserver(() => {
      const tokens = document.querySelector(".sheet .tokens");
      if (tokens.classList.contains("typing")) globalThis.typing.push([tokens.textContent, tokens.querySelectorAll(".here ~ span").length]);
    }).observe(document.querySelector(".sheet"), { attributes: true, subtree: true, childList: true });
  });
  await arrives(page, "small fox saw the owl. ".repeat(8));
  await text(page, ".text-stage h2", "^Sample \\d+ of \\d+$");
  assert.equal(await page.locator(".sheet .tokens").textContent(), shown);
  await page.mouse.move(0, 0);
  await text(page, ".text-stage h2", "^Latest sample$");
  // While a text is typed, all of it is on the page, and the number of tokens that are not typed yet decreases.
  await page.waitForFunction(() => {
    const { typing } = globalThis;
    return typing.some(([text, left], k) => left > 0 && typing.slice(0, k).some((before) => before[0] === text && before[1] > left));
  });
  await page.waitForFunction(() => !document.querySelector(".sheet .typing"));
  await leave(page);
});

inAll(
  "pointer and keys select the tokens of a sample; a newer sample types itself, and waits meanwhile",
  "the latest text types itself, with predictions at each token; it stays while a visitor looks at a token",
  async () => {
    const page = await enter();
    const where = ".text-stage .expected .small";
    // Before the first test, the stage shows what random weights write.
    await text(page, ".text-stage .head", "^First text|^Latest sample");
    await page.evaluate(() => {
      globalThis.typing = [];
      new MutationObserver(() => {
        const tokens = document.querySelector(".sheet .tokens");
        if (tokens.classList.contains("typing"))
          globalThis.typing.push([tokens.textContent, tokens.querySelectorAll(".here ~ span").length]);
      }).observe(document.querySelector(".sheet"), { attributes: true, subtree: true, childList: true });
    });
    await samplesOf(page, 2);
    // While a text is typed, all of it is on the page, and the number of tokens that are not typed yet decreases.
    await page.waitForFunction(() => {
      const { typing } = globalThis;
      return typing.some(([text, left], k) => left > 0 && typing.slice(0, k).some((before) => before[0] === text && before[1] > left));
    });
    await page.evaluate(() => hothouse.command({ kind: "pause" }));
    await page.waitForFunction(() => !document.querySelector(".sheet .typing"));
    await text(page, where, "^Next token after ");
    await page.waitForFunction(() => document.querySelectorAll(".text-stage .likely li").length >= 10);
    // The pointer selects a token, and the text stays meanwhile.
    const span = page.locator(".sheet .tokens span").nth(25);
    await span.hover();
    await text(page, where, " after .*: .*%, surprise ");
    await text(page, ".text-stage .likely .marked", " actual");
    const shown = await page.locator(".sheet .tokens").textContent();
    const { length } = await ask(page, { ask: "samples" });
    await page.evaluate(() => hothouse.command({ kind: "start" }));
    await samplesOf(page, length + 1);
    await text(page, ".text-stage h2", "^Sample \\d+ of \\d+$");
    assert.equal(await page.locator(".sheet .tokens").textContent(), shown);
    await page.mouse.move(0, 0);
    await text(page, ".text-stage h2", "^Latest sample$");
    // The arrow keys select tokens too.
    await page.locator(".sheet").focus();
    await page.keyboard.press("Home");
    await text(page, where, "^No predictions before the first token");
    await page.keyboard.press("ArrowRight");
    await text(page, where, "^n after O: ");
    await text(page, ".text-stage .expected [role=status]", "^“n”, .*%\\. Expected: ");
    await page.keyboard.press("End");
    await text(page, where, "^Next token after ");
    await leave(page);
  },
);

inAll(
  "words: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit",
  "the room passes axe in both themes, fits its screens, and respects reduced motion",
  async () => {
    for (const screen of SCREENS) {
      const page = await enter({ context: screen });
      await page.evaluate(() => {
        globalThis.typed = false;
        new MutationObserver(() => (globalThis.typed ||= Boolean(document.querySelector(".sheet .typing")))).observe(
          document.querySelector(".sheet"),
          { attributes: true, subtree: true },
        );
      });
      await samplesOf(page, 2);
      // A newer sample may arrive at any time, so each attempt asks the worker again.
      await until(page, async () => {
        const { prompt, text } = (await hothouse.ask({ ask: "samples" })).at(-1);
        return document.querySelector(".sheet").textContent.includes(prompt + text.slice(0, 5));
      });
      if (screen.reducedMotion === "reduce") assert.equal(await page.evaluate(() => globalThis.typed), false);
      await write(page, { "Length, tokens": 40 });
      await written(page);
      await accessible(page);
      await fits(page);
      await large(page.locator(".text-stage button, .text-stage input"), "height");
      await place(page, "Explore", "Read a text");
      await page.locator(".reading").getByText("Attention", { exact: true }).click();
      await page.waitForFunction(() => document.querySelectorAll(".reading .likely li").length > 0);
      await accessible(page);
      await fits(page);
      // The letters of the field are exactly above their tokens, wherever lines break.
      const [field, tokens] = await page.evaluate(() =>
        [".paper textarea", ".paper .tokens"].map((part) => [
          document.querySelector(part).scrollHeight,
          document.querySelector(part).clientWidth,
        ]),
      );
      assert.deepEqual(field, tokens);
      await large(page.locator(".reading button, .heads label"), "height");
      await place(page, "Settings", "Your own text");
      await page.locator(".section.own-text").getByRole("button", { name: "Train on this text" }).click();
      await accessible(page);
      await fits(page);
      await large(page.locator(".section.own-text button"), "height");
      await narrows(page);
      await page.context().close();
    }
  },
);

test("on a desktop the stage is on the first screen; on a phone the text, Write and the curve follow each other", async () => {
  const page = await enterReplay({ context: { viewport: { width: 1280, height: 720 } } });
  const bottom = (css) => page.locator(css).evaluate((one) => one.getBoundingClientRect().bottom);
  const bar = await page.locator(".transport").evaluate((one) => one.getBoundingClientRect().top);
  assert.ok((await bottom(".text-stage")) <= bar, `${await bottom(".text-stage")}, and the bar begins at ${bar}`);
  await page.setViewportSize({ width: 390, height: 844 });
  const bottoms = [await bottom(".sheet"), await bottom(".writing"), await bottom(".returns .plot")];
  assert.deepEqual(
    bottoms.toSorted((a, b) => a - b),
    bottoms,
  );
  assert.ok(bottoms[1] < 844 && bottoms[2] < 1.5 * 844, bottoms.join());
  await leave(page);
});
