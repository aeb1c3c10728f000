// Claims about runs, such as `A.test.mean_return > 2 * max(B.entropy)`, and their check against the columns of the runs. This module does
// not use the DOM, so that the page and the tests check claims in the same way.
//
//   claim   = value ("<" | "<=" | ">" | ">=") value
//   value   = product {("+" | "-") product}
//   product = factor {("*" | "/") factor}
//   factor  = number | "-" factor | "(" value ")" | function "(" column ")" | "exp" "(" value ")" | column
//   column  = run "." ["test" "."] name ["@" number]
//
// The value of a column is its last value. The functions `first`, `min` and `max` use all its values. `@` selects the first row in which
// the first counter has reached the number.

/** Values by name; null where the run has no value yet. */
export type Values = Record<string, number | null>;

/** Rows of a run that has ended. A row contains the first counter and the columns. */
export interface Results {
  /** Name of the room's first counter. */
  counter: string;
  metrics: Values[];
  /** Rows of the tests. The last row is the test after the end of the run. */
  tests: Values[];
}

export interface Checked {
  holds: boolean;
  /** Numbers on the left and on the right of the comparison. */
  left: number;
  right: number;
  comparison: string;
}

const COMPARISONS: Record<string, (left: number, right: number) => boolean> = {
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
};
const OPERATIONS: Record<string, (left: number, right: number) => number> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
};
const CHOICES: Record<string, (all: number[]) => number> = {
  first: (all) => all[0]!,
  min: (all) => Math.min(...all),
  max: (all) => Math.max(...all),
};
const TOKEN = /\s*([A-Z]\.(?:test\.)?\w+|[a-z]+|\d+(?:\.\d+)?(?:e\d+)?|[<>]=?|[-+*/()@])/y;
const COLUMN = /^([A-Z])\.(test\.)?(\w+)$/;

/** Checks a claim. `results` maps the name of a run to its results. Throws an error if the claim cannot be read or a value is missing. */
export const check = (claim: string, results: Record<string, Results>): Checked => new Reader(claim, results).claim();

/** Returns the names of the runs in a claim. */
export const runsIn = (claim: string): string[] => [...new Set([...claim.matchAll(/\b([A-Z])\./g)].map(([, run]) => run!))];

/** Returns the names of the columns in a claim; those of tests begin with `test.`. */
export const columnsIn = (claim: string): string[] => [...claim.matchAll(/\b[A-Z]\.((?:test\.)?\w+)/g)].map(([, column]) => column!);

/** Reads a claim from left to right and computes its values. */
class Reader {
  private readonly tokens: string[];

  constructor(
    private readonly text: string,
    private readonly results: Record<string, Results>,
  ) {
    this.tokens = tokensOf(text);
  }

  claim(): Checked {
    const left = this.value();
    const comparison = this.tokens.shift() ?? "";
    if (!(comparison in COMPARISONS)) throw this.fault(`expected <, <=, > or >=, found '${comparison}'`);
    const right = this.value();
    if (this.tokens.length) throw this.fault(`expected the end, found '${this.tokens[0]}'`);
    return { holds: COMPARISONS[comparison]!(left, right), left, right, comparison };
  }

  private value(): number {
    return this.chain(["+", "-"], () => this.chain(["*", "/"], () => this.factor()));
  }

  /** Reads operands that are joined by any of `operators`, and returns the result. */
  private chain(operators: string[], operand: () => number): number {
    let value = operand();
    while (operators.includes(this.tokens[0]!)) value = OPERATIONS[this.tokens.shift()!]!(value, operand());
    return value;
  }

  private factor(): number {
    const token = this.tokens.shift() ?? "";
    if (/^\d/.test(token)) return Number(token);
    if (token === "-") return -this.factor();
    if (COLUMN.test(token)) return this.tokens[0] === "@" ? this.at(token) : this.column(token).at(-1)!;
    if (token === "(") return this.closed(this.value());
    if (token === "exp") return Math.exp((this.open(), this.closed(this.value())));
    const choice = CHOICES[token];
    if (!choice) throw this.fault(`expected a number or a column such as A.loss, found '${token}'`);
    this.open();
    return this.closed(choice(this.column(this.tokens.shift() ?? "")));
  }

  private open(): void {
    if (this.tokens.shift() !== "(") throw this.fault("expected ( after the name of a function");
  }

  private closed(value: number): number {
    if (this.tokens.shift() !== ")") throw this.fault("expected )");
    return value;
  }

  /** Returns the value of a column in the first row whose first counter is at least the number after `@`. */
  private at(token: string): number {
    this.tokens.shift();
    const place = Number(this.tokens.shift());
    const { rows, name, counter } = this.rows(token);
    const value = rows.find((row) => (row[counter] ?? 0) >= place)?.[name];
    if (value == null) throw this.fault(`${token} has no value at ${place}`);
    return value;
  }

  /** Returns all values of a column. */
  private column(token: string): number[] {
    const { rows, name } = this.rows(token);
    const values = rows.map((row) => row[name]).filter((value) => value != null);
    if (!values.length) throw this.fault(`${token} has no value`);
    return values;
  }

  private rows(token: string): { rows: Values[]; name: string; counter: string } {
    const [, run, test, name] = COLUMN.exec(token) ?? [];
    const results = this.results[run!];
    if (!results) throw this.fault(`expected a column of ${Object.keys(this.results).join(" or ")}, found '${token}'`);
    return { rows: test ? results.tests : results.metrics, name: name!, counter: results.counter };
  }

  private fault(what: string): Error {
    return new Error(`The claim '${this.text}' cannot be checked: ${what}.`);
  }
}

function tokensOf(text: string): string[] {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.trimEnd().length; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new Error(`The claim '${text}' cannot be read at '${text.slice(at)}'.`);
    found.push(token);
  }
  return found;
}
