// Environments of the control room: switching, drawing, manual control, slow motion, sweeps.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, aheadWhere, begun, event, eventWhere, house, lab, part, place, stepped, until, visit } from "./fixture.mjs";
import { tellEvents } from "./messages.mjs";
import { replayed, replays } from "./replay.mjs";
import { accessible, addressOf, fits, isDrawn } from "./rooms.mjs";

const here = house();
replays(here);
const SMALL = "#/control?envs=64&v=2";

/**
 * Runs in the page: advances its clock by ten seconds, and again at each call of `tenSeconds`. The page writes the label of the
 * environments at most every four seconds, and first at this time of the clock.
 */
function quickLabels() {
  const now = performance.now.bind(performance);
  let skippedMs = 10_000;
  performance.now = () => now() + skippedMs;
  globalThis.tenSeconds = () => (skippedMs += 10_000);
}
/** Opens a recorded run of CartPole, which does not train. */
const enterReplay = (settings) => replayed(here, { at: addressOf("control"), init: quickLabels, ...settings });

/** Listens for the next run that begins in an environment. Must be called before the action that starts the run. */
const beginning = (page, variant) => aheadWhere(page, "began", `(event) => event.config.variant === ${JSON.stringify(variant)}`);
const environments = (page) => page.evaluate(() => hothouse.room.variants.map(({ about }) => about));
/** Records all announcements from now on, because each is replaced by the next after some seconds. */
const recordAnnouncements = (page) =>
  page.evaluate(() => {
    globalThis.announcements = [];
    const element = document.querySelector("[aria-live=polite]");
    new MutationObserver(() => announcements.push(element.textContent)).observe(element, { childList: true });
  });
const announced = (page, text) => page.waitForFunction((source) => announcements.some((words) => new RegExp(source).test(words)), text);

/** Runs in the page: lets announcements, which are three seconds apart, follow each other soon. */
function quickAnnouncements() {
  const plain = setTimeout;
  globalThis.setTimeout = (work, ms, ...rest) => plain(work, ms > 1000 && ms <= 3000 ? 100 : ms, ...rest);
}

/** Waits for a test whose mean return is at least `least`. */
const reaches = (page, least) => eventWhere(page, "test", `(event) => event.mean_return >= ${least}`);

test("the state plane is read by keys, has three layers and a table, and moves while the stage is hidden", async () => {
  // Training is paused, so that only the choice of layer changes the picture.
  const page = await enterReplay({ paused: true });
  await place(page, "Explore", "State plane");
  const plane = page.getByRole("application", { name: "The state plane" });
  await plane.focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(".plane-reading", { hasText: /^angle .*: push left \d+%, push right \d+%; value / }).waitFor();
  await page.evaluate(() => {
    const looks = [];
    /**
     * Compares the plane's picture with all recorded pictures. If more than a fifth of its pixels differ from each of them, records it and
     * returns a truthy value.
     */
    globalThis.another = () => {
      const { width, height } = document.querySelector(".plane-field canvas");
      const now = new Uint32Array(
        document.querySelector(".plane-field canvas").getContext("2d").getImageData(0, 0, width, height).data.buffer,
      );
      return looks.every((look) => now.filter((pixel, i) => pixel !== look[i]).length > now.length / 5) && looks.push(now);
    };
  });
  for (const layer of ["Policy", "Value", "Visits"]) {
    await page.locator(".layers label", { hasText: layer }).click();
    await page.waitForFunction(() => another());
    assert.notEqual(await page.locator(".plane .legend-signs").textContent(), "");
  }
  await page.locator(".layers label", { hasText: "Policy" }).click();
  await page.locator(".stage-field").waitFor({ state: "hidden" });
  await page.evaluate(() => {
    globalThis.asked = { frame: 0, touch: 0, picture: 0 };
    const ask = hothouse.ask.bind(hothouse);
    hothouse.ask = (question) => {
      asked[question.ask]++;
      return ask(question);
    };
  });
  // The plane asks for one picture per iteration.
  const { progress, values } = await page.evaluate(() => ({ progress: hothouse.progress, values: hothouse.room.metrics.map(() => 1) }));
  for (let iteration = progress.iteration + 1; !(await page.evaluate("Object.values(asked).every((times) => times >= 5)")); iteration++) {
    await tellEvents(page, { kind: "metrics", progress: { ...progress, iteration }, values });
    await page.waitForTimeout(50);
  }
  await page.getByRole("button", { name: "State plane as a table" }).click();
  const table = page.getByRole("region", { name: "State plane as a table" });
  await table.getByRole("rowheader").first().waitFor();
  for (const viewport of [
    { width: 390, height: 844 },
    { width: 1440, height: 900 },
  ]) {
    await page.setViewportSize(viewport);
    const [wide, shown] = await table.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
    assert.ok(wide <= shown, `${wide} px of table in ${shown} at ${viewport.width}`);
  }
  await accessible(page);
  await page.context().close();
});

/** Checks that the drawing of the network fits its card from left to right or downwards, on screens of several sizes. */
async function networkFits(page) {
  // The drawing appears some frames after the section.
  await page.locator(".network-drawing .drawing").waitFor();
  for (const [width, height, down] of [
    [1024, 768, true],
    [1440, 900, false],
    [390, 844, true],
  ]) {
    await page.setViewportSize({ width, height });
    await page.waitForFunction((down) => {
      const drawing = document.querySelector(".network .drawing");
      const { width, height } = drawing.viewBox.baseVal;
      const box = drawing.getBoundingClientRect();
      const fits = box.right <= drawing.closest(".card").getBoundingClientRect().right - 16 + 0.5;
      return fits && height > width === down && Math.abs(box.width / width - 1) < 0.01;
    }, down);
    await fits(page);
  }
}

test("the network fits its card at full size, and its units are drawn with weights or gradients as edges", async () => {
  const page = await enterReplay({ paused: true });
  await place(page, "Explore", "Network");
  const canvas = ".units canvas";
  await page.locator(`${canvas}[aria-label*="Policy: 32, 32, 2 units; outputs: "]`).waitFor();
  await isDrawn(page, canvas, "weights");
  const picture = () => page.evaluate((canvas) => document.querySelector(canvas).toDataURL(), canvas);
  const weights = await picture();
  await page.locator(".units label", { hasText: "Gradients" }).click();
  await isDrawn(page, canvas, "gradients");
  assert.notEqual(await picture(), weights);
  await networkFits(page);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

inAll(
  "the network fits its card at full size, and its units are drawn with weights or gradients as edges",
  "the network with shared layers fits its card at full size",
  async () => {
    const page = await visit(here, { at: `${SMALL}&shared=1` });
    await event(page, "metrics");
    await place(page, "Explore", "Network");
    await networkFits(page);
    await accessible(page);
    await page.context().close();
  },
);

inAll(
  "the first screen shows the environments, the single environment and its controls, without overflow",
  "manual control of the lander keeps the pad in view",
  async () => {
    const page = await visit(here, {
      at: "#/control?variant=LunarLander-v3&envs=64&v=2",
      context: { viewport: { width: 1440, height: 900 } },
    });
    await page.getByRole("button", { name: "Take the controls" }).click();
    await page.locator(".stage-hint", { hasText: "Round 1" }).waitFor();
    // Waits until the middle of the lower edge is drawn, which shows the ground below the landing pad. The canvas is empty between a change
    // of its size and the next picture.
    await until(page, () => {
      const canvas = document.querySelector(".stage-field canvas");
      return canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height - 4, 1, 1).data[3] > 0;
    });
    await page.context().close();
  },
);

inAll(
  "a link opens its environment, the key e selects the next one, and the back button the previous one",
  "every environment can be selected, is drawn, has its own texts, and trains",
  async () => {
    const page = await visit(here);
    const all = await environments(page);
    assert.ok(all.length >= 5, `${all.length} environments`);
    const titles = new Set();
    for (const environment of [...all.slice(1), all[0]]) {
      const began = await beginning(page, environment.id);
      await page.locator(`nav a[href*="variant=${environment.id}&"]`).click();
      const { config, knobs } = await began();
      assert.equal(config.variant, environment.id);
      assert.ok(knobs.envs > 0);
      await event(page, "metrics", 1);
      assert.match(new URL(page.url()).hash, new RegExp(`variant=${environment.id}`));
      assert.equal(await page.locator(".worlds [aria-current=page]").count(), 1);
      titles.add(await page.locator("h1").textContent());
      await page.waitForFunction(() => !/none yet/.test(document.querySelector(".environments canvas").getAttribute("aria-label")));
      for (const canvas of [".environments canvas", ".stage-field canvas"]) await isDrawn(page, canvas, environment.id);
      assert.equal(await page.locator(".odd").count(), Math.max(1, environment.choices.length));
      await place(page, "Explore", "State plane");
      await isDrawn(page, ".plane-field canvas", environment.id);
      await place(page, "Explore", "Network");
      await page.locator(".network .kernel:not(.bare)").first().waitFor();
      await place(page, "Live");
    }
    assert.equal(titles.size, all.length);
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

test("thousands of environments are drawn on request, and the choice is remembered", async () => {
  const page = await enterReplay();
  const all = page.locator(".environments label", { hasText: "all" });
  await all.click();
  await page.waitForFunction(() => /^All 2,048 poles$/.test(document.querySelector("#environments-title").textContent));
  await page.evaluate(() => tenSeconds());
  await page.waitForFunction(() => /^2048 of 2,048 poles/.test(document.querySelector(".environments canvas").getAttribute("aria-label")));
  await isDrawn(page, ".environments canvas", "all poles", 0.05);
  await page.locator(".environments label", { hasText: "512" }).click();
  await page.waitForFunction(() => /^512 of 2,048 poles$/.test(document.querySelector("#environments-title").textContent));
  await page.reload();
  await lab(page);
  await page.waitForFunction(() => /^512 of 2,048 poles$/.test(document.querySelector("#environments-title").textContent));
  await page.context().close();
});

test("a first visit shows few large poles in slow motion, until the visitor chooses full speed", async () => {
  const page = await visit(here, { first: true, at: "#/control" });
  const title = (words) => page.waitForFunction((words) => document.querySelector("#environments-title").textContent === words, words);
  const speed = () => page.locator(".transport input:checked + label").textContent();
  await title("64 of 2,048 poles, in slow motion");
  assert.equal(await speed(), "×¼");
  const full = page.getByRole("button", { name: "Full speed" });
  await full.click();
  await title("512 of 2,048 poles");
  assert.equal(await speed(), "Max");
  assert.equal(await full.isVisible(), false);
  // Another visit begins at full speed.
  await event(page, "metrics");
  await page.reload();
  await lab(page);
  await title("512 of 2,048 poles");
  assert.equal(await speed(), "Max");
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("a link opens its environment, the key e selects the next one, and the back button the previous one", async () => {
  const page = await visit(here, { at: "#/control?variant=Acrobot-v1&envs=64&v=2" });
  const current = (name) =>
    page.waitForFunction((name) => document.querySelector(".worlds [aria-current=page]")?.textContent === name, name);
  await event(page, "metrics");
  await current("Acrobot");
  const all = await environments(page);
  const next = all[all.findIndex(({ id }) => id === "Acrobot-v1") + 1];
  const began = await beginning(page, next.id);
  await page.keyboard.press("e");
  await began();
  await event(page, "metrics", 1);
  await page.waitForFunction(() => !/none yet/.test(document.querySelector(".environments canvas").getAttribute("aria-label")));
  for (const canvas of [".environments canvas", ".stage-field canvas"]) await isDrawn(page, canvas, next.id);
  await page.goBack();
  await current("Acrobot");
  await event(page, "metrics", 1);
  await page.context().close();
});

inAll(
  "a link opens its environment, the key e selects the next one, and the back button the previous one",
  "a link opens its environment, and training improves the return",
  async () => {
    const page = await visit(here, { at: "#/control?variant=Acrobot-v1&seed=2&v=2" });
    const first = await event(page, "test");
    const better = await reaches(page, Math.max(-200, first.mean_return + 1));
    assert.ok(better.progress.env_steps > first.progress.env_steps);
    await page.context().close();
  },
);

inAll("picture_contains_policy_and_value_per_point", "the pictures of policy and value change during training", async () => {
  const page = await visit(here, { at: SMALL });
  await event(page, "metrics");
  const picture = () =>
    page.evaluate(async () => {
      const axes = hothouse.variant.about.axes.slice(0, 2);
      const { width, height, channels, policy, values } = await hothouse.ask({ ask: "picture", width: 12, height: 9, axes });
      const numbers = (bytes) => [...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)];
      const { iteration } = hothouse.progress;
      return { width, height, channels, policy: numbers(policy), values: numbers(values), iteration };
    });
  const before = await picture();
  assert.deepEqual([before.width, before.height, before.channels], [12, 9, 2]);
  assert.equal(before.policy.length, 12 * 9 * 2);
  for (let point = 0; point < 12 * 9; point++) assert.ok(Math.abs(before.policy[2 * point] + before.policy[2 * point + 1] - 1) < 1e-4);
  await event(page, "metrics", before.iteration + 40);
  const after = await picture();
  const moved = (name) => Math.max(...after[name].map((value, k) => Math.abs(value - before[name][k])));
  assert.ok(moved("policy") > 0.02, `the policy moved by ${moved("policy")}`);
  assert.ok(moved("values") > 0.5, `the values moved by ${moved("values")}`);
  await page.context().close();
});

test("a round against the agent is played by keys, and its result is announced", async () => {
  // The run is paused after one iteration. The agent's rounds are therefore short.
  const page = await visit(here, { at: SMALL, paused: true, init: quickAnnouncements });
  await stepped(page);
  // The page shows a best episode after the first episode has finished.
  await page.getByText("Best finished episode", { exact: true }).waitFor();
  await recordAnnouncements(page);
  await page.evaluate(() => {
    globalThis.touches = [];
    const ask = hothouse.ask.bind(hothouse);
    hothouse.ask = async (question) => {
      const answer = await ask(question);
      if (question.touch?.handovers === 1) touches.push([answer.player.steps, answer.rival?.steps]);
      return answer;
    };
  });
  await page.getByRole("button", { name: "Take the controls" }).click();
  await announced(page, "You have the controls");
  await page.getByText("Round 1 begins with your first move").waitFor();
  // Neither environment advances before the visitor's first action.
  await until(page, "touches.length >= 4");
  assert.deepEqual(await page.evaluate(() => [...new Set(touches.flat())]), [0]);
  await page.keyboard.down("ArrowRight");
  await page.locator(".past tr").first().waitFor();
  const [round] = await page.locator(".past tr").all();
  const [yours, agents] = await round.locator("td").allTextContents();
  assert.ok(Number(yours) > 0 && Number(yours) < 60, `${yours} steps with the key held`);
  assert.ok(Number(agents) > 0);
  await announced(page, "Round 1: you .*, the agent ");
  // A release of the key may begin the next round, whose result would replace the waiting announcement.
  await page.keyboard.up("ArrowRight");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Take the controls" }).waitFor();
  await announced(page, "The agent has the controls again");
  await page.context().close();
});

test("held keys, Shift and a pressed pointer give continuous actions", async () => {
  const { Hands } = await part("rooms/control/hands");
  const field = Object.assign(new EventTarget(), {
    classList: { add() {}, remove() {}, toggle() {} },
    getBoundingClientRect: () => ({ left: 100, top: 0, width: 500, height: 300 }),
    focus() {},
    setPointerCapture() {},
  });
  const scene = { environment: { choices: [], range: [-2, 2], numbers: 2 }, world: { controls: {}, large: {} } };
  const hands = new Hands(field, { driving: true, scene, touched() {}, take() {} });
  const send = (kind, of) => field.dispatchEvent(Object.assign(new Event(kind), of));
  const action = () => hands.action(scene, 0);
  assert.deepEqual(action(), [0, 0]);
  send("keydown", { key: "ArrowLeft" });
  assert.deepEqual(action(), [-2, 0]);
  send("keyup", { key: "ArrowLeft" });
  send("keydown", { key: "ArrowRight", shiftKey: true });
  assert.deepEqual(action(), [1, 0]);
  send("keyup", { key: "ArrowRight" });
  assert.deepEqual(action(), [0, 0]);
  // The pointer steers fully at 35% of the width from the centre.
  send("pointerdown", { button: 0, clientX: 100 + 0.6 * 500, clientY: 150 });
  assert.ok(Math.abs(action()[0] - (2 * 0.1) / 0.35) < 1e-9, `${action()}`);
  send("pointermove", { clientX: 100, clientY: 150 });
  assert.deepEqual(action(), [-2, 0]);
  send("pointerup", {});
  assert.deepEqual(action(), [0, 0]);
});

inAll("held keys, Shift and a pressed pointer give continuous actions", "arrow keys and pointer control continuous actions", async () => {
  const page = await visit(here, { at: "#/control?variant=Pendulum-v1&envs=64&v=2" });
  await event(page, "metrics");
  await page.evaluate(() => {
    globalThis.drives = [];
    const ask = hothouse.ask.bind(hothouse);
    hothouse.ask = (question) => {
      if (question.ask === "touch" && question.touch.drive !== null) drives.push(question.touch.drive);
      return ask(question);
    };
  });
  const drove = (test) => until(page, `drives.some(${test})`);
  await page.keyboard.press("c");
  await page.keyboard.down("ArrowLeft");
  await drove("([drive]) => drive === -2");
  await page.keyboard.up("ArrowLeft");
  await page.keyboard.down("Shift");
  await page.keyboard.down("ArrowRight");
  await drove("([drive]) => drive === 1");
  await page.keyboard.up("ArrowRight");
  await page.keyboard.up("Shift");
  const box = await page.locator(".stage-field").boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  await page.mouse.down();
  await drove("([drive]) => drive > 0.2 && drive < 0.9");
  await page.mouse.up();
  await page.context().close();
});

test("a step takes four times as long at a quarter of the speed, and twice as long at half of it", async () => {
  const { PACES, Touches } = await part("rooms/control/touches");
  /** Returns the number of steps that the worker would make in ten seconds with 60 pictures per second. */
  const steps = async (rate, step_s = 0.02) => {
    const touches = new Touches();
    let owedS = 0;
    for (let frame = 0, from = performance.now(); frame <= 600; frame++) {
      // The time of the first touch does not count: it began when `touches` was created.
      touches.pass(from + (1000 * frame) / 60, rate, async (dt_s) => frame > 0 && (owedS += dt_s));
      await setImmediate(); // the answer arrives before the next picture
    }
    return Math.round(owedS / step_s);
  };
  const full = await steps(PACES.full);
  assert.equal(full, 500);
  assert.equal(await steps(PACES.half), full / 2);
  assert.equal(await steps(PACES.quarter), full / 4);
});

inAll(
  "a round against the agent is played by keys, and its result is announced",
  "a key that is pressed when the controls are taken begins the round",
  async () => {
    const page = await visit(here, { at: "#/control?variant=Pendulum-v1&envs=64&v=2" });
    await event(page, "metrics");
    await page.evaluate(() => {
      globalThis.steps = { agent: 0, visitor: 0 };
      const ask = hothouse.ask.bind(hothouse);
      hothouse.ask = async (question) => {
        const answer = await ask(question);
        if (question.touch) steps[question.touch.drive === null ? "agent" : "visitor"] = answer.player.steps;
        return answer;
      };
    });
    await until(page, "steps.agent > 3");
    await page.evaluate(() => {
      [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Take the controls").click();
      document.querySelector(".stage-field").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    });
    await until(page, "steps.visitor >= 5");
    await page.context().close();
  },
);

inAll("handover_begins_a_round", "controls that are given back and taken again at once begin another round", async () => {
  const page = await visit(here, { at: "#/control?variant=Pendulum-v1&envs=64&v=2" });
  await event(page, "metrics");
  await page.getByRole("button", { name: "Take the controls" }).click();
  await page.evaluate(() => {
    globalThis.field = document.querySelector(".stage-field");
    globalThis.seen = [];
    const ask = hothouse.ask.bind(hothouse);
    hothouse.ask = async (question) => {
      const answer = await ask(question);
      if (question.touch) seen.push({ handovers: question.touch.handovers, steps: answer.player.steps });
      return answer;
    };
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  });
  await until(page, "seen.at(-1)?.steps >= 5");
  const next = await page.evaluate(() => {
    for (let times = 0; times < 2; times++) field.dispatchEvent(new KeyboardEvent("keydown", { key: "c", bubbles: true }));
    return seen.at(-1).handovers + 2;
  });
  await until(page, `seen.some(({ handovers }) => handovers === ${next})`);
  assert.equal(await page.evaluate((next) => seen.find(({ handovers }) => handovers === next).steps, next), 0);
  await page.context().close();
});

inAll(
  "a step takes four times as long at a quarter of the speed, and twice as long at half of it",
  "the speed at the controls slows both players, is remembered, and applies to keys and buttons",
  async () => {
    const page = await visit(here, { at: "#/control?variant=Pendulum-v1&envs=64&v=2" });
    await event(page, "metrics");
    // Records the simulated time of each touch during a round, and the steps of both environments after the touch.
    await page.evaluate(() => {
      globalThis.touches = [];
      const ask = hothouse.ask.bind(hothouse);
      hothouse.ask = async (question) => {
        // The list may be replaced before the answer arrives.
        const list = touches;
        const answer = await ask(question);
        const { dt_s, drive } = question.touch ?? {};
        if (dt_s > 0 && drive !== null) list.push({ dt_s, player: answer.player.steps, rival: answer.rival.steps });
        return answer;
      };
    });
    /** Chooses a speed, holds a control by `hold` for 20 steps, and returns the touches. */
    const played = async (speed, hold, release) => {
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Take the controls" }).click();
      if (speed) await page.locator(".pace label", { hasText: speed }).click();
      // Waits until the focus has left the choice of the speed, because the arrow key would change the speed there.
      await page.waitForFunction(() => document.activeElement.matches(".stage-field"));
      await page.evaluate(() => (globalThis.touches = []));
      await hold();
      await until(page, "(touches.at(-1)?.player ?? 0) >= 20");
      await release();
      return page.evaluate(() => touches.slice(0, 1 + touches.findIndex(({ player }) => player >= 20)));
    };
    const key = [() => page.keyboard.down("ArrowRight"), () => page.keyboard.up("ArrowRight")];
    const button = [
      () =>
        page
          .locator(".push button")
          .last()
          .hover()
          .then(() => page.mouse.down()),
      () => page.mouse.up(),
    ];
    const STEP_S = 0.05;
    const MOST_S = 0.1;
    for (const [speed, share, [hold, release]] of [
      ["", 0.5, key],
      ["Quarter", 0.25, key],
      ["Quarter", 0.25, button],
      ["Full", 1, key],
    ]) {
      if (!speed) assert.ok(await page.locator(".pace input").nth(1).isChecked(), "half is the default");
      const touches = await played(speed, hold, release);
      // A touch covers at most 0.1 s of real time, so its simulated time `dt_s` is at most the speed times 0.1 s. The worker steps both
      // players by this simulated time.
      assert.ok(
        touches.every(({ dt_s }) => dt_s <= share * MOST_S + 1e-9),
        `${speed}: a touch of ${Math.max(...touches.map(({ dt_s }) => dt_s))} s`,
      );
      // In a test, the page draws at most ten pictures a second, so the touches nearly reach the limit for their speed.
      const longest = Math.max(...touches.map(({ dt_s }) => dt_s));
      assert.ok(longest > 0.75 * share * MOST_S, `${speed}: at most ${longest} s in a touch`);
      let passedS = 0;
      for (const { dt_s, player, rival } of touches) {
        passedS += dt_s;
        assert.ok(Math.abs(player - passedS / STEP_S) <= 1 && rival === player, `${speed}: ${player} and ${rival} steps in ${passedS} s`);
      }
    }
    assert.ok(
      await page.locator(".stage-field").evaluate((field) => field === document.activeElement),
      "a click on a speed keeps the keys",
    );
    await page.reload();
    await lab(page);
    await event(page, "metrics", 1);
    await page.getByRole("button", { name: "Take the controls" }).click();
    assert.ok(await page.getByRole("group", { name: "Speed" }).getByLabel("Full").isChecked());
    await page.context().close();
  },
);

/** Replaces the rounds that the worker reports, so that the table of rounds is as large as it gets. */
const fillRounds = (page) =>
  page.evaluate(() => {
    const rounds = Array.from({ length: 20 }, () => ({ yours: -1234.5, agents: -1234.5 }));
    const ask = hothouse.ask.bind(hothouse);
    hothouse.ask = async (question) => {
      const answer = await ask(question);
      return question.ask === "touch" ? { ...answer, rounds } : answer;
    };
  });

/** Returns the parts of the stage that are cut off, overflow or are below the transport bar. */
const faults = (page) =>
  page.evaluate(() => {
    const seen = (one) => one.getClientRects().length > 0;
    const bar = document.querySelector(".transport").getBoundingClientRect().top;
    const stage = document.querySelector(".live-panel").getBoundingClientRect();
    const parts = [...document.querySelectorAll(".bench canvas, .bench button, .bench label, .bench p, .bench tr, .bench li")].filter(
      (one) => seen(one) && !one.closest(".unseen"),
    );
    const outside = parts.filter((one) => {
      const { left, right, bottom } = one.getBoundingClientRect();
      return bottom > Math.min(bar, stage.bottom) || left < stage.left || right > stage.right;
    });
    const full = [...document.querySelectorAll(".stage-side, .stage-actions, .bench")].filter(
      (one) => one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth,
    );
    return [...outside, ...full].map((one) => one.outerHTML.slice(0, 90));
  });

/** Checks on several screens that the stage shows everything without overflow, with and without the visitor at the controls. */
async function stageFits(page, id) {
  for (const [width, height] of [
    [1024, 768],
    [1280, 720],
    [1920, 1080],
  ]) {
    await page.setViewportSize({ width, height });
    assert.deepEqual(await faults(page), [], `${id} at ${width} px`);
    await page.getByRole("button", { name: "Take the controls" }).click();
    await page.locator(".past tr").first().waitFor();
    assert.deepEqual(await faults(page), [], `${id} at ${width} px, at the controls`);
    const { wide, high } = await page
      .locator(".environments canvas")
      .evaluate((one) => ({ wide: one.clientWidth, high: one.clientHeight }));
    assert.ok(high >= 96 && wide >= 500, `${id} at ${width} px: environments of ${wide} by ${high} px`);
    await page.keyboard.press("Escape");
  }
  await page.setViewportSize({ width: 390, height: 844 });
  const high = await page.locator(".live-panel").evaluate((one) => one.clientHeight);
  assert.ok(high <= 700, `${id}: ${high} px on a phone`);
}

test("the first screen shows the environments, the single environment and its controls, without overflow", async () => {
  const page = await enterReplay();
  await fillRounds(page);
  await page.waitForFunction(() => !/none yet/.test(document.querySelector(".environments canvas").getAttribute("aria-label")));
  await stageFits(page, "CartPole-v1");
  await page.context().close();
});

inAll(
  "the first screen shows the environments, the single environment and its controls, without overflow",
  "the first screen of every environment has no overflow",
  async () => {
    const page = await visit(here);
    await fillRounds(page);
    for (const { id } of await environments(page)) {
      const began = id === "CartPole-v1" ? async () => {} : await beginning(page, id);
      if (id !== "CartPole-v1") await page.locator(`nav a[href*="variant=${id}&"]`).click();
      await began();
      await page.waitForFunction(() => !/none yet/.test(document.querySelector(".environments canvas").getAttribute("aria-label")));
      await stageFits(page, id);
      await page.setViewportSize({ width: 1280, height: 720 }); // on a phone, a notice may cover the variants
    }
    await page.context().close();
  },
);

test("a small sweep finishes, the paused run resumes, and a value can be used", async () => {
  const page = await visit(here, { at: "#/control?envs=1024&hidden=8&epochs=1&minibatches=4&v=2" });
  await event(page, "metrics");
  await place(page, "Compare", "Sweep");
  await page.getByLabel("Values", { exact: true }).selectOption("3");
  await page.getByLabel("Seeds each").selectOption("1");
  await page.getByLabel("Steps each").selectOption("100000");
  await page.getByLabel("From", { exact: true }).fill("0.001");
  await page.getByLabel("To", { exact: true }).fill("0.004");
  const paused = await ahead(page, "running");
  const ended = await begun(page, () => new Promise((resolve) => hothouse.onSweep(({ cells, done }) => done && resolve(cells))));
  const resumed = await begun(
    page,
    () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "running" && event.running && resolve(true))),
  );
  await page.getByRole("button", { name: "Start the sweep" }).click();
  assert.equal((await paused()).running, false);
  const cells = await ended();
  assert.deepEqual(
    cells.map(({ value, seed, done }) => [value, seed, done]),
    [0.001, 0.002, 0.004].map((value) => [value, 1, true]),
  );
  assert.ok(cells.every(({ progress, curve }) => progress.counts[0] >= 100_000 && curve.length > 1));
  assert.ok(await resumed());
  await page.getByText(/^Done: \d of 3 runs solved it/).waitFor();
  assert.equal(await page.locator(".sweep-grid li").count(), 3);
  assert.match(
    await page.getByRole("textbox", { name: "Sweep command" }).textContent(),
    /sweep control --variant CartPole-v1 --knob lr=0.001,0.002,0.004 --seeds 1 --steps 100000 .*--set envs=1024/,
  );
  await page.getByRole("button", { name: "The sweep as a table" }).click();
  assert.equal(await page.getByRole("region", { name: "The sweep as a table" }).getByRole("rowheader").count(), 3);
  const began = await beginning(page, "CartPole-v1");
  await page.getByRole("button", { name: "Use Learning rate 0.002 in a new run" }).click();
  const { knobs } = await began();
  assert.deepEqual([knobs.lr, knobs.envs], [0.002, 1024]);
  await page.context().close();
});

inAll(
  "a small sweep finishes, the paused run resumes, and a value can be used",
  "a sweep can be stopped, and the run resumes",
  async () => {
    const page = await visit(here, { at: SMALL });
    await event(page, "metrics", 2);
    await place(page, "Compare", "Sweep");
    // The sweep must not end during this test.
    await page.getByLabel("Steps each").selectOption("10000000");
    const paused = await ahead(page, "running");
    await page.getByRole("button", { name: "Start the sweep" }).click();
    assert.equal((await paused()).running, false);
    const { iteration } = await page.evaluate(() => new Promise((resolve) => hothouse.onSweep(({ cells }) => resolve(cells[0].progress))));
    assert.ok(iteration >= 0);
    // A run that begins during a sweep is paused, and the page states the reason. The run resumes after the sweep.
    const anew = await ahead(page, "began");
    await page.keyboard.press("r");
    assert.equal((await anew()).progress.iteration, 0);
    await page.getByText("Paused until the sweep ends.").waitFor();
    const resumed = await ahead(page, "metrics");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await resumed();
    await page.getByText("Stopped.", { exact: true }).waitFor();
    await page.context().close();
  },
);

inAll(
  "control: the first screen has the picture, the value, the curve and three knobs, and nothing shifts; all places fit",
  "every environment passes axe (desktop light, phone dark) and fits the screen",
  async () => {
    const page = await visit(here);
    for (const { id } of await environments(page)) {
      const began = id === "CartPole-v1" ? async () => {} : await beginning(page, id);
      if (id !== "CartPole-v1") await page.locator(`nav a[href*="variant=${id}&"]`).click();
      await began();
      await event(page, "metrics", 1);
      const legends = new Set();
      for (const [colorScheme, viewport] of [
        ["light", { width: 1280, height: 800 }],
        ["dark", { width: 390, height: 844 }],
      ]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize(viewport);
        legends.add((await page.locator(".environments .legend li").allTextContents()).join());
        await accessible(page);
        await fits(page);
      }
      await page.setViewportSize({ width: 1280, height: 800 }); // on a phone, a notice may cover the variants
      assert.equal(legends.size, 1, "the legend lists colours in one order");
    }
    await page.context().close();
  },
);
