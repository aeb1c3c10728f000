/**
 * True if this document stores runs and choices in the browser. A frame in another page stores nothing. `scripts/build.mjs` bundles
 * `embed.html` in the mode `frame`.
 */
export const STORES: boolean = import.meta.env.MODE !== "frame";
