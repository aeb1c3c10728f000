// The address bar contains the initial settings of the current run and its live changes, so that a copied link or a reload reproduces the
// run.

import type { Client } from "../run/client";
import { addressOf, currentLink, lessonIn, placeIn } from "../run/link";
import { pageLife, untilClosed } from "./life";

/** Delay between a change of the run and the update of the address. */
const FOLLOW_MS = 250;

export class Address {
  /** Link to the current run, as last reported by the worker. */
  current = "";
  /** Link that this page set last. If the browser's address differs, the visitor entered it, and the page does not overwrite it. */
  private written = currentLink();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly life = pageLife();

  constructor(private readonly client: Client) {
    untilClosed(() => clearTimeout(this.timer));
  }

  /** Schedules an update of the address. */
  follow(): void {
    clearTimeout(this.timer);
    if (this.client.isFallback) return; // the address belongs to the run that waits for its data
    this.timer = setTimeout(() => void this.write(), FOLLOW_MS);
  }

  /** Adds an entry to the browser's history for a run that is about to begin. */
  push(link: string): void {
    if (link !== currentLink()) history.pushState(null, "", this.here(link));
    this.written = currentLink();
  }

  /** Writes the open tab and section into the address. If the visitor chose the tab, the back button returns to the previous tab. */
  place(place: string[], chosen: boolean): void {
    const link = currentLink() || `#/${this.client.room.id}`;
    if (placeIn(location.hash).join() === place.join()) return;
    history[chosen ? "pushState" : "replaceState"](null, "", this.here(link, place));
    this.written = currentLink();
  }

  is(link: string): boolean {
    return link === this.written;
  }

  went(link: string): void {
    this.written = link;
  }

  private async write(): Promise<void> {
    const { written } = this;
    const { address } = await this.client.shared().catch(() => ({ address: this.current }));
    if (this.life.aborted || written !== this.written || written !== currentLink()) return;
    this.current = address;
    // A digest in the link stays in the address until a setting changes.
    if (written.replace(/&digest=[^&]*/, "") === address) return;
    history.replaceState(null, "", this.here(address));
    this.written = currentLink();
  }

  /** Adds the open tab and the open lesson, as in the browser's address, to a link. */
  private here(link: string, place = placeIn(location.hash)): string {
    return addressOf(link, place, lessonIn(location.hash));
  }
}

/**
 * Returns the variant in a link, or the first variant if the link names none; undefined if the link leads to another room. `plain` is true
 * if the link contains no other settings.
 */
export function linked(link: string, { room, rooms }: Client): { variant: string; plain: boolean } | undefined {
  const [path = "", query = ""] = link.split("?");
  const asked = new URLSearchParams(query);
  const named = path.replace(/^#?\/?/, "").replace(/\/$/, "");
  if (named !== room.id && !(named === "" && rooms[0]?.id === room.id)) return undefined;
  const words = ["variant", room.variant_word];
  const variant = words.map((word) => asked.get(word)).find((id) => id !== null) ?? room.variants[0]!.id;
  return { variant, plain: [...asked.keys()].every((name) => name === "v" || words.includes(name)) };
}
