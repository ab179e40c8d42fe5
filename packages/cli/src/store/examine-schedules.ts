import { createRuntime } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import type { Store } from "./database.ts";

/** A tick that could not be started. */
interface ScheduleFinding {
  readonly schedule: string;
  readonly sentence: string;
}

/** What was found about the schedules that have not ended. */
export interface ExaminedSchedules {
  readonly count: number;
  /** True if there are more schedules than were looked at. */
  readonly isPartial: boolean;
  readonly findings: readonly ScheduleFinding[];
}

const pageSize = 100;
/** The most schedules that are looked at. */
const maxSchedules = 2_000;

/** Finds ticks of schedules that could not be started, because their ids are taken or their inputs are not valid. */
export async function examineSchedules(store: Store): Promise<ExaminedSchedules> {
  // this runtime runs no steps, so it needs no node types
  const runtime = createRuntime({ store, nodeDefinitions: {}, drive: false, schedules: schedules() });
  const findings: ScheduleFinding[] = [];
  let count = 0;
  let cursor: string | null | undefined;
  try {
    do {
      const page = await runtime.schedules.list({ limit: pageSize, cursor: cursor ?? undefined });
      for (const { name, problems } of page.items)
        for (const { workflowId, code, message } of problems)
          findings.push({ schedule: name, sentence: `could not start ${workflowId}: ${message} (${code})` });
      count += page.items.length;
      cursor = page.nextCursor;
    } while (cursor !== null && count < maxSchedules);
  } finally {
    await runtime.close();
  }
  return { count, isPartial: cursor !== null, findings };
}
