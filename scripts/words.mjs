// Checks the writing rules that a program can check. CONTRIBUTING.md states all rules.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ask, root } from "./sh.mjs";

/** Words of no technical meaning that often hide the subject of a sentence, each with a suggestion. */
const WORDS = [
  [/\btold\b/, "name the call: reported, sent, passed"],
  [/\bwho(m)?ever\b/, "name the caller"],
  [/\b(nobody|somebody)\b/, "name the caller, or use the passive"],
  [/\bso many\b/, "give the number or its name"],
  [/\b(comes?|came|coming) home\b/, "use 'is solved' or 'returns'"],
  [/\b(lends?|lent|lending|lender)\b/, "use 'offload' or 'borrow'"],
  [/\bobey(s|ed|ing)?\b/, "use 'dispatch' or 'follow'"],
  [/\b(bury|buries|buried)\b/, "use 'restart' or 'remove'"],
  [/\b(bring|brings|brought|bringing)\b/, "use 'pass', 'load', 'return' or 'add'"],
  [/\bby the thousand\b/, "give the number"],
  [/\bgoes on\b/, "use 'continues'"],
  [/\bstands?\b/, "use 'is' or name the state"],
  [/\bmend(s|ed|ing)?\b/, "use 'fix' or 'correct'"],
  [/\bfor want of\b/, "use 'because … is missing'"],
];

/** First words of a doc comment that start a clause. A doc comment must start with its noun or verb. */
const OPENERS = /^(what|whatever|where|wherever|who|whose|how|of|those|that|so|why|such)\b/i;

const DOC = /^\s*(?:\/\/[/!]|\/\*\*|""")\s*(\S.*)$/;
const CONTINUED = /^\s*(?:\/\/[/!]|\*)/;

/** Files that contain data, texts of other authors, or generated text. */
const EXEMPT = /(^|\/)(Cargo\.lock|package-lock\.json)$|^tests\/golden\/|^LICENSE|\/protocol\.ts$|^scripts\/words\.mjs$/;
const TEXT = /\.(rs|wgsl|ts|css|mjs|py|pyi|md|toml|html|yml|cff)$/;

/** Words from the data of other programs, by file. They are not reported. */
const FIXED = { "crates/worlds/tests/worlds/backgammon_cube.rs": "nobody" };

/** Converts a line to lower case and splits names in snake case and camel case into words. */
function plain(line) {
  return line
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
}

/** Returns the faults of one file, each as `path:line: fault`. */
export function faults(path, text) {
  const found = [];
  let doc = false;
  for (const [k, line] of text.split("\n").entries()) {
    const words = plain(line);
    for (const [pattern, advice] of WORDS) {
      const word = pattern.exec(words)?.[0];
      if (word && word !== FIXED[path]) found.push(`${path}:${k + 1}: '${word}': ${advice}`);
    }
    const opener = !doc && DOC.exec(line)?.[1].match(OPENERS)?.[0];
    if (opener) found.push(`${path}:${k + 1}: a doc comment begins with '${opener}': begin with its noun or verb`);
    doc = doc ? CONTINUED.test(line) : DOC.test(line) && !/\*\/\s*$/.test(line);
  }
  return found;
}

/** Returns the faults of the text files below `folders`. Files that git ignores are not checked. */
export async function wordFaults(folders = ["."]) {
  const paths = (await ask("git", ["-C", root, "ls-files", "-co", "--exclude-standard", "--", ...folders])).split("\n");
  return paths
    .filter((path) => TEXT.test(path) && !EXEMPT.test(path))
    .flatMap((path) => faults(path, readFileSync(join(root, path), "utf8")));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = await wordFaults(process.argv.slice(2).length ? process.argv.slice(2) : ["."]);
  console.log(found.join("\n"));
  console.log(`${found.length} faults`);
  process.exit(found.length ? 1 : 0);
}
