import { errorInfo } from "../core/errors/error-info.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { durationMs } from "../core/values/duration.ts";
import { type EpochMs, isJsonObject, type Json, type JsonObject } from "../core/values/json.ts";
import { similar } from "../core/values/similar.ts";
import { readTimestamp } from "../core/values/timestamp.ts";
import { normalise } from "../core/values/to-json.ts";
import type { OverlapPolicy } from "../runtime/context/schedules.ts";
import { cronMistake, nextTick, type TickRule } from "./ticks.ts";

/** The specification of a schedule, checked and with all defaults, as plain JSON. */
export interface CheckedSpec extends TickRule {
  readonly workflow: string;
  readonly input?: Json;
  readonly metadata?: JsonObject;
  /** The schedule ends after this number of ticks. Absent: no limit. */
  readonly count?: number;
  readonly overlap: OverlapPolicy;
  /** How many milliseconds late a tick may start; a later tick is missed. */
  readonly catchUpWindow: number;
  /** The most milliseconds by which a tick starts later than its time. */
  readonly jitter: number;
}

const members = [
  ...["workflow", "input", "metadata", "cron", "zone", "every", "offset", "at", "startAt", "endAt", "count"],
  ...["overlap", "catchUpWindow", "jitter"],
];
const policies: readonly unknown[] = ["skip", "queue", "cancel", "allow"];
const dayMs = 24 * 60 * 60 * 1000;
/** The shortest interval of `every`. */
const minEveryMs = 1_000;
/** The largest size of a specification, in bytes of JSON. */
export const maxSpecBytes: number = 64 * 1024;
/** The most cron expressions of one schedule. */
const maxCrons = 10;

/** Reads the members of a specification, and collects the mistakes in `issues` instead of throwing. */
class SpecReader {
  readonly issues: { readonly pointer: string; readonly message: string }[] = [];
  readonly given: JsonObject;

  constructor(given: JsonObject) {
    this.given = given;
  }

  refuse(member: string, message: string): undefined {
    this.issues.push({ pointer: `/${member}`, message });
    return undefined;
  }

  duration(member: string, min = 0): number | undefined {
    const value = this.given[member];
    if (value === undefined) return undefined;
    try {
      const ms = durationMs(value as string);
      return ms >= min ? ms : this.refuse(member, `must be at least ${min} ms`);
    } catch (error) {
      return this.refuse(member, errorInfo(error).message);
    }
  }

  timestamp(member: string): EpochMs | undefined {
    const value = this.given[member];
    if (value === undefined) return undefined;
    const at = readTimestamp(value);
    return at !== undefined && at >= 0 ? at : this.refuse(member, "must be a time: 2026-11-22T02:00:00Z, or milliseconds since 1970");
  }

  count(): number | undefined {
    const { count } = this.given;
    if (count === undefined || (Number.isSafeInteger(count) && (count as number) >= 1)) return count as number | undefined;
    return this.refuse("count", "must be a whole number of at least 1");
  }

  overlap(): OverlapPolicy {
    const { overlap = "skip" } = this.given;
    if (!policies.includes(overlap)) this.refuse("overlap", 'must be "skip", "queue", "cancel" or "allow"');
    return overlap as OverlapPolicy;
  }

  crons(): readonly string[] | undefined {
    const { cron, zone } = this.given;
    if (cron === undefined) return zone === undefined ? undefined : this.refuse("zone", "is only allowed together with `cron`");
    const crons = typeof cron === "string" ? [cron] : cron;
    if (!Array.isArray(crons) || crons.length === 0 || crons.length > maxCrons || crons.some((one) => typeof one !== "string"))
      return this.refuse("cron", `must be a cron expression, or a list of 1 to ${maxCrons}`);
    const list = (crons as readonly string[]).map((one) => one.trim().replaceAll(/\s+/g, " "));
    for (const one of list) {
      const mistake = cronMistake(one, this.zone());
      if (mistake) return this.refuse(mistake.member, mistake.message);
    }
    return list;
  }

  zone(): string {
    return typeof this.given.zone === "string" ? this.given.zone : this.given.zone === undefined ? "UTC" : "?";
  }
}

/**
 * Checks a specification from outside and adds the defaults. A specification that was checked before stays the same.
 *
 * @throws StepfoldError `SCHEDULE_INVALID` with the mistakes of all members at once, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
export function readSpec(schedule: string, spec: unknown): CheckedSpec {
  const kept = plain(schedule, spec);
  const reader = new SpecReader(kept);
  for (const member of Object.keys(kept)) {
    if (members.includes(member)) continue;
    const meant = similar(member, members);
    reader.refuse(
      member,
      meant === undefined ? "is not a member of a schedule" : `is not a member of a schedule; did you mean "${meant}"?`,
    );
  }
  const checked = checkedBy(reader);
  if (reader.issues.length > 0) throw new StepfoldError("SCHEDULE_INVALID", { schedule, issues: reader.issues });
  return checked;
}

function plain(schedule: string, spec: unknown): JsonObject {
  const refuse = (message: string): StepfoldError =>
    new StepfoldError("SCHEDULE_INVALID", { schedule, issues: [{ pointer: "", message }] });
  const { value, sizeBytes } = normalise(spec, `The schedule "${schedule}"`);
  if (!isJsonObject(value)) throw refuse("must be an object");
  if (sizeBytes > maxSpecBytes) throw refuse(`must be at most ${maxSpecBytes} bytes of JSON`);
  return value;
}

function checkedBy(reader: SpecReader): CheckedSpec {
  const { workflow, input, metadata, cron, every, at } = reader.given;
  if (typeof workflow !== "string" || workflow === "") reader.refuse("workflow", "must be the id of a workflow");
  if (metadata !== undefined && !isJsonObject(metadata)) reader.refuse("metadata", "must be an object");
  if ([cron, every, at].filter((one) => one !== undefined).length !== 1)
    reader.refuse(
      cron === undefined ? (every === undefined ? "cron" : "every") : "cron",
      "exactly one of cron, every and at must be given",
    );
  if (every === undefined && reader.given.offset !== undefined) reader.refuse("offset", "is only allowed together with `every`");
  const crons = reader.crons();
  const optional = {
    every: reader.duration("every", minEveryMs),
    offset: reader.duration("offset"),
    at: reader.timestamp("at"),
    startAt: reader.timestamp("startAt"),
    endAt: reader.timestamp("endAt"),
    count: reader.count(),
  };
  return {
    workflow: workflow as string,
    ...(input !== undefined && { input }),
    ...(metadata !== undefined && { metadata: metadata as JsonObject }),
    ...(crons && { cron: crons, zone: reader.zone() }),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<CheckedSpec>),
    overlap: reader.overlap(),
    catchUpWindow: reader.duration("catchUpWindow") ?? dayMs,
    jitter: reader.duration("jitter") ?? 0,
  };
}

/** Does the same as `readSpec`, and also refuses a specification that has no tick after a time. @throws StepfoldError `SCHEDULE_INVALID` */
export function readTickingSpec(schedule: string, spec: unknown, after: EpochMs): CheckedSpec {
  const checked = readSpec(schedule, spec);
  if (nextTick(checked, after) !== null) return checked;
  const pointer = checked.cron ? "/cron" : checked.at === undefined ? "/endAt" : "/at";
  throw new StepfoldError("SCHEDULE_INVALID", { schedule, issues: [{ pointer, message: "there is no tick in the future" }] });
}
