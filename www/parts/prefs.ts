// A few remembered choices (theme, shortcuts). A browser that refuses storage only forgets them.

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
    // Storage is refused: the choice holds for this visit.
  }
}
