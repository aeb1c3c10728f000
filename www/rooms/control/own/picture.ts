// The picture of an environment: a canvas as wide as its element, in the proportions of the environment.

import { h } from "../../../parts/dom";
import { Surface } from "../../../parts/loop";
import { paint, type Scene } from "./paint";

export class Picture {
  readonly element = h("canvas.own-picture", { role: "img", "aria-label": "Picture of the environment" });
  private readonly surface = new Surface(this.element, () => this.draw());
  private scene: Scene | undefined;

  /** Shows a picture. The canvas keeps its size if the new picture has the proportions of the previous one. */
  show(scene: Scene): void {
    this.scene = scene;
    this.element.style.aspectRatio = scene.size.join(" / ");
    this.draw();
  }

  close(): void {
    this.surface.close();
  }

  private draw(): void {
    if (this.scene && this.surface.width && this.surface.height) paint(this.surface.context, this.scene);
  }
}
