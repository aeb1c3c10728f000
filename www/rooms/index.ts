// Every room that has pictures or words of its own, each loaded when it is opened. One that is not here has the parts that
// every room has.

import type { Brings } from "../parts/room";
import { STORE } from "./control/store";

export interface Entry {
  /** As in its address and in the wasm module. */
  id: string;
  load?: () => Promise<{ brings: Brings }>;
  /** Where its runs are kept in this browser, if not in `hothouse-ID`. */
  store?: string;
}

/** In the order of the header; the first is open where the address names none. */
export const ROOMS: Entry[] = [
  { id: "control", load: () => import("./control"), store: STORE },
  { id: "backgammon", load: () => import("./backgammon") },
  { id: "cube", load: () => import("./cube") },
  { id: "logic", load: () => import("./logic") },
  { id: "words", load: () => import("./words") },
];
