// World of an environment from a file, which draws its own picture. This module is loaded when the first run in such an environment begins.

import { figure } from "../../../parts/format";
import { paint } from "../own/paint";
import type { Environment } from "../protocol";
import { AGES, any } from "./any";
import { Tiles } from "./tiles";
import { classBy, type LargePainter, type Pose, type Size, type World } from "./world";

/** Size of the agent's picture while the visitor plays, as a share of the visitor's picture. */
const INSET = 0.3;
/** Maximum number of the state's values in the description for screen readers. */
const MOST_SAID = 8;

type PictureSize = [width: number, height: number];

/** Draws the shapes of a pose in the upper right corner of `area`. `share` is the size of the drawing relative to `area`. */
function show(c: CanvasRenderingContext2D, size: PictureSize, area: Size, { body }: Pose, share: number): void {
  // `paint` needs sizes in canvas pixels, because it aligns edges with whole pixels.
  const ratio = c.canvas.width / area.width;
  const [width, height] = [area.width * share * ratio, area.height * share * ratio];
  paint(c, { size, shapes: body.shapes }, { left: area.width * ratio - width, top: 0, width, height });
}

const picture = (environment: Environment, size: PictureSize): LargePainter => ({
  shape: size[1] / size[0],
  scene: () => {},
  body: (c, area, pose) => show(c, size, area, pose, pose.ghost ? INSET : 1),
  describe: ({ body: { state, fault } }) =>
    fault ??
    state
      .slice(0, MOST_SAID)
      .map((value, k) => `${environment.state[k] ?? k} ${figure(value)}`)
      .join(", "),
});

/** Returns the world of an environment from a file. */
export function fileWorld(environment: Environment): World {
  const base = any(environment);
  const { id, summary, size, keys } = environment;
  return {
    ...base,
    name: id,
    title: id,
    lead: (environments) => `${environments} copies of ${id} share one network. ${summary}.`,
    invite: keys.length ? "The agent plays. Your keys are in the file." : base.invite,
    controls: {},
    keys: new Map(keys.map(({ key, action }) => [key, action])),
    crowd: size ? (ask) => new Tiles(size, (steps) => classBy(steps, AGES), ask) : undefined,
    large: size ? picture(environment, size) : base.large,
  };
}
