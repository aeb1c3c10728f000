// Commands of the page, and the key that opens the palette with all of them. The palette is loaded when it is first opened.

import { pageLife } from "./life";
import type { Palette } from "./palette";
import { reveal } from "./tabs";

export interface Command {
  /** Heading under which the command is listed. */
  kind: string;
  name: string;
  /** Text at the end of the line, such as a value. */
  note?: string;
  /** Single key that also runs the command. */
  key?: string;
  /** Further words by which the command is found. */
  words?: string;
  run(): void;
}

const MAC = typeof navigator === "object" && navigator.userAgent.includes("Mac");
/** Key that opens the palette. */
export const PALETTE_KEY = MAC ? "⌘ K" : "Ctrl K";

/**
 * Selector of usable buttons and radio buttons, except the points of a board. One point of a board is a tab stop, and all others have a
 * tabindex of -1.
 */
const PRESSED = 'button:not(:disabled, [tabindex="-1"], [tabindex="-1"] ~ *, :has(~ [tabindex="-1"])), input[type=radio]';

/** Returns commands that press the buttons and radio buttons of a part of the page. A command opens the tab of its button first. */
export const presses = (kind: string, part: HTMLElement): Command[] =>
  [...part.querySelectorAll<HTMLButtonElement | HTMLInputElement>(PRESSED)]
    .filter((control) => !part.contains(control.closest("[hidden]")))
    .map((control) => ({
      kind,
      name: control.ariaLabel || control.labels?.[0]?.title || (control.labels?.[0] ?? control).textContent,
      run: () => {
        reveal(control);
        control.focus();
        control.click();
      },
    }));

export class Search {
  private palette: Palette | undefined;
  private readonly life = pageLife();

  /** `source` returns all commands, some of which depend on the query. `failed` reports that the palette could not be loaded. */
  constructor(
    private readonly source: (query: string) => Command[],
    private readonly failed: (error: unknown) => void,
  ) {
    document.addEventListener("keydown", (event) => this.take(event), { signal: this.life });
  }

  open(): void {
    if (this.palette) return this.palette.open();
    import("./palette")
      .then(({ Palette }) => {
        if (this.life.aborted || document.querySelector("dialog[open]")) return;
        this.palette ??= new Palette(this.source);
        this.palette.open();
      })
      .catch((error) => this.life.aborted || this.failed(error));
  }

  private take(event: KeyboardEvent): void {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (key.toLowerCase() !== "k" || altKey || shiftKey || (MAC ? !metaKey || ctrlKey : !ctrlKey || metaKey)) return;
    event.preventDefault();
    if (this.palette?.isOpen) this.palette.close();
    else if (!document.querySelector("dialog[open]")) this.open();
  }
}
