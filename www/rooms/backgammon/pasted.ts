// Finds the id of a position in pasted text. The worker parses the id and reports its errors.

const XGID = /(?<![-\w])[-a-oA-O]{26}(?::[^\s:]*){8}:\d+(?![\d:])/;
const LABEL = /(position|match)\s+id/gi;
/**
 * A position id: 14 characters, of which the last one encodes only two bits. To exclude words of prose, the pattern requires a capital
 * letter, a digit, `+` or `/` after the first character.
 */
const POSITION = /(?<![\w+/])(?=.[a-z]*[A-Z\d+/])[A-Za-z\d+/]{13}[AQgw](?![\w+/])/;
/** A match id: 12 characters, of which the last one encodes only three bits. */
const MATCH = /(?<![\w+/])[A-Za-z\d+/]{11}[A-H](?![\w+/])/;

/**
 * Returns the id in a text: an XGID, or GNU Backgammon's position id. A match id in the text is appended to the position id after a colon.
 *
 * A text without a valid id may be a damaged id. It is returned unchanged if it has no spaces or contains the name of an id. For any other
 * text, returns undefined.
 */
export function idIn(text: string): string | undefined {
  const plain = text.trim().replaceAll("%3A", ":");
  const xgid = XGID.exec(plain)?.[0];
  if (xgid) return `XGID=${xgid}`;
  if (!/\s/.test(plain)) return plain;
  // Starts a new line before each label, because a single-line field joins the lines of a pasted text.
  const lines = plain.replace(LABEL, "\n$&");
  const position = POSITION.exec(lines)?.[0];
  const match = MATCH.exec(lines)?.[0];
  const labels = plain.match(LABEL)?.length ?? 0;
  if (position && match) return `${position}:${match}`;
  if (position && labels < 2) return position;
  return labels > 0 || /xgid/i.test(plain) ? plain : undefined;
}

export const NO_ID = "No position in this text. Paste an XGID, a position id, or all that the program copied.";
