import { StepfoldError } from "../../errors/stepfold-error.ts";

/** Id of the workflow of which every schedule is an execution. */
export const scheduleWorkflowId = "stepfold-schedule";
const schedulePrefix = "schedule:";

/** Returns the id of a schedule. */
export function scheduleIdOf(name: string): string {
  return `${schedulePrefix}${name}`;
}

/** Returns the name of the schedule whose execution has this id. */
export function scheduleNameOf(workflowId: string): string {
  return workflowId.slice(schedulePrefix.length);
}

/**
 * Refuses what belongs to schedules: the id of an execution that begins with `schedule:`, and the id of their workflow. Whoever could take
 * them could keep others from making a schedule, or hide all schedules in lists.
 *
 * @throws StepfoldError `OPTION_INVALID`
 */
export function requireUnreserved({
  workflowId,
  definition,
}: {
  readonly workflowId?: string | undefined;
  readonly definition: string;
}): void {
  if (definition === scheduleWorkflowId) {
    const reason = `must not have the id "${scheduleWorkflowId}", which belongs to the schedules of Stepfold; give it another id`;
    throw new StepfoldError("OPTION_INVALID", { option: "workflow", reason });
  }
  // what is no text is refused as an id later
  if (typeof workflowId !== "string" || !workflowId.startsWith(schedulePrefix)) return;
  const reason = `must not begin with "${schedulePrefix}": such ids belong to schedules, which \`runtime.schedules\` makes`;
  throw new StepfoldError("OPTION_INVALID", { option: "workflowId", reason });
}
