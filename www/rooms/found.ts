// Commands of the search that lead out of the open room: to the variants and sections of other rooms, to templates, lessons and documents.
// Import this module dynamically, because it contains the texts of all lessons and templates.

import documents from "../../docs/README.md?raw";
import { LESSONS } from "../lessons/all";
import { blocksOf, spansOf } from "../lessons/markdown";
import type { Command, Opening } from "../parts/commands";
import { capital } from "../parts/format";
import { MODEL, type SectionWords } from "../parts/places";
import { addressOf } from "../run/link";
import { ROOMS, type Entry } from ".";
import variants from "./variants.json";

/** The variants of a room: their kind in a word, and their names and summaries on the page. */
interface Variants {
  word: string;
  variants: { id: string; name: string; summary: string }[];
}

/** The variants by room. The rooms declare them in Rust. tests/web/palette.test.mjs compares the file with the page, or writes the file. */
const VARIANTS: Record<string, Variants | undefined> = variants;

const sections = import.meta.glob<Record<string, SectionWords>>("./*/sections.ts", { eager: true, import: "SECTIONS" });
const starters = import.meta.glob<(opening: Opening) => Command[]>("./*/starters.ts", { eager: true, import: "starters" });

/** Returns the commands that lead to other rooms, to templates, lessons and documents. `room` is the id of the open room or page. */
export const elsewhere = (room: string, opening: Opening): Command[] => [
  ...ROOMS.filter(({ id }) => id !== room).flatMap((entry) => inRoom(entry, opening)),
  ...Object.values(starters).flatMap((commands) => commands(opening)),
  ...LESSONS.map(({ name, title, room, asks }) => ({
    ...{ kind: "Lessons", name: title, note: capital(room), words: asks },
    run: () => opening.go(addressOf(`#/${room}`, [], name)),
  })),
  ...DOCUMENTS,
];

function inRoom({ id, model }: Entry, { go }: Opening): Command[] {
  const note = capital(id);
  const { word, variants } = VARIANTS[id] ?? { word: "variant", variants: [] };
  const own = Object.values(sections[`./${id}/sections.ts`] ?? {});
  return [
    ...variants.map((one) => ({
      ...{ kind: `${capital(word)}s`, name: one.name, note, words: `${one.id} ${one.summary}` },
      run: () => go(`#/${id}?variant=${one.id}&v=2`),
    })),
    ...[...own, ...(model ? [MODEL] : [])].map(({ tab, name, heading, words }: SectionWords) => ({
      ...{ kind: "Sections", name: heading, note, words },
      run: () => go(addressOf(`#/${id}`, [tab, name])),
    })),
  ];
}

/** Documents that the page contains, from their list. */
const DOCUMENTS: Command[] = blocksOf(documents)
  .flatMap((block) => (block.kind === "table" ? block.rows : block.kind === "paragraph" ? [[block.text]] : []))
  .flatMap(([links = "", words = ""]) => spansOf(links).flatMap((span) => (span.kind === "link" ? [{ ...span, words }] : [])))
  .filter(({ to }) => /^(rooms\/)?[\w-]+\.md$/.test(to))
  .map(({ text, to, words }) => ({
    ...{ kind: "Documents", name: capital(text), note: "Document", words },
    run: () => void open(`docs/${to.replace(".md", ".html")}`, "_blank", "noopener"),
  }));
