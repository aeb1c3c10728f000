// Colours of the editor. They are variables of the page's style sheet, so that they change with the page's theme. These variables also
// apply in the editor's shadow tree.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const syntax = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword], color: "var(--agent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--brand)" },
  { tag: [tags.number, tags.bool], color: "var(--opponent)" },
  { tag: tags.comment, color: "var(--muted)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))], color: "var(--training)" },
  { tag: tags.definition(tags.className), color: "var(--test)" },
  { tag: tags.self, color: "var(--soft)" },
]);

const control = { font: "inherit", fontSize: "14px", color: "var(--ink)", border: "1px solid var(--hair)", borderRadius: "8px" };
const box = { background: "var(--raised)", color: "var(--ink)", border: "1px solid var(--hair)" };

const look = EditorView.theme({
  "&": { height: "100%", background: "var(--raised)", color: "var(--ink)", borderRadius: "inherit", fontSize: "var(--code-size)" },
  // The page outlines the host of the shadow tree instead.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", borderRadius: "inherit", overscrollBehaviorX: "contain" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-gutters": { background: "var(--raised)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { background: "color-mix(in srgb, var(--line) 40%, transparent)" },
  ".cm-activeLineGutter": { background: "none", color: "var(--ink)" },
  "&.cm-focused .cm-matchingBracket, .cm-matchingBracket": { background: "var(--brand-wash)", outline: "1px solid var(--brand)" },
  "&.cm-focused .cm-nonmatchingBracket": { background: "var(--error-wash)" },
  ".cm-snippetField": { background: "var(--brand-wash)" },
  ".cm-selectionMatch, .cm-searchMatch": { background: "var(--brand-wash)" },
  ".cm-searchMatch-selected": { background: "var(--brand-wash)", outline: "1px solid var(--brand)" },
  ".cm-tooltip": { ...box, borderRadius: "8px", boxShadow: "var(--high)", maxWidth: "calc(100vw - 16px)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "calc(100vw - 24px)", borderRadius: "8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "4px 8px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--brand-wash)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { fontFamily: "var(--sans)", fontStyle: "normal", fontSize: "12px", color: "var(--soft)" },
  ".cm-diagnostic": { padding: "4px 8px", borderLeft: "4px solid var(--error)", fontFamily: "var(--sans)", fontSize: "14px" },
  ".cm-problem": {
    padding: "0 12px 4px",
    color: "var(--error)",
    background: "var(--error-wash)",
    font: "13px / 20px var(--sans)",
    whiteSpace: "normal",
    // The message stays in sight while long lines scroll sideways.
    position: "sticky",
    left: "0",
    boxSizing: "border-box",
    maxWidth: "var(--code-width)",
  },
  ".cm-lintRange-error": { background: "none", textDecoration: "var(--error) wavy underline", textDecorationSkipInk: "none" },
  ".cm-lintPoint-error::after": { borderBottomColor: "var(--error)" },
  ".cm-lint-marker-error": {
    content: '""',
    borderRadius: "50%",
    background: "var(--error)",
    width: "8px",
    height: "8px",
    margin: "6px auto",
  },
  ".cm-panels": { ...box, border: "0", fontFamily: "var(--sans)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--hair)" },
  ".cm-panel.cm-search": { padding: "8px 32px 8px 8px" },
  ".cm-panel.cm-search label": { fontSize: "12px", display: "inline-block" },
  ".cm-panel.cm-search [name=close], .cm-dialog-close": { color: "var(--soft)", fontSize: "20px", minWidth: "24px", minHeight: "24px" },
  ".cm-textfield": { ...control, background: "var(--raised)", minHeight: "32px", fontSize: "var(--code-size)" },
  ".cm-button": { ...control, background: "var(--raised)", backgroundImage: "none", minHeight: "32px" },
  ".cm-panels :focus-visible": { outline: "2px solid var(--brand)", outlineOffset: "1px" },
});

export const theme = [look, syntaxHighlighting(syntax)];
