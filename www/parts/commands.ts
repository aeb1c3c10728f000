// Commands of the page, and the key that opens the palette with all of them. The palette is loaded when it is first opened.

import type { Palette } from "./palette";
import type { PageContext } from "./room";
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

/** Functions that open a link, or a run with a config. */
export interface Opening {
  go(link: string): void;
  open: PageContext["open"];
}

export interface Searched {
  /** Returns the commands of the open room and of the header. Some of them depend on the query. */
  commands(query: string): Command[];
  /** Returns the id of the open room or page. */
  room(): string;
  open: PageContext["open"];
  /** Reports that the palette could not be loaded. */
  failed(error: unknown): void;
}

export class Search {
  private palette: Palette | undefined;

  constructor(private readonly searched: Searched) {
    document.addEventListener("keydown", (event) => this.take(event));
  }

  open(): void {
    this.loaded().then(
      (palette) => document.querySelector("dialog[open]") || palette.open(),
      (error) => this.searched.failed(error),
    );
  }

  /** Returns the palette of the open page. The palette is removed when its page closes. */
  private async loaded(): Promise<Palette> {
    if (this.palette?.element.isConnected) return this.palette;
    const [{ Palette }, { elsewhere }] = await Promise.all([import("./palette"), import("../rooms/found")]);
    const { commands, room, open } = this.searched;
    const go = (link: string): void => void (location.hash = link);
    this.palette = new Palette((query) => [...commands(query), ...elsewhere(room(), { go, open })]);
    return this.palette;
  }

  private take(event: KeyboardEvent): void {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (key.toLowerCase() !== "k" || altKey || shiftKey || (MAC ? !metaKey || ctrlKey : !ctrlKey || metaKey)) return;
    event.preventDefault();
    if (this.palette?.isOpen) this.palette.close();
    else if (!document.querySelector("dialog[open]")) this.open();
  }
}
