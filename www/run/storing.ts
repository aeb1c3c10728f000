/**
 * True if this document may store runs and choices in the browser. A frame in another page stores nothing, because `scripts/build.mjs`
 * bundles its document `embed.html` in the mode `frame`.
 */
export const STORES: boolean = import.meta.env.MODE !== "frame";
