// Lesson that is read from its Markdown file in docs/lessons. This module does not use the DOM, so that the page and the tests read lessons
// in the same way.
//
// A file has a title and the headings of `PARTS`, in this order. "Question" contains a question. "Predict" ends with the numbered
// predictions. "Run" has a fence with one command for each run, tagged `sh A`, `sh B`, …, after a paragraph that begins with "**A**: ". If
// a command names a file, the file is a fence tagged `python FILE` under any heading. "Result" begins with "**Answer: N.**". Its table has
// a row for each claim: a sentence, and the claim in backticks.

import { blocksOf, type Block } from "./markdown";

export const PARTS = ["Question", "Predict", "Change", "Run", "Result", "Why", "Next"] as const;
export type Heading = (typeof PARTS)[number];

export interface Lesson {
  /** Name of the file without its ending, such as `3-discount`. */
  name: string;
  title: string;
  /** Last question below the heading Question. */
  asks: string;
  room: string;
  /** Blocks below each heading, without the blocks that the other fields contain. */
  parts: Record<Heading, Block[]>;
  predictions: string[];
  /** Index of the prediction that comes true. */
  answer: number;
  runs: Run[];
  claims: Claim[];
}

export type Claim = { words: string; check: string };

/** A command of the program, split into its options. */
interface Command {
  command: string;
  room: string;
  /** Name of the variant; undefined for the room's first. */
  variant: string | undefined;
  seed: number;
  knobs: Record<string, number | string>;
  changes: { iteration: number; knob: string; value: number | string }[];
  /** Value of the first counter at which the run ends. */
  steps: number;
  /** Python file of the environment; undefined for a built-in environment. */
  world: { name: string; text: string } | undefined;
}

export interface Run extends Command {
  /** Letter of the run: `A`, `B`, … */
  name: string;
  /** Sentence that describes the run, before its command. */
  words: string;
}

/** Reads the file of a lesson. Throws an error if a part is missing or out of place. */
export function lessonOf(name: string, text: string): Lesson {
  const faulty = (what: string): Error => new Error(`The lesson ${name} cannot be read: ${what}.`);
  const [title, ...blocks] = blocksOf(text);
  if (title?.kind !== "heading" || title.level !== 1) throw faulty("expected a title in the first line");
  const headings = blocks.filter((block) => block.kind === "heading").map(({ text }) => text);
  if (headings.join() !== PARTS.join()) throw faulty(`expected the headings ${PARTS.join(", ")}, found ${headings.join(", ")}`);
  const parts = partsOf(blocks);
  const asks = questionIn(parts.Question);
  if (!asks) throw faulty("expected a sentence with a question mark below Question");
  const predictions = parts.Predict.at(-1);
  if (predictions?.kind !== "list" || !predictions.ordered) throw faulty("expected numbered predictions at the end of Predict");
  const answer = answerOf(parts.Result[0]) - 1;
  if (!(answer in predictions.items)) throw faulty('expected "**Answer: N.**" at the beginning of Result, with the number of a prediction');
  const runs = runsOf(parts.Run, filesOf(blocks));
  if (!runs.length) throw faulty("expected a fence tagged sh A in Run");
  const claims = parts.Result.find((block) => block.kind === "table")?.rows.map(([words = "", code = ""]) => claimOf(words, code));
  if (!claims?.length) throw faulty("expected a table of claims in Result");
  parts.Predict.pop();
  return {
    ...{ name, title: title.text, asks, room: runs[0]!.room, predictions: predictions.items, answer, runs, claims },
    parts: {
      ...parts,
      Run: parts.Run.filter((block) => block.kind !== "fence" && !isAbout(block)),
      Result: parts.Result.filter((block) => block.kind !== "table"),
    },
  };
}

function partsOf(blocks: Block[]): Record<Heading, Block[]> {
  const parts = Object.fromEntries(PARTS.map((part): [Heading, Block[]] => [part, []])) as Record<Heading, Block[]>;
  let part: Heading = PARTS[0];
  for (const block of blocks) {
    if (block.kind === "heading") part = block.text as Heading;
    else parts[part].push(block);
  }
  return parts;
}

/** Returns the last question in the paragraphs of `blocks`; undefined if there is none. */
function questionIn(blocks: Block[]): string | undefined {
  const sentences = blocks.flatMap((block) => (block.kind === "paragraph" ? block.text.split(/(?<=[.?!])\s+/) : []));
  return sentences.findLast((sentence) => sentence.endsWith("?"));
}

const answerOf = (block: Block | undefined): number =>
  block?.kind === "paragraph" ? Number(/^\*\*Answer: (\d)\.\*\*/.exec(block.text)?.[1]) : NaN;

const claimOf = (words: string, code: string): Claim => ({ words, check: code.replaceAll("`", "") });

const ABOUT = /^\*\*([A-Z])\*\*: /;
const isAbout = (block: Block): boolean => block.kind === "paragraph" && ABOUT.test(block.text);

/** Returns the texts of the files in the fences, by name. */
function filesOf(blocks: Block[]): Map<string, string> {
  const fences = blocks.filter((block) => block.kind === "fence");
  return new Map(fences.filter(({ tag }) => tag.startsWith("python ")).map(({ tag, text }) => [tag.slice(7), `${text}\n`]));
}

/** Reads the commands in the blocks of "Run". `files` contains the Python files that the commands may name. */
function runsOf(blocks: Block[], files: Map<string, string>): Run[] {
  const fences = blocks.filter((block) => block.kind === "fence");
  return fences.flatMap(({ tag, text }) => {
    const name = /^sh ([A-Z])$/.exec(tag)?.[1];
    const about = blocks.find((block) => block.kind === "paragraph" && ABOUT.exec(block.text)?.[1] === name);
    const words = about?.kind === "paragraph" ? about.text.replace(ABOUT, "") : "";
    return name ? [{ name, words, ...runOf(text, files) }] : [];
  });
}

const PLAIN = { room: "", variant: undefined, seed: 1, steps: 0, world: undefined };

/** Reads a command `hothouse train ROOM …`. */
function runOf(command: string, files: Map<string, string>): Command {
  const faulty = (what: string): Error => new Error(`The command '${command}' cannot be read: ${what}.`);
  const [program, verb, room = "", ...rest] = command.trim().split(/\s+/);
  if (program !== "hothouse" || verb !== "train") throw faulty("expected hothouse train");
  const run: Command = { ...PLAIN, room, command, knobs: {}, changes: [] };
  for (let k = 0; k < rest.length; k += 2) {
    const [option, value = ""] = [rest[k], rest[k + 1]];
    const [, iteration, knob = "", given = ""] = /^(?:(\d+):)?(\w+)=(.+)$/.exec(value) ?? [];
    if (option === "--variant") run.variant = value;
    else if (option === "--seed") run.seed = Number(value);
    else if (option === "--steps") run.steps = Number(value);
    else if (option === "--set" && knob) run.knobs[knob] = numberOrText(given);
    else if (option === "--at" && iteration) run.changes.push({ iteration: Number(iteration), knob, value: numberOrText(given) });
    else if (option === "--world" && files.has(value)) run.world = { name: value, text: files.get(value)! };
    else throw faulty(`the page does not know '${option} ${value}'`);
  }
  if (!(run.steps > 0)) throw faulty("expected --steps");
  return run;
}

const numberOrText = (text: string): number | string => (Number.isFinite(Number(text)) ? Number(text) : text);
