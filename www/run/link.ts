// The page's address: a link to a run, with the open tab and section between the room and the settings, and with the open lesson, as in
// `#/cube/explore/methods?variant=small&lesson=6-search`. A link that a visitor copies contains no tab, section or lesson.

const PATH = /^#\/?([^/?]*)\/?([^?]*)/;
const LESSON = /([?&])lesson=([^&]*)(&?)/;

/** Returns the names of the tab and the section in an address. The list is empty for the room's picture. */
export const placeIn = (address: string): string[] => (PATH.exec(address)?.[2] ?? "").split("/").filter(Boolean);

/** Returns the name of the lesson in an address; an empty text if there is none. */
export const lessonIn = (address: string): string => LESSON.exec(address)?.[2] ?? "";

/** Returns the link to the run in an address, without the tab and the lesson. */
export const linkOf = (address: string): string =>
  (placeIn(address).length ? addressOf(address, []) : address).replace(LESSON, (_, before, __, more) => more && before);

/** Replaces the tab and the section in a link, and adds a lesson. */
export const addressOf = (link: string, place: string[], lesson = ""): string =>
  link.replace(PATH, (_, room: string) => `#/${[room, ...place].join("/")}`) +
  (lesson && `${link.includes("?") ? "&" : "?"}lesson=${lesson}`);

/** Returns the link to the run in the browser's address. */
export const currentLink = (): string => linkOf(location.hash);

/** Returns the variant that a link names; undefined if it names none. */
export const variantIn = (link: string): string | undefined => new URLSearchParams(link.split("?")[1]).get("variant") ?? undefined;
