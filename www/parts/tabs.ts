// Tabs: a row of tabs and their panels, one of which is shown. A panel may contain tabs itself.

import { h, icon, id, type Icon } from "./dom";
import { placeOf } from "./keys";

/** A panel with its tab. The tab shows the icon only on a phone. */
export type Panel = { name: string; title: string; element: HTMLElement; icon?: Icon };

/** Functions that show a hidden element. Each panel has one, and so has each element that was passed to `revealBy`. */
const panels = new WeakMap<Element, () => void>();

/**
 * Shows an element by opening every panel and every hidden element that contains it. The page can then scroll to the element or focus it.
 */
export function reveal(element: Element): void {
  for (let at: Element | null = element; at; at = at.parentElement) panels.get(at)?.();
}

/** Sets the function by which `reveal` shows an element that is not a panel. */
export function revealBy(element: Element, show: () => void): void {
  panels.set(element, show);
}

export class Tabs {
  readonly list: HTMLElement;
  readonly panels: HTMLElement[];
  private readonly tabs = new Map<string, HTMLButtonElement>();
  private shown = "";

  /**
   * Shows the first panel. `changed` is called whenever another panel opens. Its argument `chosen` is true if the visitor chose the tab.
   */
  constructor(
    label: string,
    private readonly all: Panel[],
    private readonly changed: (chosen: boolean) => void = () => {},
    kind = "tabs",
  ) {
    this.list = h("div", { class: kind, role: "tablist", "aria-label": label, hidden: all.length < 2 });
    this.panels = all.map(({ name, title, element, icon: drawn }) => {
      const tab = h("button", { role: "tab", id: id("tab"), onclick: () => this.show(name, true) }, drawn && icon(drawn), title);
      tab.addEventListener("keydown", (event) => this.move(event, tab));
      this.tabs.set(name, tab);
      const panel = h("div", { role: "tabpanel", id: id("panel"), class: `panel ${name}-panel`, "aria-labelledby": tab.id }, element);
      tab.setAttribute("aria-controls", panel.id);
      panels.set(panel, () => this.show(name));
      return panel;
    });
    this.list.append(...this.tabs.values());
    this.show(all[0]!.name);
  }

  get open(): string {
    return this.shown;
  }

  /** Shows a panel. If the named panel does not exist or its tab is hidden, shows the first panel with a visible tab. */
  show(name: string, chosen = false): void {
    const offered = (name: string): boolean => this.tabs.get(name)?.hidden === false;
    if (!offered(name)) name = this.all.find((one) => offered(one.name))?.name ?? name;
    if (name === this.shown) return;
    this.shown = name;
    this.all.forEach((one, k) => {
      const here = one.name === name;
      this.panels[k]!.hidden = !here;
      const tab = this.tabs.get(one.name)!;
      tab.setAttribute("aria-selected", String(here));
      tab.tabIndex = here ? 0 : -1;
    });
    this.changed(chosen);
  }

  /** Moves the focus to the tab of the open panel. */
  focus(): void {
    this.tabs.get(this.shown)!.focus();
  }

  /** Shows or hides a tab. If the panel of the hidden tab is open, the first panel with a visible tab replaces it. */
  offer(name: string, offered: boolean): void {
    this.tabs.get(name)!.hidden = !offered;
    this.show(this.shown);
  }

  private move(event: KeyboardEvent, from: HTMLButtonElement): void {
    const offered = [...this.tabs.values()].filter(({ hidden }) => !hidden);
    const to = offered[placeOf(event, offered.indexOf(from), offered.length) ?? -1];
    if (!to) return;
    event.preventDefault();
    to.click();
    to.focus();
  }
}
