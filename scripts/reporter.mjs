// A reporter for Node's test runner. It writes one line of JSON per test: `{ event, name, file, seconds, skip, error }`.
const EVENTS = { "test:pass": "pass", "test:fail": "fail" };

export default async function* reporter(source) {
  for await (const { type, data } of source) {
    const event = EVENTS[type];
    // Subtests belong to the test around them. Node reports a file as a test if the file itself fails.
    if (!event || data.nesting > 0) continue;
    const { name, file, skip, todo, details } = data;
    const seconds = details.duration_ms / 1000;
    yield `${JSON.stringify({ event, name, file, seconds, skip: skip ?? todo, error: details.error && said(details.error) })}\n`;
  }
}

/** Returns the text of an error and of its cause, which is the error that the test threw. */
const said = (error) => [error.cause?.stack ?? error.cause, error.stack ?? error.message].find(Boolean)?.toString() ?? "";
