import { createRuntime } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import type { Store } from "./database.ts";

/** A tick that could not be started. */
interface ScheduleFinding {
  readonly schedule: string;
  readonly sentence: string;
}

/** What was found of the schedules that have not ended. */
export interface ExaminedSchedules {
  readonly count: number;
  /** There are more than were looked at. */
  readonly isPartial: boolean;
  readonly findings: readonly ScheduleFinding[];
}

const pageSize = 100;
const maxSchedules = 2_000;

/** Looks for ticks of schedules that could not be started: their ids are taken, or their inputs do not fit. */
export async function examineSchedules(store: Store): Promise<ExaminedSchedules> {
  // it moves nothing, so it needs to know no node type
  const runtime = createRuntime({ store, nodeDefinitions: {}, drive: false, schedules: schedules() });
  const findings: ScheduleFinding[] = [];
  let count = 0;
  let cursor: string | null | undefined;
  do {
    const page = await runtime.schedules.list({ limit: pageSize, cursor: cursor ?? undefined });
    for (const { name, problems } of page.items)
      for (const { workflowId, code, message } of problems)
        findings.push({ schedule: name, sentence: `could not start ${workflowId}: ${message} (${code})` });
    count += page.items.length;
    cursor = page.nextCursor;
  } while (cursor !== null && count < maxSchedules);
  await runtime.close();
  return { count, isPartial: cursor !== null, findings };
}
