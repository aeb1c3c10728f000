// The tabs of a room's page and the sections in them. The first tab shows the room's picture. The address names the open tab and section.

import { h } from "./dom";
import type { Command } from "./commands";
import { Tabs } from "./tabs";

const TABS = { explore: "Explore", compare: "Compare", settings: "Settings", explain: "Explain", share: "Share" };
export type TabName = keyof typeof TABS;
const NAMES = Object.keys(TABS) as TabName[];
const LIVE = "live";

/** Declaration of a section, which the command palette reads without opening the room. */
export interface SectionWords {
  tab: TabName;
  name: string;
  heading: string;
  /** Further words by which the command palette finds the section. */
  words?: string;
}

/** The section of rooms whose model can be exported. */
export const MODEL = { tab: "share", name: "export", heading: "Model", words: "export onnx c javascript policy" } satisfies SectionWords;

/** A section of a tab. A tab with several sections shows one section at a time. */
export interface Section extends SectionWords {
  element: HTMLElement;
  /** Returns true if the current run has this section. A section without this function exists in every run. */
  offered?(): boolean;
  /** Called when the section is shown. */
  shown?(): void;
}

export class Places {
  readonly element: HTMLElement;
  readonly list: HTMLElement;
  private readonly tabs: Tabs;
  /** The inner tabs that select the sections, by the name of the outer tab. */
  private readonly inner = new Map<string, Tabs>();

  /** The class calls `moved` when it shows another tab or section. `chosen` is true if the visitor has chosen it. */
  constructor(
    stage: HTMLElement,
    private readonly sections: Section[],
    private readonly moved: (chosen: boolean) => void,
  ) {
    const others = NAMES.map((name) => ({ name, title: TABS[name], icon: name, element: this.tab(name, TABS[name]) }));
    this.tabs = new Tabs("Room", [{ name: LIVE, title: "Live", icon: LIVE, element: stage }, ...others], (chosen) => this.change(chosen));
    this.list = this.tabs.list;
    this.element = h("div.panels", this.tabs.panels);
  }

  /**
   * Names of the open tab and section. The list is empty for the room's picture. For the first section of a tab, it contains only the name
   * of the tab.
   */
  get open(): string[] {
    const tab = this.tabs?.open ?? LIVE;
    if (tab === LIVE) return [];
    const inner = this.inner.get(tab);
    const first = this.sections.find((section) => section.tab === tab)?.name;
    return inner && inner.open !== first ? [tab, inner.open] : [tab];
  }

  show([tab = LIVE, section]: string[], chosen = false): void {
    this.inner.get(tab)?.show(section ?? this.sections.find((one) => one.tab === tab)!.name, chosen);
    this.tabs.show(tab, chosen);
  }

  /** Returns commands that open each tab and each section. They are also found by the title of the room. */
  commands(room: string): Command[] {
    const open = (place: string[]) => (): void => {
      this.show(place, true);
      const inner = this.inner.get(this.tabs.open);
      (inner && !inner.list.hidden ? inner : this.tabs).focus();
    };
    const tabs = [[LIVE, "Live"], ...Object.entries(TABS)] as [string, string][];
    const offered = this.sections.filter(({ offered }) => offered?.() ?? true);
    return [
      ...tabs.map(([name, title]) => ({ kind: "Tabs", name: title, run: open([name]) })),
      ...offered.map(({ tab, name, heading, words }) => ({
        kind: "Sections",
        name: heading,
        note: TABS[tab],
        words: `${words ?? ""} ${room}`,
        run: open([tab, name]),
      })),
    ];
  }

  /** Offers the sections that the current run has. */
  suit(): void {
    for (const { tab, name, offered } of this.sections) if (offered) this.inner.get(tab)?.offer(name, offered());
  }

  private tab(name: TabName, title: string): HTMLElement {
    const own = this.sections.filter((section) => section.tab === name);
    const panels = own.map(({ name, heading, element }) => ({
      name,
      title: heading,
      element: h("section", { class: `section ${name}` }, h("h2.unseen", heading), element),
    }));
    const inner = new Tabs(title, panels, (chosen) => this.change(chosen), "chips");
    this.inner.set(name, inner);
    return h("div", inner.list, inner.panels);
  }

  private change(chosen: boolean): void {
    if (!this.element) return; // the tabs are under construction
    const main = this.element.closest<HTMLElement>("main");
    if (main) main.dataset.tab = this.tabs.open;
    this.sections.find(({ tab, name }) => tab === this.tabs.open && name === this.inner.get(tab)?.open)?.shown?.();
    this.moved(chosen);
  }
}
