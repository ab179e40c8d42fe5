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

/**
 * Returns the id under which an execution is restarted or goes on: `order-7~2` for `order-7`, and `order-7~3` for `order-7~2`. It depends
 * only on the previous id. So the successor of an ended execution can be found, and two restarts at the same time make only one execution.
 */
export function successorId(workflowId: string): string {
  const [base, number] = partsOf(workflowId);
  return `${base}~${number + 1}`;
}

/** True if an id is that of a later restart of the execution `origin`, which may be a restart itself. */
export function isRestartOf(workflowId: string, origin: string): boolean {
  const [base, number] = partsOf(workflowId);
  const [originBase, originNumber] = partsOf(origin);
  return base === originBase && number > originNumber;
}

/** Splits an id into its base and the number after `~`; the number is 1 if the id has none. */
function partsOf(workflowId: string): readonly [base: string, number: number] {
  const [, base, number] = /^(.*)~(\d{1,9})$/s.exec(workflowId) ?? [];
  return base === undefined ? [workflowId, 1] : [base, Number(number)];
}
