// A picture that contains each kind of shape once or more.

import type { Scene } from "../rooms/control/own/paint";

export const scene: Scene = {
  size: [12, 10],
  shapes: [
    { kind: "rect", numbers: [0, 9, 12, 1], text: null, colour: "lightgreen" },
    { kind: "rect", numbers: [4, 8, 3, 1], text: null, colour: "green" },
    { kind: "circle", numbers: [6.5, 3.5, 0.4], text: null, colour: "red" },
    { kind: "line", numbers: [6.5, 3.9, 6.5, 8], text: null, colour: "gray" },
    { kind: "polygon", numbers: [1, 5, 3, 5, 2, 3], text: null, colour: "blue" },
    { kind: "text", numbers: [6, 1], text: "Score: 7", colour: "black" },
  ],
};
