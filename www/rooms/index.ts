// Rooms with their own pictures or texts, each loaded when it is opened. A room that is not listed shows the common parts only.

import type { RoomExtension } from "../parts/room";
import { STORE } from "./control/store";

export interface Entry {
  /** Room id in the URL and in the wasm module. */
  id: string;
  load?: () => Promise<{ extension: RoomExtension }>;
  /** Name of the room's store in the browser; `hothouse-ID` by default. */
  store?: string;
}

/** Rooms in the order of the header. The first is the default. */
export const ROOMS: Entry[] = [
  { id: "control", load: () => import("./control"), store: STORE },
  { id: "backgammon", load: () => import("./backgammon") },
  { id: "cube", load: () => import("./cube") },
  { id: "logic", load: () => import("./logic") },
  { id: "words", load: () => import("./words") },
];
