// Lessons: the panel beside the room, the list in the tab Explain, and the page with all lessons. Import this module dynamically.

export { Lessons } from "./lessons";
export { LessonList, lessonsPage } from "./list";
