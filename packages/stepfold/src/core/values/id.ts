const reserved = new Set(["__proto__", "constructor", "prototype"]);

/** True for an id that a node or workflow definition may have: 1 to 128 letters, digits, `_` and `-`. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9_-]{1,128}$/.test(value) && !reserved.has(value);
}

/** True for an id that an execution may have: 1 to 255 printable characters, with no space at either end. */
export function isWorkflowId(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= 255 &&
    // most ids are ASCII, which is tested fastest
    (/^[!-~]+$/.test(value) || /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u.test(value)) &&
    !reserved.has(value)
  );
}

/**
 * Id under which an execution is restarted: `order-7` as `order-7~2`, and that as `order-7~3`. It is made of the id alone, so whoever
 * knows an execution that has ended finds what goes on in its place, and two restarts are one.
 */
export function successorId(workflowId: string): string {
  const [base, number] = partsOf(workflowId);
  return `${base}~${number + 1}`;
}

/** Whether an id is that of a restart of an execution, however often that was restarted before. */
export function isRestartOf(workflowId: string, origin: string): boolean {
  const [base, number] = partsOf(workflowId);
  const [originBase, originNumber] = partsOf(origin);
  return base === originBase && number > originNumber;
}

function partsOf(workflowId: string): readonly [base: string, number: number] {
  const [, base, number] = /^(.*)~(\d{1,9})$/s.exec(workflowId) ?? [];
  return base === undefined ? [workflowId, 1] : [base, Number(number)];
}
