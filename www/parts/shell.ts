// Quotes words of the shell commands that the visitor pastes into a terminal.

/** Quotes a word for a shell, as `run::permalink::quoted` does. */
export function quoted(word: string): string {
  if (/^(?!=)[\p{L}\p{N}\-_./=:+@%,]+$/u.test(word)) return word;
  if (!/\p{Cc}/u.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  const octal = (char: string): string =>
    [...new TextEncoder().encode(char)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return `$'${word.replace(/['\\]/g, "\\$&").replace(/\p{Cc}/gu, octal)}'`;
}
