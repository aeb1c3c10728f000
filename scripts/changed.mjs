// What a change affects: the crates, the test files of the page, and the parts of `npm test`. `npm test -- --changed` runs only these.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { ROOMS } from "./rooms.mjs";
import { ask, root, Trouble } from "./sh.mjs";

/**
 * Returns the paths of the files that differ from a commit: committed, uncommitted and new files. Without `since`, the commit is the one
 * from which the branch left its upstream, or the latest commit.
 */
export async function changedFiles(since) {
  const git = (...args) => ask("git", ["-C", root, ...args]);
  const upstream = since ?? (await git("rev-parse", "--verify", "-q", "@{upstream}"));
  const base = upstream ? await git("merge-base", "HEAD", upstream) : "HEAD";
  const differing = base && (await git("diff", "--name-only", base));
  if (differing === null || !base)
    throw new Trouble(`git knows no commit ${since ?? "HEAD"}`, "name a commit that git log shows: npm test -- --changed --since COMMIT");
  const fresh = await git("ls-files", "--others", "--exclude-standard");
  return [...new Set(`${differing}\n${fresh}`.split("\n").filter(Boolean))].sort();
}

/** Returns the crates of the workspace as `[name, names of the workspace's crates that it uses]`, and the folder of each. */
async function workspace() {
  const { packages } = JSON.parse(await ask("cargo", ["metadata", "--no-deps", "--format-version", "1"]));
  const folderOf = ({ manifest_path }) =>
    manifest_path
      .slice(root.length + 1)
      .replace(/[\\/]Cargo\.toml$/, "")
      .replaceAll("\\", "/");
  return packages.map((one) => ({
    name: one.name,
    folder: folderOf(one),
    uses: one.dependencies.filter(({ path }) => path).map(({ name }) => name),
  }));
}

/** Returns the given crates and all crates that use them, directly or through others. */
function withUsers(crates, names) {
  const all = new Set(names);
  for (let size = -1; size !== all.size; ) {
    size = all.size;
    for (const { name, uses } of crates) if (uses.some((used) => all.has(used))) all.add(name);
  }
  return [...all];
}

/** Test files of the page for a folder of `www`. A change of another folder of `www` affects all test files. */
const COVERED = [
  [/^www\/samples\//, ["samples", "own"]],
  [/^www\/gallery\/|^gallery\//, ["gallery"]],
  [/^www\/lessons\/|^docs\/lessons\//, ["lessons"]],
  [/^www\/(embed|element)\/|^embed\.html$/, ["embed", "element", "examples"]],
  [/^www\/rooms\/control\/own\//, ["own", "files"]],
  ...ROOMS.map((room) => [new RegExp(`^www/rooms/${room}/`), [room, "layout"]]),
];
const FOLDERS = ["www", "gallery", "docs/lessons", "tests/web", "tests/parity", "tests/samples", "scripts", "examples"];
const FILES = /^(index|embed)\.html$|^(package|package-lock|tsconfig|vite\.config)\b/;
const isOfPage = (path) => FILES.test(path) || FOLDERS.some((folder) => path.startsWith(`${folder}/`));
const EVERY_CRATE = /^(Cargo\.(toml|lock)|rust-toolchain.*|\.cargo\/.*|tests\/golden\/.*)$/;

const testFiles = () => readdirSync(join(root, "tests/web")).filter((file) => file.endsWith(".test.mjs"));

/** Returns the names of the page's test files that a changed file affects. */
function pagesOf(path) {
  if (!isOfPage(path)) return [];
  const name = basename(path);
  if (/^tests\/web\/.*\.test\.mjs$/.test(path)) return [name];
  const covered = COVERED.find(([folder]) => folder.test(path));
  return covered ? covered[1].map((one) => `${one}.test.mjs`).filter((file) => testFiles().includes(file)) : testFiles();
}

/**
 * Returns what the files affect: `{ crates, pages, parts }`. `pages` lists test files of the page. If a crate of the page's module changes,
 * all of them are affected.
 */
export async function affected(files) {
  const all = await workspace();
  const crates = new Set();
  for (const path of files) {
    if (EVERY_CRATE.test(path)) for (const { name } of all) crates.add(name);
    const own = all.find(({ folder }) => path.startsWith(`${folder}/`));
    if (!own) continue;
    const inner = path.slice(own.folder.length + 1);
    // No other crate uses a crate's tests or its Python sources.
    const users = /^(tests|python)\//.test(inner) ? [own.name] : withUsers(all, [own.name]);
    for (const name of users) crates.add(name);
  }
  const inModule = crates.has("web");
  const pages = inModule ? testFiles() : [...new Set(files.flatMap(pagesOf))].sort();
  const touches = (pattern) => files.some((path) => pattern.test(path));
  const parts = ["format", "types", "lints"];
  if (crates.has("cli") || touches(/\.md$|^scripts\/|^tests\/docs\//)) parts.push("docs");
  if (crates.size) parts.push("native");
  if (crates.has("python") || touches(/^tests\/python\/|^crates\/python\//)) parts.push("python");
  if (pages.length) parts.push("page");
  return { crates: [...crates].sort(), pages, parts };
}
