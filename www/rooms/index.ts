// Rooms of the page. The build makes a wasm module for each room. The code of a room is loaded when the room is opened. A room without
// `load` shows only the parts of the page that all rooms share.

import type { RoomExtension } from "../parts/room";
import { ownData } from "./control/own/data";
import { STORE } from "./control/store";

export interface Entry {
  /** Id of the room in links and in the wasm module. */
  id: string;
  load?: () => Promise<{ extension: RoomExtension }>;
  /** Variant that needs a separate wasm module. The module has the name of the variant. */
  own?: string;
  /** Returns the data for a link to the variant `own` that contains none. */
  ownData?: () => Promise<File>;
  /** Name of the browser database with the room's runs; by default `hothouse-ID`. */
  store?: string;
  /** True if the model of this room can be exported for other programs. */
  model?: true;
}

/** Rooms in the order of the header. The first room is the default. */
export const ROOMS: Entry[] = [
  { id: "control", load: () => import("./control"), store: STORE, own: "own", ownData, model: true },
  { id: "backgammon", load: () => import("./backgammon"), model: true },
  { id: "cube", load: () => import("./cube"), model: true },
  { id: "logic", load: () => import("./logic") },
  { id: "words", load: () => import("./words"), model: true },
];

/** Returns the name of the wasm module for a run of this room and variant. */
export const moduleOf = ({ id, own }: Entry, variant: string | undefined): string => (own !== undefined && variant === own ? own : id);
