// Finds the id of a position in pasted text. The worker reads the id and reports what is wrong with it.

const XGID = /(?<![-\w])[-a-oA-O]{26}(?::[^\s:]*){8}:\d+(?![\d:])/;
const LABEL = /(position|match)\s+id/gi;
/**
 * A position id: 14 characters, of which the last one has two bits. Unlike a word of prose, it has a capital letter, a digit, `+` or `/`
 * inside.
 */
const POSITION = /(?<![\w+/])(?=.[a-z]*[A-Z\d+/])[A-Za-z\d+/]{13}[AQgw](?![\w+/])/;
/** A match id: 12 characters, of which the last one has three bits. */
const MATCH = /(?<![\w+/])[A-Za-z\d+/]{11}[A-H](?![\w+/])/;

/**
 * Returns the XGID in a text, or GNU Backgammon's position id, followed by a colon and the match id if there is one. If no id is found, the
 * text may be a damaged id: it is returned unchanged if it has no spaces or contains the name of an id. Returns undefined for other text.
 */
export function idIn(text: string): string | undefined {
  const plain = text.trim().replaceAll("%3A", ":");
  const xgid = XGID.exec(plain)?.[0];
  if (xgid) return `XGID=${xgid}`;
  if (!/\s/.test(plain)) return plain;
  // Each label starts a new line again, because a single-line field joins the lines of a pasted text.
  const lines = plain.replace(LABEL, "\n$&");
  const position = POSITION.exec(lines)?.[0];
  const match = MATCH.exec(lines)?.[0];
  const labels = plain.match(LABEL)?.length ?? 0;
  if (position && match) return `${position}:${match}`;
  if (position && labels < 2) return position;
  return labels > 0 || /xgid/i.test(plain) ? plain : undefined;
}

export const NO_ID = "No position in this text. Paste an XGID, a position id, or all that the program copied.";
