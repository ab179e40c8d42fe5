/** Id of the workflow of which every schedule is an execution. */
export const scheduleWorkflowId = "stepfold-schedule";

/** Returns the id of the execution that a schedule is. */
export function scheduleIdOf(name: string): string {
  return `schedule:${name}`;
}
