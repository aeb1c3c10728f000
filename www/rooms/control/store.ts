/** Name of the database with this room's runs. It is older than the databases of the other rooms and therefore has no suffix. */
export const STORE = "hothouse";
