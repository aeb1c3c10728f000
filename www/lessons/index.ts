// Lessons: the panel beside the room, and the list in the tab Explain. Import this module dynamically.

export { Lessons } from "./lessons";
export { LessonList } from "./list";
