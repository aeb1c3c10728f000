// Problems of a text: marks in the editor while the visitor types, and a list below the editor that moves the cursor to a problem.

import { forEachDiagnostic, linter, lintGutter, setDiagnostics, setDiagnosticsEffect, type Diagnostic } from "@codemirror/lint";
import { StateField, type EditorState, type Extension, type Text } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";
import { button, h, write } from "../../../parts/dom";
import { clamp } from "../../../parts/keys";
import { reason } from "../../../parts/requests";
import { coded } from "./coded";

export interface Problem {
  /** Number of the line, starting at 1. */
  line: number;
  /** Column of the first character, starting at 1. Each Unicode character counts as one column. */
  column: number;
  /** Column after the last character. If it is missing, the word at `column` is marked. */
  endColumn?: number;
  message: string;
}

const DELAY_MS = 200;
/** Maximum number of problems in the list. */
const MOST = 20;

/** Returns the offset of a column in a line of text. CodeMirror counts characters above U+FFFF as two. */
const offsetOf = (text: string, column: number): number => [...text].slice(0, column - 1).join("").length;

function diagnosticOf(doc: Text, { line, column, endColumn, message }: Problem): Diagnostic {
  const { from, text } = doc.line(clamp(line, 1, doc.lines));
  const start = offsetOf(text, column);
  const word = /^(?:\w+|.)?/u.exec(text.slice(start))![0].length;
  const end = endColumn === undefined ? start + word : Math.max(start, offsetOf(text, endColumn));
  return { from: from + start, to: from + end, severity: "error", message, renderMessage: () => h("span", coded(message)) };
}

const diagnosticsOf = (doc: Text, problems: Problem[]): Diagnostic[] => problems.map((problem) => diagnosticOf(doc, problem));

/** Message of a problem, below the line of the problem. */
class Message extends WidgetType {
  constructor(private readonly message: string) {
    super();
  }

  override eq(other: Message): boolean {
    return other.message === this.message;
  }

  // A screen reader reads the list of problems instead.
  override toDOM(): HTMLElement {
    return h("div", { class: "cm-problem", "aria-hidden": "true" }, coded(this.message));
  }
}

/** Returns the first message of each line with a problem, below the line. */
function messagesOf(doc: Text, diagnostics: readonly Diagnostic[]): DecorationSet {
  const first = new Map<number, string>();
  for (const { from, message } of diagnostics) {
    const { to } = doc.lineAt(from);
    if (!first.has(to)) first.set(to, message);
  }
  const below = ([at, message]: [number, string]) => Decoration.widget({ widget: new Message(message), side: 1, block: true }).range(at);
  return Decoration.set([...first].map(below), true);
}

const messages = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, { state, changes, effects }) {
    const found = effects.find((effect) => effect.is(setDiagnosticsEffect));
    return found ? messagesOf(state.doc, found.value) : shown.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class ProblemList {
  private readonly status = h("p.small", { role: "status" });
  private readonly list = h("ul", { "aria-label": "Problems" });
  readonly element = h("div.own-problems", this.status, this.list);
  /** Extension of the editor that marks the problems and updates this list. */
  readonly extension: Extension;
  /** Problems that training reported, and the text in which training found them. The problems are shown until the text changes. */
  private reported: { text: string; problems: Problem[] } | undefined;

  constructor(private readonly check: (text: string) => Promise<Problem[]>) {
    const shown = EditorView.updateListener.of(({ transactions, view }) => {
      if (transactions.some(({ effects }) => effects.some((effect) => effect.is(setDiagnosticsEffect)))) this.show(view);
    });
    this.extension = [linter(({ state }) => this.checked(state.doc), { delay: DELAY_MS }), lintGutter(), messages, shown];
  }

  /** Shows problems that training reported. */
  report(view: EditorView, problems: Problem[]): void {
    const { doc } = view.state;
    this.reported = { text: doc.toString(), problems };
    view.dispatch(setDiagnostics(view.state, diagnosticsOf(doc, problems)));
  }

  /** Checks the text after each pause in typing. The editor drops an answer about an earlier text. */
  private async checked(doc: Text): Promise<Diagnostic[]> {
    const text = doc.toString();
    const failed = (error: unknown): Problem[] => [{ line: 1, column: 1, message: `The text could not be checked: ${reason(error)}` }];
    const found = await this.check(text).catch(failed);
    return diagnosticsOf(doc, this.reported?.text === text ? this.reported.problems : found);
  }

  /** Shows the problems. The list takes height from the editor, so the editor scrolls to keep the line of the cursor on the screen. */
  private show(view: EditorView): void {
    const found: { at: number; message: string }[] = [];
    forEachDiagnostic(view.state, ({ message }, at) => found.push({ at, message }));
    if (found.length !== this.list.childElementCount) requestAnimationFrame(() => view.hasFocus && keepCursor(view));
    write(this.status, inWords(found.length));
    this.list.replaceChildren(...found.slice(0, MOST).map((problem) => h("li", this.link(view, problem))));
    this.list.hidden = found.length === 0;
  }

  /** Creates a button that moves the cursor to a problem. */
  private link(view: EditorView, { at, message }: { at: number; message: string }): HTMLElement {
    const { number } = view.state.doc.lineAt(at);
    return button([h("strong", `Line ${number}:`), " ", h("span", coded(message))], () => goTo(view, at), { class: "quiet" });
  }
}

/** Height below the line of the cursor that stays on the screen too, for the message of the line, in px. */
const MESSAGE_PX = 56;

function keepCursor(view: EditorView): void {
  const { head } = view.state.selection.main;
  view.dispatch({ effects: EditorView.scrollIntoView(head, { y: "nearest", yMargin: MESSAGE_PX }) });
}

export function goTo(view: EditorView, at: number): void {
  const anchor = Math.min(at, view.state.doc.length);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  view.focus();
}

/** Returns the offset of a line and column in the document. */
export const placeOf = ({ doc }: EditorState, line: number, column: number): number =>
  diagnosticOf(doc, { line, column, message: "" }).from;

const inWords = (count: number): string => (count === 0 ? "No problems." : count === 1 ? "One problem." : `${count} problems.`);
