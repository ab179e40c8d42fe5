import type { EpochMs } from "stepfold";
import { createRuntime, type ScheduleDescription } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import { printable } from "../text/printable.ts";
import type { Store } from "./database.ts";
import { endedAmong } from "./ended-among.ts";

/** What keeps a schedule from starting an execution. */
interface ScheduleFinding {
  /** `problem`: a tick could not be started. `busy`: it waits for the end of an execution that does not run. */
  readonly kind: "problem" | "busy";
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

/**
 * Finds ticks of schedules that could not be started, because their ids are taken or their inputs are not valid, and schedules that wait for
 * an execution which has ended or does not exist.
 */
export async function examineSchedules(store: Store, now: EpochMs): Promise<ExaminedSchedules> {
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
          findings.push({ kind: "problem", schedule: name, sentence: `could not start ${workflowId}: ${message} (${code})` });
      findings.push(...(await busyAmong(store, page.items, now)));
      count += page.items.length;
      cursor = page.nextCursor;
    } while (cursor !== null && count < maxSchedules);
  } finally {
    await runtime.close();
  }
  return { count, isPartial: cursor !== null, findings };
}

async function busyAmong(store: Store, schedules: readonly ScheduleDescription[], now: EpochMs): Promise<ScheduleFinding[]> {
  const findings: ScheduleFinding[] = [];
  const ended = await endedAmong(
    store,
    schedules.flatMap(({ running }) => running),
    now,
  );
  for (const { name, workflowId, running } of schedules) {
    const gone = running.filter((id) => ended.has(id));
    // a request to start it may still be under way
    const { outbox = [] } = (gone.length > 0 && (await store.loadHead(workflowId))) || {};
    const written = new Set(outbox.flatMap((message) => ("to" in message ? message.to : [])));
    for (const id of gone.filter((one) => !written.has(one))) {
      const state = `${printable(id, 255)}, which ${ended.get(id)}`;
      const sentence = `waits for ${state}; stepfold schedule rm ${name}, and create it again`;
      findings.push({ kind: "busy", schedule: name, sentence });
    }
  }
  return findings;
}
