// Tests of the npm package with the element.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { element } from "../../scripts/element.mjs";
import { root } from "../../scripts/sh.mjs";
import { folder } from "./fixture.mjs";

const packed = join(folder(), "hothouse-rl");
const PAGE = "https://example.org/hothouse/";
await element(packed, { HOTHOUSE_PAGE: PAGE, GITHUB_REPOSITORY: "someone/hothouse" });

test("the package contains script, types, licences and nothing else, and has no dependencies", () => {
  const [{ name, version, files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: packed, encoding: "utf8" }));
  const whole = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.deepEqual([name, version], ["hothouse-rl", whole.version]);
  assert.deepEqual(files.map(({ path }) => path).sort(), [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "hothouse-room.d.ts",
    "hothouse-room.js",
    "messages.d.ts",
    "package.json",
  ]);
  const described = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
  assert.deepEqual([described.dependencies, described.peerDependencies], [undefined, undefined]);
  assert.equal(described.repository.url, "git+https://github.com/someone/hothouse.git");
  assert.ok(readFileSync(join(packed, "hothouse-room.js"), "utf8").includes(PAGE));
});

test("the types describe attributes and events", () => {
  const files = {
    "good.ts": `const one: HothouseRoom = room;
      one.link = "#/cube";
      room.addEventListener("progress", ({ detail }) => detail.iteration.toFixed() + (detail.metrics.mean_return ?? 0));
      room.addEventListener("solved", ({ detail }) => detail.goal.toFixed());
      room.addEventListener("click", () => room.pause());`,
    "bad.ts": 'room.addEventListener("progress", ({ detail }) => detail.speed);',
  };
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(packed, name);
    const head = 'import { HothouseRoom } from "./hothouse-room.js";\nconst room = document.createElement("hothouse-room");';
    writeFileSync(path, `${head}\n${text}\n`);
    return path;
  });
  const settings = ["--noEmit", "--strict", "--ignoreConfig", "--target", "es2022", "--module", "nodenext", "--types", ""];
  let said = "";
  try {
    execFileSync("npx", ["--no-install", "tsc", ...settings, ...paths], { cwd: root, encoding: "utf8" });
  } catch ({ stdout }) {
    said = stdout;
  }
  assert.match(said, /bad\.ts.*'speed' does not exist/);
  assert.doesNotMatch(said, /good\.ts/);
});

test("a server without a document can import the script", async () => {
  const { HothouseRoom } = await import(pathToFileURL(join(packed, "hothouse-room.js")));
  assert.deepEqual(HothouseRoom.observedAttributes, ["room", "variant", "link", "controls", "theme", "src"]);
});
