// Names of the language that the editor completes, with the explanations of docs/worlds.md. A test compares the names with that document.

export interface Word {
  /** Text that the list of completions shows: a call, an assignment, or the first line of a method. */
  shown: string;
  /** Explanation in one line. */
  about: string;
  /**
   * Text that the completion inserts, as a template of CodeMirror: `#{x}` marks a field to fill in. The default is the name with brackets.
   */
  inserts?: string;
}

const words = (all: [shown: string, about: string, inserts?: string][]): Word[] =>
  all.map(([shown, about, inserts]) => ({ shown, about, inserts }));

export const FUNCTIONS = words([
  ["min(a, b)", "smallest of two or more numbers, or of a list"],
  ["max(a, b)", "largest of two or more numbers, or of a list"],
  ["abs(x)", "absolute value"],
  ["clip(x, low, high)", "x within bounds"],
  ["sum(list)", "sum of a list"],
  ["any(list)", "true if one element of a list is true"],
  ["all(list)", "true if all elements of a list are true"],
  ["len(list)", "length of a list"],
  ["sqrt(x)", "square root"],
  ["exp(x)", "e to the power x"],
  ["log(x)", "natural logarithm"],
  ["sin(x)", "sine of an angle in rad"],
  ["cos(x)", "cosine of an angle in rad"],
  ["tan(x)", "tangent of an angle in rad"],
  ["tanh(x)", "hyperbolic tangent, from -1 to 1"],
  ["atan2(y, x)", "angle of the point (x, y) in rad"],
  ["floor(x)", "integer below"],
  ["ceil(x)", "integer above"],
  ["round(x)", "nearest integer, halves to even"],
  ["int(x)", "integer towards zero"],
  ["float(x)", "conversion to a float"],
  ["bool(x)", "conversion to a bool"],
  ["range(n)", "integers from 0 to n - 1, in a for loop"],
  ["enumerate(list)", "index and element, in a for loop"],
  ["uniform(low, high)", "random float"],
  ["randint(low, high)", "random integer from low to high - 1"],
  ["normal(mean, deviation)", "random float of a normal distribution"],
]);

/** Functions that draw, in the method `draw`. */
export const SHAPES = words([
  ["rect(x, y, w, h, colour)", "rectangle from its upper left corner"],
  ["circle(x, y, r, colour)", "circle around (x, y)"],
  ["line(x1, y1, x2, y2, colour)", "line"],
  ["polygon([x1, y1, x2, y2, x3, y3], colour)", "polygon with three or more corners"],
  ["text(x, y, what, colour)", "text or number, with its middle at (x, y)"],
]);

export const CONSTANTS = words([
  ["pi", "half a turn in rad", "pi"],
  ["tau", "a whole turn in rad", "tau"],
  ["True", "bool", "True"],
  ["False", "bool", "False"],
]);

export const ATTRIBUTES = words([
  ["actions", "required: number of choices, or Box(count, low, high)", "actions = #{2}"],
  ["limit", "steps until an episode is truncated; 1000 by default", "limit = #{1000}"],
  ["solved", "mean return at which the environment is solved", "solved = #{1.0}"],
  ["keys", "action of each key, under the browser's key names", 'keys = {"#{ArrowLeft}": #{0}}'],
  ["names", "names of the choices", 'names = ["#{left}"]'],
  ["size", "width and height of the picture", "size = (#{10}, #{10})"],
]);

export const METHODS = words([
  ["reset(self)", "begins an episode, and assigns every attribute of self", "def reset(self):\n\t#{pass}"],
  ["step(self, action)", "takes a step; every path returns reward, over", "def step(self, action):\n\t#{return 0.0, False}"],
  ["observe(self)", "returns a list of 1 to 1,024 numbers", "def observe(self):\n\t#{return [0.0]}"],
  ["mask(self)", "optional: returns a list of bools, which permit or forbid each choice", "def mask(self):\n\t#{return [True, True]}"],
  ["draw(self)", "optional: draws the picture", "def draw(self):\n\t#{pass}"],
]);

/** Value of the attribute `actions` in an environment whose actions are numbers. */
export const BOX = words([["Box(count, low, high)", "actions of that many numbers within a range"]]);

/** Keys of the browser that environments use most. */
export const KEYS = words([
  ["ArrowLeft", "arrow key", "ArrowLeft"],
  ["ArrowRight", "arrow key", "ArrowRight"],
  ["ArrowUp", "arrow key", "ArrowUp"],
  ["ArrowDown", "arrow key", "ArrowDown"],
  [" ", "space bar", " "],
]);

/** Returns the name of a word: its text up to the first bracket. */
export const nameOf = ({ shown }: Word): string => shown.split("(")[0]!;
