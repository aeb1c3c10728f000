// A part of the page that is loaded when its section is first shown.

import { h } from "./dom";
import { pageLife } from "./life";

export class Late<Part extends { readonly element: HTMLElement }> {
  readonly element = h("div");
  /** The part; undefined until it is loaded. */
  part: Part | undefined;
  private readonly life = pageLife();
  private loading: Promise<void> | undefined;

  /** `load` loads the part's files and returns the function that creates the part. */
  constructor(
    private readonly load: () => Promise<() => Part>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Loads the part. After a failure, the next call tries again. */
  show(): void {
    if (this.part || this.loading) return;
    this.loading = this.load()
      .then((make) => {
        if (this.life.aborted) return;
        this.part = make();
        this.element.append(this.part.element);
      })
      .catch((error) => {
        if (!this.life.aborted) this.failed(error);
      })
      .finally(() => (this.loading = undefined));
  }

  /** Waits until the part is loaded or has failed to load. */
  async loaded(): Promise<void> {
    await this.loading;
  }
}
