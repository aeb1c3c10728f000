// Functions that create elements with attributes, without diffing or state. A part of the page builds its elements once and then updates
// the few that change.

type Value = string | number | boolean | null | undefined;
type Listeners = { [Kind in keyof HTMLElementEventMap as `on${Kind}`]?: (event: HTMLElementEventMap[Kind]) => void };
/** Attributes that all elements may have. */
type Common = "autocapitalize" | "class" | "hidden" | "id" | "role" | "spellcheck" | "style" | "tabindex" | "title";
/** Attributes that only one kind of element may have. */
type Own = {
  a: "download" | "href" | "rel" | "target";
  button: "disabled" | "type";
  canvas: "height" | "width";
  form: "novalidate";
  input:
    | "accept"
    | "autocomplete"
    | "checked"
    | "inputmode"
    | "max"
    | "maxlength"
    | "min"
    | "multiple"
    | "name"
    | "placeholder"
    | "step"
    | "type"
    | "value";
  img: "alt" | "height" | "loading" | "src" | "width";
  label: "for";
  optgroup: "label";
  option: "selected" | "value";
  progress: "max" | "value";
  td: "colspan";
  textarea: "autocomplete" | "disabled" | "maxlength" | "placeholder" | "rows";
  th: "colspan" | "rowspan" | "scope";
};
export type Tag = keyof HTMLElementTagNameMap;
type NameOf<K extends Tag> = Common | `aria-${string}` | `data-${string}` | (K extends keyof Own ? Own[K] : never);
export type Attributes<K extends Tag> = Listeners & { [Name in NameOf<K>]?: Value };
/** Content of an element. Lists may be nested; `false`, `null`, `undefined` and empty text are skipped. */
export type Child = Node | string | null | undefined | false | Child[];
/** A tag with optional classes, such as `div.row.spread`. */
type Named<K extends Tag> = K | `${K}.${string}`;

const isChild = (part: unknown): part is Child => !part || typeof part !== "object" || part instanceof Node || Array.isArray(part);

const nodesOf = (children: Child[]): (Node | string)[] =>
  children.flatMap((child) => (Array.isArray(child) ? nodesOf(child) : child ? [child] : []));

/**
 * Creates an element: `h("button.small", { onclick: f }, "Go")`. Attributes `on…` add listeners. Attributes that are `false` or `null` are
 * skipped. A button has the type `button`.
 */
export function h<K extends Tag>(named: Named<K>, attributes: Attributes<K>, ...children: Child[]): HTMLElementTagNameMap[K];
export function h<K extends Tag>(named: Named<K>, ...children: Child[]): HTMLElementTagNameMap[K];
export function h(named: string, ...parts: (Attributes<Tag> | Child)[]): HTMLElement {
  const [tag = "", ...classes] = named.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  if (tag === "button") element.setAttribute("type", "button");
  const attributes = (isChild(parts[0]) ? {} : parts.shift()) as Record<string, Value | EventListener>;
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    // Sets the style by script, because the content security policy blocks style attributes.
    else if (name === "style") element.style.cssText = value ? String(value) : "";
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...nodesOf(parts as Child[]));
  return element;
}

/** Creates nodes from trusted markup (explanations, equations, icons), never from user data. */
export function markup(source: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = source;
  return template.content;
}

/**
 * Sets the text of an element only if it differs from the current text, so that an unchanged text causes no layout. A text node that exists
 * is changed, because another text node would take longer.
 */
export function write(element: Element, text: string): void {
  if (element.textContent === text) return;
  const { firstChild: node } = element;
  if (text && node instanceof Text && !node.nextSibling) node.data = text;
  else element.textContent = text;
}

let ids = 0;
/** Returns a unique id, for `for`, `aria-describedby` and similar attributes. */
export const id = (stem: string): string => `${stem}-${++ids}`;

const icons = {
  play: '<path d="M4.5 2.8v10.4L13 8z" fill="currentColor" stroke="none"/>',
  pause: '<path d="M5 3v10M11 3v10" stroke-width="2.4"/>',
  step: '<path d="M3.5 3v10L10 8z" fill="currentColor" stroke="none"/><path d="M12 3v10" stroke-width="2"/>',
  reset: '<path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.4v2.9h-2.9"/>',
  theme: '<circle cx="8" cy="8" r="5.2"/><path d="M8 2.8a5.2 5.2 0 0 1 0 10.4z" fill="currentColor"/>',
  left: '<path d="M13 8H3.5M7 4 3 8l4 4"/>',
  right: '<path d="M3 8h9.5M9 4l4 4-4 4"/>',
  up: '<path d="M8 13V3.5M4 7l4-4 4 4"/>',
  search: '<circle cx="7" cy="7" r="4.5"/><path d="m10.4 10.4 3.6 3.6"/>',
  close: '<path d="m4 4 8 8M12 4l-8 8"/>',
  live: '<path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="2"/>',
  explore: '<path d="M8 2l6 3.3-6 3.3-6-3.3zM2 8.6l6 3.3 6-3.3M2 11.4l6 3.3 6-3.3"/>',
  compare: '<path d="M2 2v12h12M4.5 11C8 11 7 4.5 13 4.5M4.5 11c5 0 4.5-2.5 8.5-2.5"/>',
  settings: '<path d="M2 4.5h6M12.5 4.5H14M2 11.5h1.5M8 11.5h6"/><circle cx="10.2" cy="4.5" r="2.1"/><circle cx="5.8" cy="11.5" r="2.1"/>',
  explain: '<path d="M8 4C6.5 3 4.5 2.7 2 3v9.5c2.5-.3 4.5 0 6 1 1.5-1 3.5-1.3 6-1V3c-2.5-.3-4.5 0-6 1zm0 0v9.5"/>',
  share: '<path d="M8 10V2M5 4.8 8 2l3 2.8M4.5 7.5H3V14h10V7.5h-1.5"/>',
};
export type Icon = keyof typeof icons;
export function icon(name: Icon): Node {
  return markup(
    `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" ` +
      `stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${icons[name]}</svg>`,
  );
}

const SVG = "http://www.w3.org/2000/svg";

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Returns an SVG path through points, with a gap at each `undefined`. */
export const lineThrough = (points: ([x: number, y: number] | undefined)[]): string =>
  points.map((point, k) => (point ? `${points[k - 1] ? "L" : "M"}${point.map((n) => n.toFixed(2)).join(" ")}` : "")).join("");

export const button = (words: Child, does: () => unknown, attributes: Attributes<"button"> = {}): HTMLButtonElement =>
  h("button", { onclick: () => void does(), ...attributes }, words);

/** Creates an input below its label. */
export const labelled = (label: string, input: HTMLElement, kind = "field"): HTMLElement =>
  h("p", { class: kind }, h("label", { for: input.id }, label), input);

/** Creates the rows of a description list. Skips rows with an empty value. */
export const facts = (all: [name: string, value: string | HTMLElement][]): HTMLElement[] =>
  all.flatMap(([name, value]) => (value ? [h("dt", name), typeof value === "string" ? h("dd", value) : value] : []));

/** Creates a row with a checkbox or switch and its label on the right. */
export const ticked = (input: HTMLElement, label: string): HTMLElement => h("span.row", input, h("label", { for: input.id }, label));

export const select = (stem: string, options: [value: string | number, words: string][], chosen?: string | number): HTMLSelectElement =>
  h("select", { id: id(stem) }, ...options.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));

/** Creates a text input without autocomplete or spell checking. */
export const line = (stem: string, attributes: Attributes<"input"> = {}): HTMLInputElement =>
  h("input", { type: "text", id: id(stem), autocomplete: "off", autocapitalize: "off", spellcheck: "false", ...attributes });

export function form(kind: string, submit: () => unknown, children: Child): HTMLFormElement {
  const element = h("form", { class: kind }, children);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  return element;
}

export function markInvalid(input: HTMLElement, invalid: boolean): void {
  if (invalid) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** Radio buttons side by side. */
export class Choice<V extends string> {
  readonly element: HTMLElement;
  private readonly inputs: Map<V, HTMLInputElement>;

  constructor(
    legend: string,
    options: { value: V; words: string; label?: string | undefined; title?: string }[],
    chosen: V,
    changed: (value: V) => void,
    kind = "speeds layers",
  ) {
    const name = id("choice");
    this.inputs = new Map(
      options.map(({ value, label }, k) => [
        value,
        h("input", {
          type: "radio",
          name,
          id: `${name}-${k}`,
          checked: value === chosen,
          "aria-label": label,
          onchange: () => changed(value),
        }),
      ]),
    );
    this.element = h("fieldset", { class: kind }, [
      h("legend.unseen", legend),
      ...options.flatMap(({ value, words, title }, k) => [this.inputs.get(value), h("label", { for: `${name}-${k}`, title }, words)]),
    ]);
  }

  set value(value: V) {
    this.inputs.get(value)!.checked = true;
  }
}

/** Creates a section with a heading. `beside` is placed next to the heading, `below` under the heading. */
export function pane(name: string, heading: Child, beside: Child[], ...below: Child[]): HTMLElement {
  const title = id("pane");
  return h("section", { class: name, "aria-labelledby": title }, h("div.head", h("h2.label", { id: title }, heading), beside), below);
}

/**
 * Shows the first element if `first` is true, else the second, and hides the other. If the hidden element had the focus, the shown element
 * receives the focus.
 */
export function either(first: boolean, ...both: [HTMLElement, HTMLElement]): void {
  const [shown, hidden] = first ? both : (both.toReversed() as [HTMLElement, HTMLElement]);
  const focused = document.activeElement === hidden;
  shown.hidden = false;
  hidden.hidden = true;
  if (focused) shown.focus();
}
