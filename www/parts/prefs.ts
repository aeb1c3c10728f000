// Choices of the visitor that are remembered (theme, shortcuts). Without browser storage they last until the end of the visit.

const key = (name: string): string => `hothouse.${name}`;

export function recall(name: string): string | null {
  try {
    return localStorage.getItem(key(name));
  } catch {
    return null;
  }
}

export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key(name));
    else localStorage.setItem(key(name), value);
  } catch {
    // Without storage the choice lasts for this visit.
  }
}
