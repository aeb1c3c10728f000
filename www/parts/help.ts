// The help dialog: the features of the page and of the room, and all keys and gestures.

import { Dialog } from "./dialog";
import { button, h, id } from "./dom";
import type { RoomExtension } from "./room";
import type { Gesture, Shortcuts } from "./shortcuts";

const ABOUT =
  "Watch agents learn on your own CPU and GPU. Everything is computed in this tab. Nothing is installed and nothing is sent anywhere.";
const CAN = [
  "Turn a knob during training. Each change marks the curve and can be undone.",
  "Pause, single-step, or start a new run. The previous run stays as a grey curve and can be restored.",
  "Sweep a knob: several runs side by side, each with a different value.",
  "Save the run, share it as a link from which anyone can verify it, or continue it in a terminal or in Python.",
  "Take a lesson of ten minutes: the link Lessons above the room.",
];
const GESTURES: Gesture[] = [
  { shown: "drag a slider", does: "turns a knob" },
  { shown: "touch a chart", does: "reads the values there" },
  { shown: "swipe a row of names", does: "shows the other rooms and variants" },
];
/** Parts of the page that the dialog shows or controls. `keys` is the list of all keys except `?`. */
export type Help = { keys: Gesture[]; shortcuts: Shortcuts; tour: () => void };

const table = (caption: string, column: string, rows: Gesture[]): HTMLElement =>
  h("table.keys", [
    h("caption.unseen", caption),
    h("thead.unseen", h("tr", h("th", { scope: "col" }, column), h("th", { scope: "col" }, "Action"))),
    h("tbody", [
      rows.map((row) => h("tr", h("th", { scope: "row" }, column === "Key" ? h("kbd", row.shown) : row.shown), h("td.text", row.does))),
    ]),
  ]);

export function helpDialog({ can = [], gestures = [] }: RoomExtension, { keys, shortcuts, tour }: Help): Dialog {
  const boxId = id("keys");
  const box = h("input", { type: "checkbox", id: boxId, role: "switch", checked: shortcuts.areOn });
  box.addEventListener("change", () => shortcuts.turn(box.checked));
  const dialog = new Dialog(
    "Help",
    h("p", ABOUT),
    h("h3", "Features"),
    h("ul.can", ...[...can, ...CAN].map((words) => h("li", words))),
    h("p.row", [button("Take the tour", () => (dialog.close(), tour()))]),
    // The style sheet shows one of the two sections, depending on the input device: keyboard or touch screen.
    h("section.by-keys", { "aria-label": "Keys" }, [
      h("h3", "Keys"),
      table("Keyboard shortcuts", "Key", [...keys, { shown: "?", does: "this help" }]),
      h("p.row", box, h("label", { for: boxId }, "Single-key shortcuts")),
    ]),
    h("section.by-touch", { "aria-label": "Touch" }, h("h3", "Touch"), table("Gestures", "Gesture", [...gestures, ...GESTURES])),
  );
  return dialog;
}
