// Samples of elements that need only the style sheets: type, colours, buttons, fields, choices, cards and progress.

import { Choice, h, icon, id, labelled, line, markInvalid, pane, select, ticked, type Child } from "../parts/dom";

/** Returns a sample with its name above it. */
export const named = (name: string, ...sample: Child[]): HTMLElement => h("div.named", h("p.small", name), sample);

export const type = (): Child => [
  named("44 px", h("p.hero", "500 points")),
  named("28 px", h("h1", "Carts that learn to balance their poles")),
  named("20 px", h("h2", "Heading of a dialog")),
  named("16 px", h("p.lead", "The status of the run in one or two sentences.")),
  named("14 px", h("p", "Text of the page, with ", h("a", { href: "#type" }, "a link"), ", a ", h("span.number", "number 1,024"), ".")),
  named("14 px, heading", h("h3", "Heading of a part")),
  named("12 px", h("p.small", "Notes, units and axes, and the key ", h("kbd", "s"))),
];

/** Returns the names of the colours of the style sheet, in the order of the style sheet. */
function roles(): string[] {
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
  const roots = rules.filter((rule) => rule instanceof CSSStyleRule).filter(({ selectorText }) => selectorText === ":root");
  return roots.flatMap(({ style }) => [...style].filter((name) => style.getPropertyValue(name).trim().startsWith("#")));
}

export const colours = (): Child =>
  h("ul.colours", ...roles().map((role) => h("li", h("span.colour", { style: `background: var(${role})` }), role.slice(2))));

const STATES = ["default", "hover", "focus-visible", "active"];
const BUTTONS = ["plain", "strong", "quiet", "small", "quiet small"];

export const buttons = (): Child => [
  ...BUTTONS.map((kind) =>
    named(
      kind,
      h("div.row", [
        ...STATES.map((state) => h("button", { class: kind, "data-state": state }, state)),
        h("button", { class: kind, disabled: true }, "disabled"),
        h("button", { class: kind }, icon("play"), "with icon"),
        h("button", { class: kind, "aria-label": "Close" }, icon("close")),
      ]),
    ),
  ),
];

const slider = (name: string, share: number, state = "default"): HTMLElement => {
  const field = { type: "range", id: id("slider"), min: 0, max: 100, value: share, style: `--share: ${share}%`, "data-state": state };
  return labelled(name, h("input", field));
};

const amount = (state = "default"): HTMLInputElement =>
  h("input", { type: "number", id: id("number"), value: 0.01, step: "any", "data-state": state });

function invalid(): HTMLElement {
  const input = amount();
  markInvalid(input, true);
  return h("div", labelled("Number, invalid", input), h("p.error", "Enter a number from 0 to 0.005."));
}

const check = (name: string, checked: boolean, role?: string, state = "default"): HTMLElement =>
  ticked(h("input", { type: "checkbox", id: id("check"), role, checked, "data-state": state }), name);

export const fields = (): Child => [
  h("div.fields", [
    labelled("Number", amount()),
    labelled("Number, focus", amount("focus-visible")),
    invalid(),
    labelled("Text", line("text", { value: "Once upon a time" })),
    labelled("Text, placeholder", line("text", { placeholder: "such as R U F" })),
    labelled("Choice", select("select", [["small", "small network"]])),
    labelled("Long text", h("textarea", { id: id("text"), rows: 2 }, "Once upon a time")),
    slider("Slider", 40),
    slider("Slider, focus", 100, "focus-visible"),
  ]),
  h("div.fields", [
    check("Checkbox", false),
    check("Checkbox, on", true),
    check("Checkbox, focus", true, undefined, "focus-visible"),
    check("Switch", false, "switch"),
    check("Switch, on", true, "switch"),
    check("Switch, focus", true, "switch", "focus-visible"),
  ]),
];

export function choices(): Child {
  const options = ["×1", "×4", "×16", "Max"].map((value) => ({ value, words: value }));
  const choice = (kind?: string): HTMLElement => h("div.row", new Choice("Speed", options, "×4", () => {}, kind).element);
  const focused = choice("speeds");
  focused.querySelector("input:checked")!.setAttribute("data-state", "focus-visible");
  return [named("large", choice("speeds")), named("small", choice()), named("focus", focused)];
}

function collapsed(open: boolean): HTMLElement {
  const element = h("details", h("summary", "Collapsed section"), h("p", "Text of the section"));
  element.open = open;
  return element;
}

export const cards = (): Child =>
  h("div.fields", [
    pane("card", "Card", [h("button.quiet.small", "Table")], h("p", "A card groups a part of the page.")),
    h("div.box.padded", "A box has a border and no shadow."),
    h("div.stage.padded", "The stage is the ground of the picture."),
    collapsed(false),
    collapsed(true),
  ]);

export const progress = (): Child =>
  h("div.fields", ...[0, 0.4, 1].map((value) => h("progress", { max: 1, value, "aria-label": `Progress of ${100 * value}%` })));
