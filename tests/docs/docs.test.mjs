// Tests of the documents: links, names, number of words, writing rules, and commands. `npm test -- --only docs` builds the program first.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as docs from "../../scripts/docs.mjs";
import { root } from "../../scripts/sh.mjs";
import { parts } from "../../scripts/parts.mjs";
import { chunksOf, container } from "../../scripts/webp.mjs";
import { orphans } from "../../scripts/tiers.mjs";
import { wordFaults } from "../../scripts/words.mjs";

const paths = await docs.files();
const known = await docs.facts(parts);
const textOf = (path) => {
  if (paths.includes(path)) return docs.read(path);
  return path === "." || paths.some((other) => other.startsWith(`${path}/`)) ? "" : undefined;
};
const none = (faults) => assert.ok(!faults.length, `\n${faults.join("\n")}`);
const unbuilt = !docs.hasProgram() && "the program is not built; npm test -- --only docs builds it";
const skips = { sh: unbuilt, python: unbuilt || (!docs.hasPython() && "there is no python3; install it") };

test("links lead to files and headings", () => {
  none(docs.documents(paths).flatMap((path) => docs.linkFaults(path, docs.read(path), textOf)));
});

test("names and commands of the documents exist", () => {
  none(docs.naming(paths).flatMap((path) => docs.documentFaults(path, docs.read(path), known, docs.help)));
});

test("documents keep their word limits", () => {
  none(Object.keys(docs.LIMITS).flatMap((path) => docs.limitFaults(path, docs.read(path))));
});

test("a version has a date only if it is released, and only packages of a release are installed by name", () => {
  const { version } = JSON.parse(docs.read("package.json"));
  const cited = docs.read("CITATION.cff");
  const date = cited.match(/^date-released: (.*)$/m)?.[1];
  assert.equal(cited.match(/^version: (.*)$/m)[1], version);
  assert.equal(docs.read("Cargo.toml").match(/^version = "(.*)"$/m)[1], version);
  const heading = docs.read("CHANGELOG.md").match(new RegExp(`^## \\[?${version.replaceAll(".", "\\.")}\\b.*$`, "m"))[0];
  assert.match(heading, new RegExp(`${date ?? "not released"}$`));
  const texts = paths.filter((path) => /\.(md|ts|py)$/.test(path)).map((path) => [path, docs.read(path)]);
  const having = (pattern) => texts.filter(([, text]) => pattern.test(text)).map(([path]) => path);
  assert.deepEqual(having(/\bOWNER\b/), [], "a placeholder");
  if (!date) {
    assert.deepEqual(having(/(pip|npm) install '?hothouse-rl/), []);
    assert.deepEqual(having(/not yet published/i), ["README.md"]);
  }
});

test("the pictures of README have together less than 1 MB", () => {
  const pictures = new Set(docs.read("README.md").match(/docs\/pictures\/[\w-]+\.jpg/g));
  const bytes = [...pictures].reduce((sum, path) => sum + statSync(join(root, path)).size, 0);
  assert.ok(pictures.size === 10 && bytes < 1_000_000, `${pictures.size} pictures, ${bytes} bytes`);
});

test("README's moving picture is an animation of less than 1.5 MB", () => {
  const [path] = docs.read("README.md").match(/docs\/pictures\/[\w-]+\.webp/);
  const file = readFileSync(join(root, path));
  assert.ok(file.length < 1_500_000, `${file.length} bytes`);
  const frames = chunksOf(file).filter(({ name }) => name === "ANMF");
  const seconds = frames.reduce((sum, { body }) => sum + body.readUIntLE(12, 3), 0) / 1000;
  assert.ok(frames.length > 30 && seconds > 5 && seconds < 30, `${frames.length} frames in ${seconds} s`);
});

test("an animation contains the compressed pixels, the place and the time of each frame", () => {
  const picture = (name, body) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length);
    return Buffer.concat([Buffer.from("RIFF....WEBP"), Buffer.from(name), length, body, Buffer.alloc(body.length % 2)]);
  };
  const frames = [
    { x: 0, y: 0, width: 300, height: 20, ms: 125, data: picture("VP8 ", Buffer.from([1, 2, 3])) },
    { x: 258, y: 4, width: 10, height: 6, ms: 70_000, data: picture("VP8L", Buffer.from([4, 5])) },
  ];
  const file = container(300, 20, frames);
  assert.equal(file.readUInt32LE(4), file.length - 8);
  const [header, repeats, ...rest] = chunksOf(file);
  assert.deepEqual([header.name, header.body[0], header.body.readUIntLE(4, 3), header.body.readUIntLE(7, 3)], ["VP8X", 2, 299, 19]);
  assert.deepEqual([repeats.name, repeats.body.readUInt16LE(4)], ["ANIM", 0]);
  const read = rest.map(({ name, body }) => {
    const [x, y, width, height, ms] = [0, 3, 6, 9, 12].map((at) => body.readUIntLE(at, 3));
    const [pixels] = chunksOf(Buffer.concat([Buffer.alloc(12), body.subarray(16)]));
    return [name, 2 * x, 2 * y, width + 1, height + 1, ms, pixels.name, [...pixels.body]];
  });
  assert.deepEqual(read, [
    ["ANMF", 0, 0, 300, 20, 125, "VP8 ", [1, 2, 3]],
    ["ANMF", 258, 4, 10, 6, 70_000, "VP8L", [4, 5]],
  ]);
});

test("each test that only --all runs names a cheaper test", () => {
  none(orphans().map(({ file, name, cheaper }) => `${file}: ${name}: no test is called '${cheaper}'`));
});

test("texts keep the writing rules", async () => none(await wordFaults()));

for (const path of docs.naming(paths)) {
  const examples = docs.runnable(docs.read(path));
  if (!examples.length) continue;
  const folder = mkdtempSync(join(tmpdir(), "hothouse-docs-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const example of examples)
    test(`${path}:${example.number} runs: ${example.code.split("\n")[0]}`, { skip: skips[example.language] }, () => {
      assert.equal(docs.execute(example, folder), null);
    });
}

test("links to missing files and headings are faults", () => {
  const text =
    '# A b\n## A b\n[x](#a-b-1) [y](#a-b-2) [z](b.md#top) [d](folder/) `[n](no.md)`\n```text\n[m](no.md)\n```\n<img src="no.png">\n';
  const faults = docs.linkFaults("docs/a.md", text, (path) => ({ "docs/a.md": text, "docs/b.md": "# Top", "docs/folder": "" })[path]);
  assert.deepEqual(faults, ["docs/a.md:3: docs/a.md has no heading #a-b-2", "docs/a.md:7: the link no.png leads to no file"]);
});

test("anchors are those of GitHub", () => {
  assert.deepEqual(docs.anchors("# `hothouse` & more\n## DLPack (no copies)\n## [L](x) two_words\n"), [
    "hothouse--more",
    "dlpack-no-copies",
    "l-two_words",
  ]);
});

test("missing files, tests, scripts, options and names are faults", () => {
  const help = (words) =>
    words.length ? "Usage: hothouse train\n  --seed N" : "Usage\n\nCommands:\n  train  Trains\n  help   Help\n\nOptions:\n  --seed N\n";
  const reasons = (text) => docs.documentFaults("x.md", text, known, help).map((fault) => fault.replace(/^x\.md:\d+: /, ""));
  none(reasons("`scripts/docs.mjs`, `crates/run`, `run/src/lib.rs:3`, `docs/<name>.md`, `wordFaults`, `docs.mjs`, `hothouse/CartPole-v1`"));
  none(
    reasons(
      "`npm test -- --only docs`, `cargo test --release -p run --test run a_link`, `hothouse train --seed 1`, `node scripts/docs.mjs`",
    ),
  );
  assert.deepEqual(reasons("`scripts/none.mjs` `none.rs` `NoSuchName` `no_such_name` `math::no_such`"), [
    "there is no file scripts/none.mjs",
    "there is no file none.rs",
    "no source names NoSuchName",
    "no source names no_such_name",
    "no source names no_such",
  ]);
  assert.deepEqual(reasons("`npm run none` `npm test -- --only none` `npm start -- --none`"), [
    "package.json has no script none",
    "npm test has no part none",
    "node scripts/start.mjs has no option --none",
  ]);
  assert.deepEqual(reasons("`cargo test -p none` `cargo test -p run --test none` `cargo test -p run no_test_has_it`"), [
    "there is no package none",
    "there is no test target none",
    "no test is called no_test_has_it",
  ]);
  assert.deepEqual(reasons("```sh\nhothouse none\ncargo run --release -- train --none  # why\n```\n    hothouse train --seed 1\n"), [
    "hothouse has no command 'none'",
    "hothouse train has no option --none",
    "put this command into a fence tagged sh",
  ]);
  // Commands in a table omit the program's name.
  none(reasons("| `train control --seed 1; eval control --none` |"));
  assert.deepEqual(reasons("| `train control --none, seeds 1 to 5` |"), ["hothouse train has no option --none"]);
});

test("only marked fences run, line by line", () => {
  const text = "```sh\na\n```\n```sh run\nb \\\n  c\n# d\ne\n```\n```python run\nf\n\ng\n```\n```python\nh\n```\n";
  assert.deepEqual(
    docs.runnable(text).map(({ code }) => code),
    ["b  c", "e", "f\n\ng"],
  );
});

test("a failing command gives its output", { skip: process.platform === "win32" }, () => {
  assert.match(docs.execute({ language: "sh", code: "echo reason >&2; false | cat" }, tmpdir()), /exit status 1\nreason/);
  assert.equal(docs.execute({ language: "sh", code: "true" }, tmpdir()), null);
});
