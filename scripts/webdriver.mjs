// Drives Firefox and WebKitGTK by WebDriver commands. Firefox receives them through its own socket (Marionette), WebKitGTK through a driver
// process over HTTP. (Playwright drives Chromium, see scripts/browser.mjs.)
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";

const START_MS = 60_000;
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

/** Commands of a session by short name: Marionette's name, then HTTP method and path. */
const COMMANDS = {
  go: ["Navigate", "POST", "url"],
  reload: ["Refresh", "POST", "refresh"],
  script: ["ExecuteAsyncScript", "POST", "execute/async"],
  click: ["ElementClick", "POST", "element/{id}/click"],
  keys: ["ElementSendKeys", "POST", "element/{id}/value"],
  act: ["PerformActions", "POST", "actions"],
  picture: ["TakeScreenshot", "GET", "screenshot"],
  timeouts: ["SetTimeouts", "POST", "timeouts"],
  size: ["SetWindowRect", "POST", "window/rect"],
};

/** Calls `made` until it returns a truthy result. Throws if the process ends or after `START_MS`. */
async function soon(what, child, made) {
  for (const began = performance.now(); performance.now() - began < START_MS; ) {
    const found = await made();
    if (found) return found;
    if (child.exitCode !== null || child.signalCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not start: ${child.said.trim().slice(-2000) || `nothing within ${START_MS / 1000} s`}`);
}

/** Starts a process and records its output as `said`. `close` ends the process and its children. */
function started(command, args, env) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
  child.said = "";
  child.on("error", (error) => (child.said += error.message));
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (child.said = (child.said + text).slice(-20_000)));
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.close = async () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      return; // the process has ended
    }
    await gone;
  };
  return child;
}

/** Starts a headless Firefox with a new profile. */
export async function firefox({ firefox: program }) {
  const home = mkdtempSync(join(tmpdir(), "hothouse-firefox-"));
  const profile = join(home, "profile");
  mkdirSync(profile);
  writeFileSync(join(profile, "user.js"), `user_pref("marionette.port", 0);\n`);
  const child = started(program, ["--headless", "--marionette", "--no-remote", "--profile", profile], { HOME: home });
  const close = async () => {
    await child.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const at = join(profile, "MarionetteActivePort");
    const port = await soon("Firefox", child, () => existsSync(at) && Number(readFileSync(at, "utf8")));
    const send = await marionette(port);
    const { capabilities } = await send("WebDriver:NewSession", {});
    const command = async (name, { id, ...params } = {}) => {
      const answer = await send(`WebDriver:${COMMANDS[name][0]}`, { ...params, id, ...(name === "picture" ? { full: false } : {}) });
      return answer && "value" in answer ? answer.value : answer;
    };
    return { name: "Firefox", version: capabilities.browserVersion, command, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Connects to Marionette's socket and returns a function that sends a command. Each message is its length in bytes, a colon, and JSON. */
async function marionette(port) {
  const socket = connect(port, "127.0.0.1");
  const waiting = new Map();
  const fail = () => {
    for (const { reject } of waiting.values()) reject(new Error("Firefox has ended"));
    waiting.clear();
  };
  socket.on("error", fail).on("close", fail);
  let received = Buffer.alloc(0);
  let hello;
  const ready = new Promise((resolve) => (hello = resolve));
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const colon = received.indexOf(":");
      const length = Number(received.subarray(0, Math.max(0, colon)).toString());
      if (colon < 0 || received.length < colon + 1 + length) return;
      const message = JSON.parse(received.subarray(colon + 1, colon + 1 + length).toString());
      received = received.subarray(colon + 1 + length);
      if (!Array.isArray(message)) {
        hello();
        continue;
      }
      const [, id, error, result] = message;
      const asked = waiting.get(id);
      waiting.delete(id);
      if (error) asked?.reject(new Error(`${error.error}: ${error.message}`));
      else asked?.resolve(result);
    }
  });
  await ready;
  let count = 0;
  return (name, params) =>
    new Promise((resolve, reject) => {
      const id = count++;
      waiting.set(id, { resolve, reject });
      const text = JSON.stringify([0, id, name, params]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
}

/** Starts WebKitGTK's MiniBrowser on a virtual screen. */
export async function webkit({ driver, browser, xvfb }, options = {}) {
  const home = mkdtempSync(join(tmpdir(), "hothouse-webkit-"));
  const screen = started(xvfb, ["-displayfd", "1", "-screen", "0", "1440x1000x24", "-nolisten", "tcp"]);
  let child;
  const close = async () => {
    await child?.close();
    await screen.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const display = await soon("Xvfb", screen, () => /^(\d+)$/m.exec(screen.said)?.[1]);
    const port = await freePort();
    const env = {
      DISPLAY: `:${display}`,
      HOME: home,
      XDG_CACHE_HOME: home,
      XDG_DATA_HOME: home,
      WAYLAND_DISPLAY: "",
      GDK_BACKEND: "x11",
      NO_AT_BRIDGE: "1",
      LANG: "en_US.UTF-8",
      ...options,
    };
    child = started(driver, [`--port=${port}`], env);
    const send = async (method, path, body) => {
      const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { method, body: body && JSON.stringify(body) });
      const { value } = await answer.json();
      if (value?.error) throw new Error(`${value.error}: ${value.message}`);
      return value;
    };
    await soon("WebKitWebDriver", child, () =>
      send("GET", "status").then(
        () => true,
        () => false,
      ),
    );
    const alwaysMatch = { "webkitgtk:browserOptions": { binary: browser, args: ["--automation"] } };
    const { sessionId, capabilities } = await send("POST", "session", { capabilities: { alwaysMatch } });
    const command = (name, { id, ...params } = {}) => {
      const [, method, path] = COMMANDS[name];
      return send(method, `session/${sessionId}/${path.replace("{id}", id)}`, method === "POST" ? params : undefined);
    };
    return { name: "WebKit", version: capabilities.browserVersion, command, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Adds the operations that tests need to a session: `tab(await firefox(…), limitMs)`. */
export async function tab({ name, version, command, close }, limitMs) {
  await command("timeouts", { script: limitMs, pageLoad: limitMs });
  await command("size", { width: 1280, height: 900 });
  /** Runs a function in the page and returns its result. Arguments are JSON values or elements of the page. */
  const run = async (work, ...args) => {
    const script = `const done = arguments[arguments.length - 1];
      Promise.resolve().then(() => (${work})(...[...arguments].slice(0, -1))).then(
        (value) => done(value instanceof Element ? { element: value } : { value: JSON.stringify(value ?? null) }),
        (error) => done({ error: error + "\\n" + error?.stack }),
      );`;
    const { element, value, error } = await command("script", { script, args });
    if (error) throw new Error(`${error}\nin ${work}`);
    return element ?? JSON.parse(value);
  };
  /** Calls `act` again if the page replaces an element between its selection and its use. */
  const attached = async (act) => {
    for (const began = performance.now(); ; ) {
      try {
        return await act();
      } catch (error) {
        if (!error.message.startsWith("stale element reference") || performance.now() - began > limitMs) throw error;
      }
    }
  };
  /** Waits until a function in the page returns a truthy value, and returns that value. */
  const until = async (work, ...args) => {
    for (const began = performance.now(); performance.now() - began < limitMs; ) {
      const value = await attached(() => run(work, ...args));
      if (value) return value;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`never so: ${work} ${JSON.stringify(args)}`);
  };
  /**
   * Waits until a function in the page returns a falsy value, while another document may replace the current one. The wait is necessary
   * because an engine may answer a navigation command before the replacement. Unloading interrupts a script, which then throws, so the
   * function is called again after an error.
   */
  const outlast = async (work, ...args) => {
    for (const began = performance.now(); ; ) {
      const found = await run(work, ...args).catch((error) => error);
      if (!found) return;
      if (performance.now() - began > limitMs)
        throw found instanceof Error ? found : new Error(`still so: ${work} ${JSON.stringify(args)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  /**
   * Finds the first enabled, visible element for a CSS selector and scrolls it into view. If `text` is given, the element's text or label
   * must equal it. If no matching element is visible, opens the tabs that contain the first matching element.
   */
  const find = (css, text) =>
    until(
      (css, text) => {
        const named = (one) => !text || one.textContent.trim() === text || one.getAttribute("aria-label") === text;
        const usable = (one) => !one.disabled && (one.checkVisibility() || one.type === "file");
        const all = [...document.querySelectorAll(css)].filter(named);
        for (let panel = all.some(usable) ? null : all[0]; panel; panel = panel.parentElement)
          if (panel.role === "tabpanel") document.getElementById(panel.getAttribute("aria-labelledby")).click();
        const found = all.find(usable);
        found?.scrollIntoView({ block: "center", behavior: "instant" });
        return found;
      },
      css,
      text ?? null,
    );
  return {
    name,
    version,
    close,
    run,
    until,
    /** Opens an address in place of the document. Returns when the old document is unloaded. */
    go: async (url) => {
      await command("go", { url });
      await outlast((address) => location.href.split("#")[0] !== address, url.split("#")[0]);
    },
    /** Reloads the page. Returns when the old document is unloaded. */
    reload: async () => {
      await run(() => (globalThis.isOld = true));
      await command("reload");
      await outlast(() => !!globalThis.isOld);
    },
    find,
    click: (css, text) => attached(async () => command("click", { id: (await find(css, text))[ELEMENT] })),
    keys: async (css, keys) => command("keys", { id: (await find(css))[ELEMENT], text: keys }),
    /** Holds a key, given by its WebDriver code, while `work` runs. */
    hold: async (key, work) => {
      await command("act", { actions: [{ type: "key", id: "keys", actions: [{ type: "keyDown", value: key }] }] });
      await work();
      await command("act", { actions: [{ type: "key", id: "keys", actions: [{ type: "keyUp", value: key }] }] });
    },
    /** Drags the mouse through two or more points. Each point is given as shares of the element's width and height. */
    pull: async (css, ...shares) => {
      const box = await attached(async () => run((one) => one.getBoundingClientRect(), await find(css)));
      const moves = shares.map(([x, y]) => ({
        type: "pointerMove",
        duration: 50,
        x: Math.round(box.x + x * box.width),
        y: Math.round(box.y + y * box.height),
      }));
      const [first, ...rest] = moves;
      const actions = [first, { type: "pointerDown", button: 0 }, ...rest, { type: "pointerUp", button: 0 }];
      await command("act", { actions: [{ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions }] });
    },
    /** Takes a screenshot of the window as PNG. */
    picture: async () => Buffer.from(await command("picture"), "base64"),
  };
}

/** Decodes a browser's PNG to `{ width, height, at(x, y) }`. `at` returns a pixel's red, green and blue as one number. */
export function pixels(png) {
  const [width, height, depth, colour, , , interlaced] = [png.readUInt32BE(16), png.readUInt32BE(20), ...png.subarray(24, 29)];
  const channels = { 2: 3, 6: 4 }[colour];
  if (depth !== 8 || !channels || interlaced) throw new Error(`a PNG of depth ${depth} and colour type ${colour}`);
  const parts = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const data = inflateSync(Buffer.concat(parts));
  const row = width * channels;
  const out = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (row + 1)];
    for (let x = 0; x < row; x++) {
      const left = x < channels ? 0 : out[y * row + x - channels];
      const up = y === 0 ? 0 : out[(y - 1) * row + x];
      const corner = x < channels || y === 0 ? 0 : out[(y - 1) * row + x - channels];
      // Distances of the Paeth predictor `left + up - corner` from `left`, `up` and `corner`.
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      const nearest = a <= b && a <= c ? left : b <= c ? up : corner;
      const from = filter === 0 ? 0 : filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : nearest;
      out[y * row + x] = data[y * (row + 1) + 1 + x] + from;
    }
  }
  return { width, height, at: (x, y) => out.readUIntBE((y * width + x) * channels, 3) };
}
