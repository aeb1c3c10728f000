// Names of Python files.

/** Returns true if the name of a file has the ending of Python files. */
export const isPython = ({ name }: File): boolean => /\.py$/i.test(name);
