// Entries and tracks of the gallery: the files of the folder `gallery`, and their pictures.

import type { Digest } from "../run/protocol";

/** Values by the names of their columns. An unknown value is null. */
type Named = Record<string, number | null>;

/** An entry's file; see `crates/run/src/gallery.rs`. */
interface EntryFile {
  track: string;
  title: string;
  author: string;
  text: string;
  link: string;
  arithmetic: string;
  digests: Record<string, string>;
  /** Values of a column by iterations. The name of the column begins with `metrics.` or `test.`. */
  curve: { column: string; points: Record<string, number> };
  end: Named;
  solved: Named | null;
  test: Named;
  cpu_seconds: number;
  chip: string;
  threads: number;
}

export type Entry = EntryFile & {
  /** Name of the file, without its ending. */
  id: string;
};

interface TrackFile {
  title: string;
  rule: string;
  link: string;
  score: string;
  unit: string;
  largest?: boolean;
}

export type Track = TrackFile & {
  id: string;
  /** Entries of the track, the leader first. */
  entries: Entry[];
};

const idOf = (path: string): string => path.replace(/^.*\//, "").replace(/\.json$/, "");

function named<T extends object>(files: Record<string, T>): (T & { id: string })[] {
  return Object.entries(files).map(([path, file]) => ({ ...file, id: idOf(path) }));
}

const entryFiles = import.meta.glob<EntryFile>("../../gallery/*.json", { eager: true, import: "default" });
const trackFiles = import.meta.glob<TrackFile>("../../gallery/tracks/*.json", { eager: true, import: "default" });
const pictures = import.meta.glob<string>("../../gallery/pictures/*.jpg", { eager: true, import: "default", query: "?url" });

/** Returns the number that ranks an entry; undefined if the entry does not have it. */
export function scoreOf(entry: Entry, { score }: Pick<TrackFile, "score">): number | undefined {
  const [group, name] = score.split(".") as [keyof Entry, string?];
  const values = entry[group];
  const found = name ? (values as Named | null)?.[name] : values;
  return typeof found === "number" ? found : undefined;
}

export const ENTRIES: Entry[] = named(entryFiles);

/** Tracks in the order of their titles. */
export const TRACKS: Track[] = named(trackFiles)
  .map((track) => {
    const worst = track.largest ? -Infinity : Infinity;
    const score = (entry: Entry): number => scoreOf(entry, track) ?? worst;
    const order = track.largest ? -1 : 1;
    const entries = ENTRIES.filter((entry) => entry.track === track.id).toSorted((a, b) => order * (score(a) - score(b)));
    return { ...track, entries };
  })
  .toSorted((a, b) => a.title.localeCompare(b.title));

/** Returns the address of the picture of an entry, or of its track; undefined without a picture. */
export function pictureOf({ id, track }: Entry, theme: string): string | undefined {
  const file = (name: string): string | undefined => pictures[`../../gallery/pictures/${name}-${theme}.jpg`];
  return file(id) ?? file(track);
}

/** Returns the digests of an entry, oldest first. */
export const digestsOf = ({ digests, arithmetic }: Entry): Digest[] =>
  Object.entries(digests)
    .map(([iteration, weights]) => ({ iteration: Number(iteration), weights, arithmetic }))
    .toSorted((a, b) => a.iteration - b.iteration);

/** Returns the link that opens the run of an entry. The page then compares the run with the entry. */
export function checkedLink(entry: Entry): string {
  const { iteration, weights, arithmetic } = digestsOf(entry).at(-1)!;
  return `${entry.link}&digest=${iteration}.${weights}.${arithmetic}`;
}

/** Returns the entry that a link opens; undefined for other links. */
export const entryOf = (link: string): Entry | undefined => ENTRIES.find((entry) => checkedLink(entry) === link);
