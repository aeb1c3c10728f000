// Switch between the variants of a room. A requested switch waits until the previous switch is complete.

import type { RoomInfo, Variant } from "../run/protocol";
import { h, labelled, select } from "./dom";
import { capital } from "./format";
import { roving } from "./roving";

export interface SwitcherActions {
  variants(): Variant[];
  nameOf(variant: Variant): string;
  linkTo(variant: string): string;
  /** Switches to a variant; `push` adds an entry to the browser's history. */
  goTo(variant: Variant, push: boolean): Promise<void>;
}

export class Switcher {
  readonly element: HTMLElement;
  /** Links beside the picture of the room. */
  private readonly list = h("ul.chips");
  /** Menu of the variants in the other tabs. It replaces the links, because these tabs have more controls of their own. */
  private readonly menu: HTMLSelectElement;
  private switching: Promise<unknown> = Promise.resolve();
  /** True if one of the links had the focus before the list of links was rebuilt. */
  private focused = false;
  private variant = "";
  /** Names and links that are shown, as text. */
  private written = "";

  constructor(
    { variant_word }: RoomInfo,
    private readonly actions: SwitcherActions,
  ) {
    const label = `Choose ${/^[aeiou]/.test(variant_word) ? "an" : "a"} ${variant_word}`;
    this.menu = select("variant", []);
    this.menu.addEventListener("change", () => this.switchTo(actions.variants()[this.menu.selectedIndex]!));
    const menu = labelled(capital(variant_word), this.menu, "row variant-menu");
    this.element = h("nav.worlds", { "aria-label": label, hidden: actions.variants().length < 2 }, this.list, menu);
    roving(this.list);
  }

  write(variant: string): void {
    const { variants, nameOf, linkTo } = this.actions;
    const written = JSON.stringify([variant, variants().map((one) => [one.id, one.summary, nameOf(one), linkTo(one.id)])]);
    if (written === this.written) this.focused = false;
    else this.rebuild(variant);
    this.written = written;
  }

  private rebuild(variant: string): void {
    this.variant = variant;
    this.list.replaceChildren(...this.actions.variants().map((one) => h("li", this.link(one))));
    this.menu.replaceChildren(
      ...this.actions.variants().map((one) => h("option", { value: one.id, selected: one.id === variant }, this.actions.nameOf(one))),
    );
    const shown = this.list.querySelector<HTMLElement>("[aria-current]");
    if (this.focused) shown?.focus();
    this.focused = false;
    // The next frame has a layout already, so reading it costs nothing.
    if (shown) requestAnimationFrame(() => this.scrollTo(shown));
  }

  private scrollTo({ offsetLeft, offsetWidth }: HTMLElement): void {
    const { scrollLeft, clientWidth } = this.list;
    if (offsetLeft < scrollLeft || offsetLeft + offsetWidth > scrollLeft + clientWidth) this.list.scrollLeft = offsetLeft - 16;
  }

  switchTo(variant: Variant, push = true): void {
    this.focused = this.list.contains(document.activeElement);
    this.switching = this.switching.then(() => this.actions.goTo(variant, push)).catch(() => {});
  }

  next(): void {
    const all = this.actions.variants();
    const next = all[(all.findIndex(({ id }) => id === this.variant) + 1) % all.length];
    if (next) this.switchTo(next);
  }

  private link(variant: Variant): HTMLElement {
    const link = h(
      "a",
      { href: this.actions.linkTo(variant.id), "aria-current": variant.id === this.variant && "page", title: variant.summary },
      [this.actions.nameOf(variant)],
    );
    link.addEventListener("click", (event) => {
      // The browser handles clicks that open another tab or window.
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      this.switchTo(variant);
    });
    return link;
  }
}
