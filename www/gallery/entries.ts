// Entries and tracks of the gallery: the files of the folder `gallery`, and their pictures.

import { checkedLink, idOf, readEntries, scoreOf, type Entry } from "./entry";

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

const texts = import.meta.glob<string>("../../gallery/*.json", { eager: true, import: "default", query: "?raw" });
const trackFiles = import.meta.glob<TrackFile>("../../gallery/tracks/*.json", { eager: true, import: "default" });
const pictures = import.meta.glob<string>("../../gallery/pictures/*.jpg", { eager: true, import: "default", query: "?url" });

/** The entries, and a sentence for each file that is no entry. */
export const { entries: ENTRIES, faults: FAULTS } = readEntries(texts);

/** Tracks in the order of their titles. */
export const TRACKS: Track[] = Object.entries(trackFiles)
  .map(([path, track]) => {
    const id = idOf(path);
    const worst = track.largest ? -Infinity : Infinity;
    const score = (entry: Entry): number => scoreOf(entry, track.score) ?? worst;
    const order = track.largest ? -1 : 1;
    const entries = ENTRIES.filter((entry) => entry.track === id).toSorted((a, b) => order * (score(a) - score(b)));
    return { ...track, id, entries };
  })
  .toSorted((a, b) => a.title.localeCompare(b.title));

/** Returns the address of the picture of an entry; undefined without a picture. */
export const pictureOf = ({ id }: Entry, theme: string): string | undefined => pictures[`../../gallery/pictures/${id}-${theme}.jpg`];

/** Returns the entry that a link opens; undefined for other links. */
export const entryOf = (link: string): Entry | undefined => ENTRIES.find((entry) => checkedLink(entry) === link);
