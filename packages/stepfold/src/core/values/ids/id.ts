/** Names that have a meaning as keys of JavaScript objects, so that no id may have them. */
const reserved = new Set(["__proto__", "constructor", "prototype"]);

/** True for an id that a node, a workflow definition or a variable may have: 1 to 128 letters, digits, `_` and `-`. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9_-]{1,128}$/.test(value) && !reserved.has(value);
}

/** True for an id that an execution may have: 1 to 255 printable characters, with no space at either end. */
export function isWorkflowId(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= 255 &&
    // most ids are ASCII, and this test is the fastest one
    (/^[!-~]+$/.test(value) || /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u.test(value)) &&
    !reserved.has(value)
  );
}

/** The task queue of executions that name none. */
export const defaultTaskQueue = "default";

/** The most task queues that a process can name. */
const maxTaskQueues = 100;

/** True for a list of task queues that a process takes. Their names are like other ids. */
export function areTaskQueues(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.length <= maxTaskQueues && value.every(isId);
}
