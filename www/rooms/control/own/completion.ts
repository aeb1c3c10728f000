// Completion of the language's names and of the file's own names. The cursor's context selects the offered names. Contexts are the body of
// the class, a function, a string with a colour or a key, and the text after `self.`.

import { localCompletionSource, pythonLanguage } from "@codemirror/lang-python";
import { syntaxTree } from "@codemirror/language";
import { snippetCompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { EditorState, Extension } from "@codemirror/state";
import { COLOURS } from "./colours";
import { ATTRIBUTES, BOX, CONSTANTS, FUNCTIONS, KEYS, METHODS, nameOf, SHAPES, type Word } from "./words";

/** Converts a word to an entry of the list of completions. */
function entry(word: Word, boost = 0): Completion {
  const { shown, about, inserts = `${nameOf(word)}(#{})` } = word;
  return snippetCompletion(inserts, { label: nameOf(word), displayLabel: shown, detail: about, boost });
}

/** Converts a method of the class to an entry. Typed text matches the entry with and without `def`. */
const definition = (word: Word): Completion => ({ ...entry(word), label: `def ${nameOf(word)}`, displayLabel: `def ${word.shown}` });
const plain = (label: string, detail = ""): Completion => ({ label, detail });

const values = [...FUNCTIONS, ...SHAPES, ...CONSTANTS].map((word) => entry(word));
const boxes = [...BOX.map((word) => entry(word, 1)), ...values];
const parts = [...METHODS.map(definition), ...ATTRIBUTES.map((word) => entry(word))];
const colours = Object.keys(COLOURS).map((name) => plain(name, "colour"));
const keys = KEYS.map(({ shown, about }) => plain(shown, about));

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Returns the first lines of the blocks that contain a position, from the innermost to the outermost. */
function blocks(state: EditorState, at: number): string[] {
  const line = state.doc.lineAt(at);
  const found: string[] = [];
  let indent = indentOf(line.text);
  for (let k = line.number - 1; k > 0 && indent > 0; k--) {
    const { text } = state.doc.line(k);
    if (!text.trim() || indentOf(text) >= indent) continue;
    indent = indentOf(text);
    found.push(text.trim());
  }
  return found;
}

/** Returns the completions after `self.`: the attributes that the file assigns, its methods, and the attributes of the class. */
function members(state: EditorState): Completion[] {
  const text = state.doc.toString();
  const assigned = [...text.matchAll(/\bself\.(\w+) *(?:[-+*/%]|\/\/|\*\*)?=(?!=)/g)].map(([, name = ""]) => name);
  const defined = [...text.matchAll(/^ +def (\w+)\(self/gm)].map(([, name = ""]) => name);
  const constants = [...text.matchAll(/^ {1,4}(\w+) *=(?!=)/gm)].map(([, name = ""]) => name);
  const about = { attribute: new Set(assigned), method: new Set(defined), "attribute of the class": new Set(constants) };
  return Object.entries(about).flatMap(([kind, names]) => [...names].map((name) => plain(name, kind)));
}

const CALL = /\b(?:rect|circle|line|polygon|text)\([^\n]*$/;

/** Returns the completions inside a string: colours in a call of a drawing function, or keys in the dictionary `keys`. */
function inText(state: EditorState, from: number): Completion[] | undefined {
  const line = state.doc.lineAt(from);
  const before = state.sliceDoc(line.from, from);
  if (CALL.test(before)) return colours;
  return /^\s*keys *=/.test(before) || blocks(state, from)[0]?.startsWith("keys") ? keys : undefined;
}

/** Returns the completions for a word that begins at `from`. */
function atWord(state: EditorState, from: number): Completion[] {
  const around = blocks(state, from).find((line) => /^(class|def)\b/.test(line));
  if (!around?.startsWith("class")) return values;
  const line = state.doc.lineAt(from);
  const before = state.sliceDoc(line.from, from).trim();
  return before === "" ? parts : before.startsWith("actions") ? boxes : values;
}

const WORD = /^\w*$/;

export function complete(context: CompletionContext): CompletionResult | null {
  const { state, pos, explicit } = context;
  const { name } = syntaxTree(state).resolveInner(pos, -1);
  if (name === "Comment") return null;
  if (name === "String") {
    const from = context.matchBefore(/["'][\w ]*/)?.from;
    const options = from === undefined ? undefined : inText(state, from);
    return options ? { from: from! + 1, options, validFor: /^[\w ]*$/ } : null;
  }
  const member = context.matchBefore(/\bself\.\w*/);
  if (member) return { from: member.from + 5, options: members(state), validFor: WORD };
  const word = context.matchBefore(/(?:\bdef +)?\w*/);
  if (!word || (word.from === word.to && !explicit)) return null;
  // The digits of a number and the attributes of other objects are not completed.
  if (/^[\d.]/.test(word.text) || state.sliceDoc(Math.max(0, word.from - 1), word.from) === ".") return null;
  return { from: word.from, options: atWord(state, word.from), validFor: /^(?:def +)?\w*$/ };
}

/** Completes names that the file itself defines, except after a period or `def`. */
const own = (context: CompletionContext): ReturnType<typeof localCompletionSource> =>
  context.matchBefore(/\.\w*|\bdef +\w*/) ? null : localCompletionSource(context);

export const completions: Extension = [pythonLanguage.data.of({ autocomplete: complete }), pythonLanguage.data.of({ autocomplete: own })];
