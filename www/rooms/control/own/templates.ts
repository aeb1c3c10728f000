// Templates of environments, which are files of the crate `worlds`. Import this module dynamically, because it contains the texts of all
// templates.

const texts = import.meta.glob<string>("../../../../crates/worlds/src/control/script/templates/*.py", {
  query: "?raw",
  import: "default",
  eager: true,
});

export interface Template {
  /** Name of the file. */
  name: string;
  /** Sentence on the task. */
  title: string;
  /** Sentence that suggests the first change. */
  change: string;
  text: string;
}

/** Matches the first line of a docstring. The line contains a sentence on the task, then a sentence that begins with "First, ". */
const OPENING = /^"""(.+?[.!?]) (First, .+)$/m;

function templateOf([path, text]: [string, string]): Template {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const [, title = name, change = ""] = OPENING.exec(text) ?? [];
  return { name, title, change, text };
}

/** Templates sorted by the names of their files. */
export const TEMPLATES: Template[] = Object.entries(texts).map(templateOf);
