// Editor for the text of an environment, with CodeMirror. Import this module dynamically, because it is large.
//
// The editor is in a shadow tree because CodeMirror adds style sheets. The page's content security policy permits added style sheets in a
// shadow tree, but not in the document.

import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { nextDiagnostic, previousDiagnostic } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { h, id } from "../../../parts/dom";
import { onTheme } from "../../../parts/theme";
import { completions } from "./completion";
import { goTo, placeOf, ProblemList, type Problem } from "./problems";
import { theme } from "./theme";

export type { Problem } from "./problems";

export interface EditorOptions {
  /** Name of the editor for screen readers. */
  label: string;
  text: string;
  /** Receives the text after each change by the visitor. */
  read(text: string): void;
  /** Finds the problems of a text. Called after pauses in typing. */
  check(text: string): Promise<Problem[]>;
  /** Called by Ctrl-Enter, or Cmd-Enter on a Mac. */
  start(): void;
  /** Called by Ctrl-S, or Cmd-S on a Mac. */
  save(): void;
}

export interface Editor {
  readonly text: string;
  /** Replaces the text by the text of another file. The visitor cannot undo the replacement. */
  set(text: string): void;
  /** Shows problems that `check` does not find, such as an error during training. The problems are shown until the text changes. */
  show(problems: Problem[]): void;
  /** Moves the cursor and the focus to a place. Line and column begin at 1. */
  goTo(line: number, column: number): void;
  focus(): void;
  destroy(): void;
}

const HELP = "Ctrl-Enter (on a Mac, Cmd-Enter) trains, and F8 moves to the next problem. To leave the editor, press Escape and then Tab.";

/** Period after Escape in which Tab leaves the editor instead of indenting. */
const LEAVE_MS = 2000;

const isDark = (): Extension => EditorView.darkTheme.of(document.documentElement.dataset.theme === "dark");

/**
 * Lets Tab leave the editor after Escape, even if Escape closes a list of completions. CodeMirror's own rule does not cover an Escape that
 * closes a list.
 */
const leaving = Prec.highest(keymap.of([{ key: "Escape", run: (view) => (view.setTabFocusMode(LEAVE_MS), false) }]));

function keys({ start, save }: EditorOptions): Extension {
  const own = [
    { key: "Mod-Enter", run: () => (start(), true) },
    { key: "Mod-s", preventDefault: true, run: () => (save(), true) },
    { key: "F8", run: nextDiagnostic, shift: previousDiagnostic },
  ];
  return keymap.of([...own, ...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap]);
}

/** Texts of CodeMirror's search panel in the spelling of the page. */
const PHRASES = {
  ...{ next: "Next", previous: "Previous", all: "All", replace: "Replace", "replace all": "Replace all" },
  ...{ "match case": "Match case", regexp: "Regular expression", "by word": "Whole words" },
};

/** Extensions that are the same for each text and caller. */
const basics: Extension = [
  [lineNumbers(), highlightActiveLineGutter(), highlightActiveLine()],
  [history(), indentOnInput(), bracketMatching(), closeBrackets(), search({ top: true })],
  [pythonLanguage, completions, autocompletion({ icons: false })],
  [indentUnit.of("    "), EditorState.tabSize.of(4), EditorState.phrases.of(PHRASES), theme],
  // The page handles dropped files. Without this handler, CodeMirror would insert their text.
  EditorView.domEventHandlers({ drop: (event) => !!event.dataTransfer?.files.length }),
];

/** Places an editor and the list of its problems in `host`. */
export function mount(host: HTMLElement, options: EditorOptions): Editor {
  const shell = h("div.own-code");
  const root = shell.attachShadow({ mode: "open" });
  const help = h("p", { id: id("editor-help"), hidden: true }, HELP);
  const list = new ProblemList(options.check);
  const scheme = new Compartment();
  const extensions = (): Extension => [
    [leaving, keys(options), basics],
    scheme.of(isDark()),
    list.extension,
    EditorView.contentAttributes.of({ tabindex: "0", "aria-label": options.label, "aria-describedby": help.id }),
    EditorView.updateListener.of(({ docChanged, state }) => docChanged && options.read(state.doc.toString())),
  ];
  const stateOf = (doc: string): EditorState => EditorState.create({ doc, extensions: extensions() });
  root.append(help);
  // `hint` is a visible copy of `help`. The hidden `help` must be in the shadow tree, because the editor's description must be an element
  // of the same tree.
  const hint = h("p.small.by-keys", { "aria-hidden": "true" }, HELP);
  host.append(shell, list.element, hint);
  const view = new EditorView({ state: stateOf(options.text), parent: root, root });
  const stop = onTheme(() => view.dispatch({ effects: scheme.reconfigure(isDark()) }));
  return {
    get text() {
      return view.state.doc.toString();
    },
    set: (text) => view.setState(stateOf(text)),
    show: (problems) => list.report(view, problems),
    goTo: (line, column) => goTo(view, placeOf(view.state, line, column)),
    focus: () => view.focus(),
    destroy() {
      stop();
      view.destroy();
      for (const part of [shell, hint, list.element]) part.remove();
    },
  };
}
