// Parser for the subset of Markdown that lessons use: headings, paragraphs, lists, tables, fences, and code, bold text and links within a
// line. This module does not use the DOM.

export type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "paragraph"; text: string }
  | { kind: "list"; ordered: boolean; items: string[] }
  | { kind: "table"; head: string[]; rows: string[][] }
  | { kind: "fence"; tag: string; text: string };

/** Span of a line with one format. A link has a target `to`. */
export type Span = { text: string; kind: "plain" | "code" | "strong" } | { text: string; kind: "link"; to: string };

const FENCE = /^```(.*)$/;
const HEADING = /^(#{1,6}) (.+)$/;
const ITEM = /^(-|\d+\.) (.+)$/;
const ROW = /^\|(.+)\|$/;

/** Reads a text into blocks. */
export function blocksOf(text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  while (lines.length) {
    const line = lines.shift()!;
    const [heading, fence, item] = [HEADING.exec(line), FENCE.exec(line), ITEM.exec(line)];
    if (!line.trim()) continue;
    if (heading) blocks.push({ kind: "heading", level: heading[1]!.length, text: heading[2]! });
    else if (fence) blocks.push({ kind: "fence", tag: fence[1]!.trim(), text: fenced(lines) });
    else if (item) blocks.push({ kind: "list", ordered: item[1] !== "-", items: items(item[2]!, lines) });
    else if (ROW.test(line)) blocks.push(table([line, ...taken(lines, (next) => ROW.test(next))]));
    else blocks.push({ kind: "paragraph", text: [line, ...taken(lines, continues)].join(" ") });
  }
  return blocks;
}

/** Returns true if a line continues the paragraph or the item before it. */
const continues = (line: string): boolean => line.trim() !== "" && ![HEADING, FENCE, ITEM, ROW].some((start) => start.test(line));

/** Removes the lines at the beginning of `lines` that satisfy `holds`, and returns them. */
function taken(lines: string[], holds: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !holds(line));
  return lines.splice(0, end < 0 ? lines.length : end).map((line) => line.trim());
}

function fenced(lines: string[]): string {
  const end = lines.indexOf("```");
  if (end < 0) throw new Error("A fence has no end. Add a line with ```.");
  return lines
    .splice(0, end + 1)
    .slice(0, -1)
    .join("\n");
}

function items(first: string, lines: string[]): string[] {
  const all = [first];
  for (;;) {
    all.push([all.pop(), ...taken(lines, continues)].join(" "));
    const next = ITEM.exec(lines[0] ?? "");
    if (!next) return all;
    lines.shift();
    all.push(next[2]!);
  }
}

function table(lines: string[]): Block {
  const [head, , ...rows] = lines.map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  return { kind: "table", head: head!, rows };
}

const SPAN = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Splits a line into its spans. */
export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  const plain = (to: number): void => void (to > from && spans.push({ kind: "plain", text: text.slice(from, to) }));
  for (const { 0: all, 1: code, 2: strong, 3: link, 4: to, index } of text.matchAll(SPAN)) {
    plain(index);
    if (code) spans.push({ kind: "code", text: code });
    else if (strong) spans.push({ kind: "strong", text: strong });
    else spans.push({ kind: "link", text: link!, to: to! });
    from = index + all.length;
  }
  plain(text.length);
  return spans;
}
