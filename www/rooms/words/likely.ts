// Bar chart of tokens by probability.

import { h, write } from "../../parts/dom";
import { label } from "./tokens";

export type Likely = { text: string; share: number; mark?: string };

/** Formats a probability as a percentage, such as `43%`, `4.3%` or `0.4%`. */
export const percent = (share: number): string => {
  const all = 100 * share;
  return all > 0 && all < 0.1 ? "< 0.1%" : `${all >= 9.95 || all === 0 ? Math.round(all) : all.toFixed(1)}%`;
};

export class LikelyList {
  readonly element = h("ol.likely");
  private rows: { row: HTMLElement; token: HTMLElement; mark: HTMLElement; bar: HTMLElement; share: HTMLElement }[] = [];

  show(all: Likely[]): void {
    while (this.rows.length < all.length) {
      const part = (name: string): HTMLElement => h("span", { class: name });
      const [token, mark, bar, share] = [part("likely-token"), part("likely-mark"), part("likely-bar"), part("number")];
      this.rows.push({
        row: h("li", h("span.likely-name", token, " ", mark), h("span.likely-well", bar), share),
        token,
        mark,
        bar,
        share,
      });
    }
    if (this.element.childElementCount !== all.length)
      this.element.replaceChildren(...this.rows.slice(0, all.length).map(({ row }) => row));
    all.forEach(({ text, share, mark }, k) => {
      const parts = this.rows[k]!;
      write(parts.token, label(text));
      write(parts.mark, mark ?? "");
      write(parts.share, percent(share));
      parts.bar.style.transform = `scaleX(${share.toFixed(3)})`;
      parts.row.classList.toggle("marked", mark !== undefined);
    });
  }
}
