import type { Duration } from "../../core/values/duration.ts";
import { durationMs } from "../../core/values/duration.ts";
import type { EpochMs, JsonObject } from "../../core/values/json.ts";
import { judgeTimestamp } from "../../core/values/timestamp.ts";
import { FatalError } from "../../engine/node/fatal-error.ts";

/** A time to wait for: exactly one of `for`, a duration from now, and `until`, a moment. */
export interface TimeAhead {
  readonly for?: Duration | undefined;
  readonly until?: string | EpochMs | undefined;
}

/** The fields of a `TimeAhead` in a JSON Schema. */
export const timeFields: JsonObject = {
  for: { title: "For", description: "How long: 90s, 15m, 2 days, PT5M, or milliseconds", type: ["string", "number"] },
  until: { title: "Until", description: "A moment: 2026-01-31T09:00:00Z, or milliseconds since 1970", type: ["string", "number"] },
};

/**
 * Returns the moment in milliseconds since 1970; it may be in the past. A date without a time means midnight UTC. Without `for` and
 * `until` the moment is now.
 *
 * ```ts
 * timestampOf({ for: "15m" }, now); // now + 900_000
 * timestampOf({ until: "2026-01-31T09:00:00Z" }, now); // 1_769_850_000_000
 * ```
 *
 * @throws StepfoldError `DURATION_INVALID`
 * @throws FatalError with the code `MOMENT_INVALID`
 */
export function timestampOf({ for: duration, until }: TimeAhead, now: EpochMs): EpochMs {
  if (until === undefined) return now + durationMs(duration ?? 0);
  const at = judgeTimestamp(until);
  if (typeof at === "number") return at;
  const error = new FatalError(`"${String(until).slice(0, 100)}" is not a valid time: it ${at}`);
  throw Object.assign(error, { code: "MOMENT_INVALID" });
}
