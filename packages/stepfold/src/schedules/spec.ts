import { errorInfo } from "../core/errors/error-info.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { durationMs } from "../core/values/duration.ts";
import { type EpochMs, isJsonObject, type Json, type JsonObject } from "../core/values/json.ts";
import { similar } from "../core/values/similar.ts";
import { judgeTimestamp, type LocalTime, lacksOffset } from "../core/values/timestamp.ts";
import { normalise } from "../core/values/to-json.ts";
import type { OverlapPolicy } from "../runtime/context/schedules.ts";
import { cronMistake } from "./cron-rule.ts";
import { nextTick, type TickRule } from "./ticks.ts";
import { isZone, zoneClock } from "./zone-clock.ts";

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
  /** Reads times without an offset; undefined: they are refused. */
  readonly #local: LocalTime | undefined;

  /** @param local reads times without an offset if the specification has no zone */
  constructor(given: JsonObject, local: LocalTime | undefined) {
    this.given = given;
    const clock = isZone(given.zone) ? zoneClock(given.zone) : null;
    this.#local = clock ? (shown) => clock.firstAt(shown) : local;
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
    const at = judgeTimestamp(value, this.#local);
    if (typeof at === "number") return at;
    return this.refuse(member, lacksOffset(value) ? `${at}. Or give a zone` : at);
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
    const { cron, at, startAt, endAt, zone } = this.given;
    if (zone !== undefined && !isZone(zone)) return this.refuse("zone", 'must be a time zone such as "Europe/Vienna"');
    if (cron === undefined) {
      const isUsed = zone === undefined || [at, startAt, endAt].some((time) => typeof time === "string");
      return isUsed ? undefined : this.refuse("zone", "is only allowed together with `cron`, or with a time as text");
    }
    const crons = typeof cron === "string" ? [cron] : cron;
    if (!Array.isArray(crons) || crons.length === 0 || crons.length > maxCrons || crons.some((one) => typeof one !== "string"))
      return this.refuse("cron", `must be a cron expression, or a list of 1 to ${maxCrons}`);
    const list = (crons as readonly string[]).map((one) => one.trim().replaceAll(/\s+/g, " "));
    const mistake = list.map(cronMistake).find((one) => one !== null);
    return mistake === undefined ? list : this.refuse("cron", mistake);
  }
}

/**
 * Checks a specification from outside and adds the defaults. A specification that was checked before stays the same.
 *
 * @param local reads times without an offset if the specification has no zone. Absent: they are refused
 * @throws StepfoldError `SCHEDULE_INVALID` with the mistakes of all members at once, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
export function readSpec(schedule: string, spec: unknown, local?: LocalTime): CheckedSpec {
  const kept = plain(schedule, spec);
  const reader = new SpecReader(kept, local);
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
  const { workflow, input, metadata, cron, zone, every, at } = reader.given;
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
    ...(crons && { cron: crons, zone: (zone as string | undefined) ?? "UTC" }),
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
