// The page's address. It is a link to a run, to which the open tab and section and the open lesson are added:
// `#/cube/explore/methods?variant=small&lesson=6-search`. A link that a visitor copies contains no tab, section or lesson.

const PATH = /^#\/?([^/?]*)\/?([^?]*)/;
const LESSON = /([?&])lesson=([^&]*)(&?)/;

/** Returns the names of the tab and the section in an address. The list is empty if the address names no tab. */
export const placeIn = (address: string): string[] => (PATH.exec(address)?.[2] ?? "").split("/").filter(Boolean);

/** Returns the name of the lesson in an address, or an empty string if the address names no lesson. */
export const lessonIn = (address: string): string => LESSON.exec(address)?.[2] ?? "";

/** Returns the link to the run in an address, without the tab, the section and the lesson. */
export const linkOf = (address: string): string =>
  (placeIn(address).length ? addressOf(address, []) : address).replace(LESSON, (_, before, __, more) => more && before);

/** Replaces the tab and the section in a link by `place`, and adds a lesson if `lesson` is not empty. */
export const addressOf = (link: string, place: string[], lesson = ""): string =>
  link.replace(PATH, (_, room: string) => `#/${[room, ...place].join("/")}`) +
  (lesson && `${link.includes("?") ? "&" : "?"}lesson=${lesson}`);

/** Returns the link to the run in the browser's address. */
export const currentLink = (): string => linkOf(location.hash);

/** Returns the variant that a link names; undefined if the link names no variant. */
export const variantIn = (link: string): string | undefined => new URLSearchParams(link.split("?")[1]).get("variant") ?? undefined;
