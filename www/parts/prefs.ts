// Choices of the visitor that are remembered (theme, shortcuts). Without browser storage they last until the end of the visit.

import { STORES } from "../run/storing";

const key = (name: string): string => `hothouse.${name}`;

export function recall(name: string): string | null {
  try {
    return STORES ? localStorage.getItem(key(name)) : null;
  } catch {
    return null;
  }
}

export function remember(name: string, value: string | null): void {
  if (!STORES) return;
  try {
    if (value === null) localStorage.removeItem(key(name));
    else localStorage.setItem(key(name), value);
  } catch {
    // Without storage the choice lasts for this visit.
  }
}
