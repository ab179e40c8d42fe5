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
