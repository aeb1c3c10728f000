// All lessons, in the order of their files. Import this module dynamically: it contains all their texts.

import { lessonOf, type Lesson } from "./lesson";

const texts = import.meta.glob<string>("../../docs/lessons/[0-9]*.md", { query: "?raw", import: "default", eager: true });

export const LESSONS: Lesson[] = Object.entries(texts).map(([path, text]) => lessonOf(/([^/]+)\.md$/.exec(path)![1]!, text));
