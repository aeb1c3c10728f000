// Light or dark: the system's choice until the visitor makes their own. Canvases read the same colours as the
// style sheet, through `palette`.

import { h, icon } from "./dom";
import { recall, remember } from "./prefs";

type Theme = "auto" | "light" | "dark";
const names = { ink: "", soft: "", muted: "", hair: "", line: "", paper: "", accent: "", rust: "", ghost: "" };
type Colour = keyof typeof names;

/** The style sheet's colours by name, for what is drawn on a canvas. */
export const palette: Record<Colour | "young" | "grown", string> = { ...names, young: "", grown: "" };
const listeners = new Set<() => void>();
const dark = matchMedia("(prefers-color-scheme: dark)");
let theme: Theme = "auto";

function apply(): void {
  const root = document.documentElement;
  root.dataset["theme"] = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
  const style = getComputedStyle(root);
  for (const name of Object.keys(palette) as Colour[]) palette[name] = style.getPropertyValue(`--${name}`).trim();
  for (const listener of listeners) listener();
}

/** Calls back after every change of colours; returns how to stop. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function startTheme(): void {
  const kept = recall("theme");
  if (kept === "light" || kept === "dark") theme = kept;
  dark.addEventListener("change", apply);
  apply();
}

/** The button that goes round system, light and dark. */
export function themeButton(): HTMLButtonElement {
  const says = (): string => `Colours: ${theme === "auto" ? "as the system" : theme}`;
  const button = h("button", { type: "button", class: "quiet", "aria-label": says(), title: says() }, icon("theme"));
  button.addEventListener("click", () => {
    theme = theme === "auto" ? (dark.matches ? "light" : "dark") : theme === "light" ? "dark" : "light";
    if ((theme === "dark") === dark.matches) theme = "auto";
    remember("theme", theme === "auto" ? null : theme);
    apply();
    button.setAttribute("aria-label", says());
    button.title = says();
  });
  return button;
}
