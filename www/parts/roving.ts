// A row of links or buttons that is one tab stop. Arrow keys, Home and End move the focus within the row.

import { modified, placeOf } from "./keys";

export function roving(row: HTMLElement): void {
  const items = (): HTMLElement[] => [...row.querySelectorAll<HTMLElement>("a, button")].filter(({ hidden }) => !hidden);
  const stopAt = (stop: Element | undefined): void => {
    for (const item of items()) item.tabIndex = item === stop ? 0 : -1;
  };
  const settle = (): void => {
    const all = items();
    stopAt(all.find((item) => item === document.activeElement) ?? all.find((item) => item.matches("[aria-current]")) ?? all[0]);
  };
  row.addEventListener("focusin", settle);
  row.addEventListener("keydown", (event) => {
    const all = items();
    const at = all.indexOf(event.target as HTMLElement);
    const to = at < 0 || modified(event) ? undefined : all[placeOf(event, at, all.length) ?? -1];
    if (!to) return;
    event.preventDefault();
    to.focus();
  });
  new MutationObserver(settle).observe(row, { childList: true, subtree: true, attributeFilter: ["aria-current", "hidden"] });
  settle();
}
