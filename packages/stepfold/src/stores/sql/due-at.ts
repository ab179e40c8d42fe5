import { nowLiesBackMs } from "../record/due-time.ts";

/**
 * When an execution is due that nobody holds, as SQL; see `dueAtOf`.
 *
 * @param wakeAt what gives its time, or NULL
 * @param before what gives when it was due before: what was due now then still is, since then
 */
export function dueAtSql(wakeAt: string, now: string, before?: string): string {
  const sinceNow = `${now} - ${nowLiesBackMs}`;
  const since = before === undefined ? sinceNow : `CASE WHEN ${before} <= 0 THEN ${before} ELSE ${sinceNow} END`;
  return `CASE WHEN ${wakeAt} <= 0 THEN ${since} ELSE ${wakeAt} END`;
}
