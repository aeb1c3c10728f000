/** Runs of this room keep the name in the browser's storage that they had while there was no other room. */
export const STORE = "hothouse";
