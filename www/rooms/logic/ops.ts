// The sixteen operations of a gate with inputs a and b. In the number of an operation, bit 3 is the output for (0, 0), bit 2 for (0, 1),
// bit 1 for (1, 0) and bit 0 for (1, 1).

/** Usual name and plain description of each operation. The index is the number of the operation. */
export const OPS: { name: string; plain: string }[] = [
  { name: "FALSE", plain: "always off" },
  { name: "AND", plain: "both" },
  { name: "A AND NOT B", plain: "a but not b" },
  { name: "A", plain: "passes a on" },
  { name: "B AND NOT A", plain: "b but not a" },
  { name: "B", plain: "passes b on" },
  { name: "XOR", plain: "one of the two, not both" },
  { name: "OR", plain: "at least one" },
  { name: "NOR", plain: "neither" },
  { name: "XNOR", plain: "both alike" },
  { name: "NOT B", plain: "the opposite of b" },
  { name: "A OR NOT B", plain: "off only if b alone is on" },
  { name: "NOT A", plain: "the opposite of a" },
  { name: "B OR NOT A", plain: "off only if a alone is on" },
  { name: "NAND", plain: "not both" },
  { name: "TRUE", plain: "always on" },
];

export const apply = (op: number, a: boolean, b: boolean): boolean => ((op >> (3 - (2 * Number(a) + Number(b)))) & 1) === 1;

/** Returns for each of the inputs `a` and `b` whether the operation depends on it. */
export const reads = (op: number): { a: boolean; b: boolean } => ({
  a: apply(op, false, false) !== apply(op, true, false) || apply(op, false, true) !== apply(op, true, true),
  b: apply(op, false, false) !== apply(op, false, true) || apply(op, true, false) !== apply(op, true, true),
});

/** Returns true if an operation only passes one of its inputs on, without inversion. */
export const passes = (op: number): boolean => op === 3 || op === 5;
