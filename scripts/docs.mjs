// Checks the documents (*.md): links, names in backticks, number of words, and commands. `tests/docs/docs.test.mjs` calls the checks.
//
// Each line of a fence tagged `sh run` and each fence tagged `python run` is executed, in the order of the document and in one temporary
// folder. Lines of other `sh` fences and commands in backticks must name existing commands, options and files.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join, normalize } from "node:path";
import { ask, root } from "./sh.mjs";
import { target } from "./native.mjs";

/** Maximum number of words in a document. A word is a token that contains a letter; code and tables count. */
export const LIMITS = { "README.md": 600, "ARCHITECTURE.md": 2000 };
/** Paths of the documents in which names in backticks and commands are checked. */
const NAMING = /^(README|ARCHITECTURE|CONTRIBUTING)\.md$|^gallery\/|^docs\/|^crates\/python\/README\.md$/;
/** Paths that occur in the documents but belong to other repositories. */
const ELSEWHERE = ["docs/OPTIMIZATION_PLAN.md"];
const SOURCE = /\.(rs|wgsl|ts|mjs|py|pyi|toml|html|yml|json)$/;
/** Time limit of an executed example. */
const LIMIT_MS = 60_000;

const executable = process.platform === "win32" ? "hothouse.exe" : "hothouse";
const folderOfProgram = join(target, "release");

export const read = (path) => readFileSync(join(root, path), "utf8");
export const hasPython = () => spawnSync("python3", ["--version"]).status === 0;
export const hasProgram = () => existsSync(join(folderOfProgram, executable));

/** Returns the paths of the repository's files, including uncommitted ones. */
export async function files() {
  const listed = await ask("git", ["-C", root, "ls-files", "-co", "--exclude-standard"]);
  return listed.split("\n").filter((path) => existsSync(join(root, path)));
}

export const documents = (paths) => paths.filter((path) => path.endsWith(".md"));
export const naming = (paths) => documents(paths).filter((path) => NAMING.test(path));

/**
 * Splits a document into lines `{ number, text, fence }`. `fence` is the tag of the code fence around the line, or null outside a fence.
 */
export function lines(text) {
  let fence = null;
  return text.split("\n").flatMap((line, k) => {
    const mark = line.match(/^\s*```+\s*(.*)$/);
    if (mark) {
      fence = fence === null ? mark[1].trim() : null;
      return [];
    }
    return [{ number: k + 1, text: line, fence }];
  });
}

const prose = (text) => lines(text).filter(({ fence }) => fence === null);

/** Returns the anchors of a document's headings, in GitHub's form. */
export function anchors(text) {
  const seen = {};
  const headings = prose(text).flatMap(({ text }) => text.match(/^#{1,6}\s+(.+?)\s*#*$/)?.[1] ?? []);
  return headings.map((heading) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    const before = seen[anchor] ?? 0;
    seen[anchor] = before + 1;
    return before ? `${anchor}-${before}` : anchor;
  });
}

const LINKS = [/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g, /^\s*\[[^\]]+\]:\s+(\S+)/g, /\b(?:href|src|srcset)="([^"\s]+)"/g];

/**
 * Returns the faults of a document's relative links: links to a missing file or a missing heading. `textOf` returns the text of a file of
 * the repository, or undefined.
 */
export function linkFaults(path, text, textOf) {
  return prose(text).flatMap(({ number, text: line }) => {
    const plain = line.replace(/`[^`]*`/g, (code) => (code.includes("](") ? "" : code));
    const targets = LINKS.flatMap((pattern) => [...plain.matchAll(pattern)].map(([, to]) => to));
    return targets.flatMap((to) => {
      if (/^[a-z][a-z0-9+.-]*:/i.test(to)) return [];
      const [file, anchor] = to.split("#");
      const found = file
        ? normalize(join(dirname(path), decodeURIComponent(file)))
            .replaceAll("\\", "/")
            .replace(/\/$/, "")
        : path;
      const there = textOf(found);
      if (there === undefined) return [`${path}:${number}: the link ${to} leads to no file`];
      const lost = anchor !== undefined && found.endsWith(".md") && !anchors(there).includes(anchor);
      return lost ? [`${path}:${number}: ${found} has no heading #${anchor}`] : [];
    });
  });
}

export const wordCount = (text) => text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length;

export function limitFaults(path, text) {
  const words = wordCount(text);
  return words > (LIMITS[path] ?? Infinity) ? [`${path} has ${words} words; ${LIMITS[path]} at most`] : [];
}

/** Collects the facts about the repository that the checks need. `parts` are the parts of `npm test`. */
export async function facts(parts) {
  const paths = await files();
  const sources = paths.filter((path) => SOURCE.test(path) && !path.startsWith("tests/docs/"));
  const packages = {};
  for (const path of paths.filter((path) => path.endsWith("Cargo.toml"))) {
    const name = read(path).match(/^\[package\]\s*\nname = "([^"]+)"/m)?.[1];
    if (name) packages[name] = dirname(path);
  }
  return {
    paths,
    packages,
    parts: Object.keys(parts),
    scripts: JSON.parse(read("package.json")).scripts,
    words: new Set(sources.flatMap((path) => (read(path).match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []).flatMap((name) => [name, snake(name)]))),
  };
}

/** Converts a name as serde does: `ClosedOutput` to `closed_output`. */
const snake = (name) => name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** Converts a path with placeholders, such as `docs/<name>.md`, `src/NAME` or `docs/*.md`, to a regular expression. */
const pathPattern = (name) =>
  name
    .split(/<[^>]*>|\*+|(?<![\w])[A-Z]{2,}(?![\w.])/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^/]*");

/**
 * Returns true if the file or folder exists, and false if it does not exist. Returns undefined if the name is not a path of this
 * repository.
 */
export function pathExists(name, { paths }) {
  const plain = name
    .replace(/^\.\//, "")
    .replace(/:\d+(-\d+)?$/, "")
    .replace(/\/$/, "");
  if (ELSEWHERE.includes(plain)) return undefined;
  const [first] = plain.split("/");
  const within = plain.includes("/") && [first, `crates/${first}`].find((folder) => paths.some((path) => path.startsWith(`${folder}/`)));
  const alone = /^[\w-]+\.(rs|mjs|ts|wgsl)$|^[A-Z][\w-]*\.(md|toml|cff)$/.test(plain);
  if (!within && !alone) return undefined;
  const pattern = new RegExp(alone ? `(^|/)${pathPattern(plain)}$` : `^(crates/)?${pathPattern(plain)}(/|$)`);
  return paths.some((path) => pattern.test(path));
}

/**
 * Returns the faults of a name in backticks: a missing file, or a name that no source contains. A name without a slash or a file extension
 * is checked only if it is compound, such as `two_words`, `TwoWords` and `a::b`.
 */
export function nameFaults(name, known) {
  if (/^[\w.<>*@-]+(\/[\w.<>*@-]*)*(:\d+(-\d+)?)?$/.test(name) && pathExists(name, known) === false) return [`there is no file ${name}`];
  const compound = /^[a-z][a-z0-9]*(_[a-z0-9]+)+$|^([A-Z][a-z0-9]+){2,}$/;
  const names = /^\w+(::\w+)+$/.test(name) ? name.split("::") : compound.test(name) ? [name] : [];
  return names.filter((part) => !known.words.has(part)).map((part) => `no source names ${part}`);
}

/** Splits a command into words without their quotes. The words end at the first pipe, redirection, `&&`, `;` or comment. */
export function commandWords(command) {
  const words = command.match(/"[^"]*"|'[^']*'|[^\s"']+(?:"[^"]*"|'[^']*'|[^\s"'])*/g) ?? [];
  const end = words.findIndex((word) => /^(#|\||>|<|&&|;)/.test(word));
  return (end < 0 ? words : words.slice(0, end)).map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
}

/**
 * Returns the faults of a command: paths, subcommands and options that do not exist. `help` is the same function as in `programFaults`. For
 * other programs, only paths are checked.
 */
export function commandFaults(command, known, help) {
  const words = commandWords(command).filter((word) => !/^[A-Z_]+=/.test(word));
  const [program, ...rest] = words;
  const lost = words.filter((word) => pathExists(word.replace(/[,;]$/, ""), known) === false).map((path) => `there is no file ${path}`);
  if (program === "hothouse") return programFaults(rest, help);
  // Some cells of tables contain several commands, without the name of the program.
  if (["train", "eval"].includes(program)) return programFaults(firstOf(words), help);
  if (program === "npm") return [...lost, ...npmFaults(rest, known)];
  if (program === "cargo")
    return rest[0] === "run" && !rest.includes("-p") ? programFaults(after(rest), help) : [...lost, ...cargoFaults(rest, known)];
  if (program === "python" && rest[0] === "-m" && rest[1]?.startsWith("hothouse")) return moduleFaults(rest.slice(1), known);
  return lost;
}

/** Returns the words of the first command in a cell. The command ends at the first word that ends with a comma or a semicolon. */
const firstOf = (words) => {
  const last = words.findIndex((word) => /[,;]$/.test(word));
  return last < 0 ? words : [...words.slice(0, last), words[last].slice(0, -1)];
};
const after = (words) => (words.includes("--") ? words.slice(words.indexOf("--") + 1) : []);
const flagsOf = (words) => words.filter((word) => /^--[a-z]/.test(word)).map((word) => word.split("=")[0]);

/**
 * Returns the faults of a command of `hothouse`. `help(words)` returns the `--help` text of a subcommand, or undefined if the program is
 * not built.
 */
export function programFaults(words, help) {
  let path = [];
  let text = help(path);
  if (text === undefined) return [];
  for (const word of words.slice(0, 2)) {
    const commands = subcommands(text);
    if (!/^[a-z]+$/.test(word) || !commands.length) break;
    if (commands.includes(word)) text = help((path = [...path, word]));
    else if (!path.length) return [`hothouse has no command '${word}'`];
    else break;
  }
  const known = new Set(text.match(/--[a-z][a-z-]*/g));
  return flagsOf(words)
    .filter((flag) => !known.has(flag))
    .map((flag) => `hothouse ${[...path, ""].join(" ")}has no option ${flag}`);
}

/** Returns the names under "Commands:" in a help text. */
export function subcommands(text) {
  const section = text.split(/^Commands:\n/m)[1]?.split(/\n\n|^\S/m)[0] ?? "";
  return [...section.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
}

const helps = new Map();
/** Returns the `--help` text of a command, from the last build of the program; undefined without a build. */
export function help(words) {
  if (!hasProgram()) return undefined;
  const key = words.join(" ");
  if (!helps.has(key)) helps.set(key, spawnSync(join(folderOfProgram, executable), [...words, "--help"], { encoding: "utf8" }).stdout);
  return helps.get(key);
}

function npmFaults([verb, ...words], { scripts, parts }) {
  const name = verb === "run" ? words[0] : verb;
  if (!["run", "test", "start"].includes(verb) || !name) return [];
  if (!(name in scripts)) return [`package.json has no script ${name}`];
  const only = words[words.indexOf("--only") + 1];
  const lost =
    name === "test" && words.includes("--only") ? only.split(",").filter((part) => /^[a-z]+$/.test(part) && !parts.includes(part)) : [];
  const script = read(scripts[name].split(" ")[1]);
  const flags = flagsOf(after(words)).filter((flag) => !new RegExp(`\\b${flag.slice(2)}\\b`).test(script));
  return [...lost.map((part) => `npm test has no part ${part}`), ...flags.map((flag) => `${scripts[name]} has no option ${flag}`)];
}

/** Returns the values of an option. Omits placeholders in capitals, as in `-p CRATE`. */
const option = (words, name) => words.flatMap((word, k) => (word === name && /[a-z]/.test(words[k + 1] ?? "") ? [words[k + 1]] : []));

/** Returns the faults of a cargo command: unknown packages, targets and test names. */
function cargoFaults(words, { packages, paths }) {
  const chosen = option(words, "-p");
  const lost = chosen.filter((name) => !(name in packages)).map((name) => `there is no package ${name}`);
  if (lost.length || !["test", "run", "bench"].includes(words[0])) return lost;
  const folders = (chosen.length ? chosen : Object.keys(packages)).map((name) => packages[name]);
  const tests = option(words, "--test").filter(
    (name) => !folders.some((at) => paths.some((path) => path.startsWith(`${at}/tests/${name}`))),
  );
  const examples = option(words, "--example").filter(
    (name) => !folders.some((at) => paths.includes(`${at}/examples/${name}.rs`) || read(`${at}/Cargo.toml`).includes(`name = "${name}"`)),
  );
  const missing = [...tests.map((name) => `there is no test target ${name}`), ...examples.map((name) => `there is no example ${name}`)];
  if (words[0] !== "test") return missing;
  const valued = ["-p", "--test", "--example", "--features", "--bin"];
  const filters = words.slice(1).filter((word, k) => !word.startsWith("-") && !valued.includes(words[k]));
  const sources = paths.filter((path) => path.endsWith(".rs") && folders.some((at) => path.startsWith(`${at}/`)));
  const text = sources
    .map((path) => `${path}\n${[...read(path).matchAll(/\b(?:fn|mod) (\w+)/g)].map(([, name]) => name).join("\n")}`)
    .join("\n");
  const none = filters.filter((filter) =>
    filter.split("::").some((part) => /[a-z]/.test(part) && /^\w*$/.test(part) && !text.includes(part)),
  );
  return [...missing, ...none.map((filter) => `no test is called ${filter}`)];
}

function moduleFaults([module, ...words], { paths }) {
  const at = `crates/python/python/${module.replaceAll(".", "/")}`;
  const file = [`${at}/__main__.py`, `${at}.py`].find((path) => paths.includes(path));
  if (!file) return [`there is no module ${module}`];
  const text = read(file);
  return flagsOf(words)
    .filter((flag) => !text.includes(`"${flag}"`))
    .map((flag) => `${module} has no option ${flag}`);
}

/**
 * Returns the commands in the `sh` fences of a document, as `{ number, command, tag }`. A line that ends in `\` is joined with the next
 * line.
 */
export function commands(text) {
  const found = [];
  for (const { number, text: line, fence } of lines(text)) {
    if (!/^sh\b/.test(fence ?? "") || !line.trim() || line.trim().startsWith("#")) continue;
    const last = found.at(-1);
    if (last?.command.endsWith("\\")) last.command = `${last.command.slice(0, -1)} ${line.trim()}`;
    else found.push({ number, command: line.trim(), tag: fence });
  }
  return found;
}

/** Returns the faults of a document's names and commands, in backticks and in `sh` fences. */
export function documentFaults(path, text, known, help) {
  const at = (number, reasons) => reasons.map((reason) => `${path}:${number}: ${reason}`);
  const spans = prose(text).flatMap(({ number, text: line }) => {
    const names = [...line.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    return at(
      number,
      names.flatMap((name) => (name.includes(" ") ? commandFaults(name, known, help) : nameFaults(name, known))),
    );
  });
  const fenced = commands(text).flatMap(({ number, command }) => at(number, commandFaults(command, known, help)));
  const indented = prose(text).filter(({ text }) => /^( {4}|\t)(hothouse|cargo run --release --) /.test(text));
  return [...spans, ...fenced, ...indented.flatMap(({ number }) => at(number, ["put this command into a fence tagged sh"]))];
}

/**
 * Returns the executable examples in order, as `{ number, language, code }`. An example is a line of a fence `sh run`, or a whole fence
 * `python run`.
 */
export function runnable(text) {
  const shell = commands(text).filter(({ tag }) => tag === "sh run");
  const python = [];
  for (const { number, text: line, fence } of lines(text)) {
    if (fence !== "python run") continue;
    const last = python.at(-1);
    if (last && last.end === number - 1) Object.assign(last, { end: number, code: `${last.code}\n${line}` });
    else python.push({ number, language: "python", code: line, end: number });
  }
  const all = [...shell.map(({ number, command }) => ({ number, language: "sh", code: command })), ...python];
  return all.sort((a, b) => a.number - b.number);
}

/** Executes an example in `folder` with the last build of the program; returns the reason of a failure, or null. */
export function execute({ language, code }, folder) {
  const line = code.replace(/\bcargo run --release -- /g, "hothouse ");
  const [program, args] = language === "sh" ? ["bash", ["-c", `set -o pipefail; ${line}`]] : ["python3", ["-c", code]];
  const env = { ...process.env, XDG_CACHE_HOME: join(folder, "cache"), PATH: `${folderOfProgram}${delimiter}${process.env.PATH}` };
  const done = spawnSync(program, args, { cwd: folder, env, encoding: "utf8", timeout: LIMIT_MS, stdio: ["ignore", "pipe", "pipe"] });
  if (done.status === 0) return null;
  const why =
    done.error?.code === "ETIMEDOUT" ? `took more than ${LIMIT_MS / 1000} s` : (done.error?.message ?? `exit status ${done.status}`);
  return `${why}\n${done.stdout ?? ""}${done.stderr ?? ""}`;
}
