// Light or dark theme: the visitor's choice, by default the system's setting. Canvases read the style sheet's colours from `palette`.

import { h, icon } from "./dom";
import { untilClosed } from "./life";
import { recall, remember } from "./prefs";

export type Theme = "auto" | "light" | "dark";

/** Colours of the style sheet by name, for drawing on canvases. */
export const palette = {
  ink: "",
  soft: "",
  muted: "",
  hair: "",
  line: "",
  paper: "",
  raised: "",
  brand: "",
  agent: "",
  opponent: "",
  training: "",
  test: "",
  error: "",
  ghost: "",
  young: "",
  growing: "",
  grown: "",
  minus: "",
  plus: "",
  thrust: "",
};
export type Colour = keyof typeof palette;
const listeners = new Set<() => void>();
const dark = matchMedia("(prefers-color-scheme: dark)");
let theme: Theme = "auto";

function apply(): void {
  const root = document.documentElement;
  root.dataset.theme = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
  const style = getComputedStyle(root);
  for (const name of Object.keys(palette) as Colour[]) palette[name] = style.getPropertyValue(`--${name}`).trim();
  for (const listener of listeners) listener();
}

/**
 * Returns the red, green and blue of a named colour, from 0 to 255. The style sheet may contain the short form of a colour, such as `#fff`.
 */
export function rgb(name: Colour): [number, number, number] {
  const digits = palette[name].slice(1);
  const hex = parseInt(digits.length === 3 ? digits.replaceAll(/./g, "$&$&") : digits, 16);
  return [hex >> 16, (hex >> 8) & 255, hex & 255];
}

/** Calls `listener` after each change of the theme while the page is open. Returns a function that removes the listener. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return untilClosed(() => listeners.delete(listener));
}

/** Applies a theme without storing it as the visitor's choice. */
export function useTheme(other: Theme): void {
  theme = other;
  apply();
}

export function startTheme(): void {
  const kept = recall("theme");
  if (kept === "light" || kept === "dark") theme = kept;
  dark.addEventListener("change", apply);
  apply();
  // WebKit may run this script before the style sheet is loaded. All colours are then empty, so `apply` reads them again when the page is
  // loaded.
  if (document.readyState !== "complete") addEventListener("load", apply, { once: true });
}

export function themeButton(): HTMLButtonElement {
  const label = (): string => `Colours: ${theme === "auto" ? "as the system" : theme}`;
  const button = h("button.quiet", { "aria-label": label(), title: label() }, icon("theme"));
  button.addEventListener("click", () => {
    theme = theme === "auto" ? (dark.matches ? "light" : "dark") : theme === "light" ? "dark" : "light";
    if ((theme === "dark") === dark.matches) theme = "auto";
    remember("theme", theme === "auto" ? null : theme);
    apply();
    button.setAttribute("aria-label", label());
    button.title = label();
  });
  return button;
}
