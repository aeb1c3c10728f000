// The page's address: a link to a run, with the open tab and section between the room and the settings, as in
// `#/cube/explore/methods?variant=small`. A link that a visitor copies contains no tab.

const PATH = /^#\/?([^/?]*)\/?([^?]*)/;

/** Returns the names of the tab and the section in an address. The list is empty for the room's picture. */
export const placeIn = (address: string): string[] => (PATH.exec(address)?.[2] ?? "").split("/").filter(Boolean);

/** Returns the link to the run in an address, without the tab. */
export const linkOf = (address: string): string => (placeIn(address).length ? addressOf(address, []) : address);

/** Replaces the tab and the section in an address. */
export const addressOf = (address: string, place: string[]): string =>
  address.replace(PATH, (_, room: string) => `#/${[room, ...place].join("/")}`);

/** Returns the link to the run in the browser's address. */
export const currentLink = (): string => linkOf(location.hash);

/** Returns the variant that a link names; undefined if it names none. */
export const variantIn = (link: string): string | undefined => new URLSearchParams(link.split("?")[1]).get("variant") ?? undefined;
