// Command palette: a dialog with a search field and a list of everything that the page can do or show. The list comes from the page's
// declarations of shortcuts, tabs, variants, knobs and runs, and from `www/rooms/found.ts`. Import this module dynamically, because most
// visits do not open the palette.

import type { Command } from "./commands";
import { Dialog } from "./dialog";
import { h, icon, id, line, write } from "./dom";
import { clamp } from "./keys";

const MOST = 50;
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}.]+/gu) ?? [];

/**
 * Returns the rank of a command among the results of a query. The best rank is 0. Returns undefined if the command lacks a word of the
 * query.
 */
function rank({ kind, name, note = "", words = "" }: Command, query: string): number | undefined {
  const wanted = wordsOf(query);
  const own = wordsOf(name);
  const all = [...own, ...wordsOf(`${kind} ${note} ${words}`)];
  const ranks = [
    own.join(" ").startsWith(wanted.join(" ")),
    wanted.every((word) => own.some((text) => text.startsWith(word))),
    wanted.every((word) => all.some((text) => text.startsWith(word))),
    wanted.every((word) => all.some((text) => text.includes(word))),
  ].indexOf(true);
  return ranks < 0 ? undefined : ranks;
}

/**
 * Returns the commands that contain each word of a query, in any order. The commands are grouped by kind, and the best matches are first.
 * `count` is the number of all matches, of which at most `MOST` are returned.
 */
export function matches(commands: Command[], query: string): { groups: Map<string, Command[]>; count: number } {
  const ranked = commands
    .flatMap((command) => {
      const at = rank(command, query);
      return at === undefined ? [] : [{ command, at }];
    })
    .sort((a, b) => a.at - b.at);
  const groups = new Map<string, Command[]>();
  for (const { command } of ranked.slice(0, MOST)) groups.set(command.kind, [...(groups.get(command.kind) ?? []), command]);
  return { groups, count: ranked.length };
}

export class Palette {
  private readonly list = h("div.command-list", { role: "listbox", id: id("commands"), "aria-label": "Commands" });
  private readonly field = line("search", {
    role: "combobox",
    "aria-label": "Search",
    "aria-autocomplete": "list",
    "aria-controls": this.list.id,
    "aria-expanded": "true",
    placeholder: "Action, knob, lesson or room",
  });
  private readonly status = h("p.command-status", { role: "status" });
  private readonly dialog = new Dialog("Search", h("div.command-field", icon("search"), this.field), this.list, this.status);
  private options: HTMLElement[] = [];
  private commands: Command[] = [];
  private at = 0;

  /** `source` returns all commands. Some of these commands depend on the query. */
  constructor(private readonly source: (query: string) => Command[]) {
    this.dialog.element.classList.add("command-palette");
    this.field.addEventListener("input", () => this.show());
    this.field.addEventListener("keydown", (event) => this.move(event));
    // Without this listener, a click on the list would take the focus from the search field.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  get element(): HTMLElement {
    return this.dialog.element;
  }

  open(): void {
    this.field.value = "";
    this.dialog.open();
    this.field.focus();
    this.show();
  }

  get isOpen(): boolean {
    return this.dialog.element.open;
  }

  close(): void {
    this.dialog.close();
  }

  private move(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step) this.mark(clamp(this.at + step, 0, this.options.length - 1), true);
    else if (event.key === "Enter") this.choose(this.at);
    else return;
    event.preventDefault();
  }

  private show(): void {
    const query = this.field.value;
    const { groups, count } = matches(this.source(query), query);
    this.commands = [...groups.values()].flat();
    this.options = this.commands.map((command, k) => this.option(command, k));
    let next = 0;
    const group = ([kind, { length }]: [string, Command[]]): HTMLElement => {
      const heading = h("p.label", { id: id("kind"), role: "presentation" }, kind);
      return h("div", { role: "group", "aria-labelledby": heading.id }, heading, this.options.slice(next, (next += length)));
    };
    this.list.replaceChildren(...[...groups].map(group));
    this.list.scrollTop = 0;
    this.mark(0);
    const { length } = this.options;
    write(
      this.status,
      length ? inWords(length, count) : `Nothing matches “${query}”. Try a part of a name, such as “save”, or a knob with a value.`,
    );
  }

  private option({ name, note, key }: Command, k: number): HTMLElement {
    return h("div.command", { role: "option", id: id("command"), onclick: () => this.choose(k), onpointermove: () => this.mark(k) }, [
      h("span.command-name", name),
      note && h("span.small", note),
      key && h("kbd", key),
    ]);
  }

  /** Marks the option that Enter runs. */
  private mark(at: number, scroll = false): void {
    this.at = at;
    this.options.forEach((option, k) => option.setAttribute("aria-selected", String(k === at)));
    const option = this.options[at];
    this.field.setAttribute("aria-activedescendant", option?.id ?? "");
    // For the first option, scrolls to its heading, so that the heading is visible too.
    if (scroll) (at === 0 ? this.list.firstElementChild : option)?.scrollIntoView({ block: "nearest" });
  }

  private choose(at: number): void {
    const command = this.commands[at];
    if (!command) return;
    this.dialog.close(); // returns the focus, which the command may move
    command.run();
  }
}

const inWords = (shown: number, all: number): string =>
  shown < all ? `The first ${shown} of ${all}. Type to search.` : shown === 1 ? "One result." : `${shown} results.`;
