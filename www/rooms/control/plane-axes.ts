// The choice of the state plane's two axes. An open axis widens until it contains the observations that occur.

import { h, id, labelled } from "../../parts/dom";
import { along, widen } from "./axes";
import type { Player } from "./player";
import type { Axis } from "./protocol";

export class PlaneAxes {
  private readonly across = h("select", { id: id("across") });
  private readonly up = h("select", { id: id("up") });
  readonly element = h("div.plane-axes", labelled("Horizontal axis", this.across), labelled("Vertical axis", this.up));
  private all: Axis[] = [];

  /** `changed` is called after the visitor chooses another axis. */
  constructor(changed: () => void) {
    for (const select of [this.across, this.up]) select.addEventListener("change", changed);
  }

  /** Offers the axes of an environment. The choice stays if the previous environment had the same axes. */
  begin(axes: readonly Axis[]): void {
    const names = (of: readonly Axis[]): string => JSON.stringify(of.map(({ name }) => name));
    if (names(axes) !== names(this.all)) {
      [this.across, this.up].forEach((select, k) => {
        select.replaceChildren(...axes.map(({ name }) => h("option", name)));
        select.selectedIndex = Math.min(k, axes.length - 1);
      });
    }
    this.all = axes.map((axis) => ({ ...axis }));
    this.element.hidden = axes.length < 3;
  }

  /** The two chosen axes, horizontal first. */
  get chosen(): [Axis, Axis] {
    return [this.all[this.across.selectedIndex]!, this.all[this.up.selectedIndex]!];
  }

  /** Widens the chosen axes if they are open. Returns true if an axis has become wider. */
  widen(player: Player): boolean {
    let wider = false;
    for (const axis of this.chosen.filter(({ open }) => open)) {
      const before = axis.high - axis.low;
      for (let env = 0; env < player.shown; env++) widen(axis, along(axis, player, env));
      wider ||= axis.high - axis.low > before;
    }
    return wider;
  }
}
