// The address bar: it says what began the present run and what was changed since, so that a copy of it, or the page loaded again, gives
// the same.

import type { Client } from "../run/client";
import { pageLife, untilClosed } from "./life";

/** It follows what is changed after so long. */
const FOLLOW_MS = 250;

export class Address {
  /** The link that begins the present run, as far as it was heard. */
  current = "";
  /** What the bar has by this page's doing. Where it has something else, the visitor has gone there, and that is not written over. */
  private written = location.hash;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly life = pageLife();

  constructor(private readonly client: Client) {
    untilClosed(() => clearTimeout(this.timer));
  }

  /** Soon; a link is asked for again. */
  follow(): void {
    clearTimeout(this.timer);
    if (this.client.standsIn) return; // the address is that of the run which waits
    this.timer = setTimeout(() => void this.write(), FOLLOW_MS);
  }

  /** Another page of the browser's history, for a run that is about to begin. */
  push(link: string): void {
    if (link !== location.hash) history.pushState(null, "", link);
    this.written = location.hash;
  }

  went(link: string): void {
    this.written = link;
  }

  private async write(): Promise<void> {
    const { written } = this;
    const { address } = await this.client.shared().catch(() => ({ address: this.current }));
    if (this.life.aborted || written !== this.written || written !== location.hash) return;
    this.current = address;
    // A digest that is to be reached stays while nothing was changed.
    if (written.replace(/&digest=[^&]*/, "") === address) return;
    history.replaceState(null, "", address);
    this.written = location.hash;
  }
}

/** The variant that a link of this room names, or the first, and whether it carries nothing else. */
export function linked(link: string, { room, rooms }: Client): { variant: string; plain: boolean } | undefined {
  const [path = "", query = ""] = link.split("?");
  const asked = new URLSearchParams(query);
  const named = path.replace(/^#?\/?/, "").replace(/\/$/, "");
  if (named !== room.id && !(named === "" && rooms[0]?.id === room.id)) return undefined;
  const words = ["variant", room.variant_word];
  const variant = words.map((word) => asked.get(word)).find((id) => id !== null) ?? room.variants[0]!.id;
  return { variant, plain: [...asked.keys()].every((name) => name === "v" || words.includes(name)) };
}
