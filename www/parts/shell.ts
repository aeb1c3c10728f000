// Words of commands that a person pastes into a terminal.

/** One word in which nothing means anything to a shell; as `run::permalink` writes it. */
export function quoted(word: string): string {
  if (/^(?!=)[\p{L}\p{N}\-_./=:+@%,]+$/u.test(word)) return word;
  if (!/\p{Cc}/u.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  const octal = (char: string): string =>
    [...new TextEncoder().encode(char)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return `$'${word.replace(/['\\]/g, "\\$&").replace(/\p{Cc}/gu, octal)}'`;
}
