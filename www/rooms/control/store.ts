/** Store of this room's runs. It predates the other rooms, hence the name without a suffix. */
export const STORE = "hothouse";
