import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { scopedKey } from "../../core/snapshot/address.ts";
import type { Wait } from "../../core/snapshot/parts/wait.ts";
import { durationMs } from "../../core/values/duration.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import { type EpochMs, isJsonObject, type Json, type JsonSchema } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { SuspendOptions } from "../node/step-context.ts";
import { payloadSchemaOf } from "../workflow/payload-schema.ts";
import { mistakesOf } from "../workflow/validator.ts";
import type { AttemptState } from "./attempt-state.ts";
import { latestEnd } from "./node-times.ts";
import type { Outcome } from "./outcome.ts";
import type { Suspension } from "./step.ts";

/** The most waits that one step may have at once. */
const maxWaits = 100;

/** Returns the outcome of a suspension, with one wait for each of its options. */
export function suspensionOf(run: AttemptState, { payload, options }: Suspension): Outcome {
  const { task, context, startedAt } = run;
  const endedAt = context.now();
  if (options.length === 0 || options.length > maxWaits) throw invalid("options", `must be 1 to ${maxWaits} waits`);
  let sizeBytes = 0;
  const keep = (value: unknown, what: string): Json => {
    const kept = normalise(value, `${what} of node "${task.nodeId}"`, context.limits);
    sizeBytes += kept.sizeBytes;
    return kept.value;
  };
  const kept = payload === undefined ? undefined : keep(payload, "The suspend payload");
  const { resume } = run.node.definition;
  const said = resume === undefined ? null : payloadSchemaOf(resume, context.limits);
  const name = `${scopedKey(task.scope ?? "", task.pathId)}@${task.turn + 1}`;
  const latest = run.node.definition.waits ? latestEnd(run, endedAt) : undefined;
  const waits = options.map((option, i) => {
    if (typeof option !== "object" || option === null) throw invalid("options", "must be objects");
    const wait = waitOf(run, option, i === 0 ? name : `${name}.${i}`, options.length === 1, endedAt);
    endInTime(wait, latest);
    if (kept !== undefined) wait.payload = kept;
    if (run.node.definition.__yields) wait.yields = true;
    if (option.schema !== undefined) wait.schema = jsonSchema(keep(option.schema, "The wait's schema"));
    if (resume !== undefined && wait.kind !== "timer") wait.typeSchema = said && option.schema === undefined ? said.id : "code";
    return Object.freeze(wait);
  });
  const outcome = { type: "suspended" as const, startedAt, endedAt, waits: Object.freeze(waits), sizeBytes };
  // the execution keeps each schema once
  const isNew =
    said && waits.some(({ typeSchema }) => typeSchema === said.id) && !Object.hasOwn(run.scopeDraft.root.schemas ?? {}, said.id);
  return isNew ? { ...outcome, sizeBytes: sizeBytes + said.sizeBytes, schemas: { [said.id]: said.schema } } : outcome;
}

type OpenWait = { -readonly [K in keyof Wait]: Wait[K] };

function waitOf(run: AttemptState, options: SuspendOptions, id: string, only: boolean, now: number): OpenWait {
  const { resumeAt, timeout, responders, quorum, tally } = options;
  const wait: OpenWait = { id, kind: kindOf(run, options, only) };
  if (wait.kind === "signal") Object.assign(wait, signalOf(options));
  if (resumeAt !== undefined) wait.resumeAt = timestamp(run, "resumeAt", resumeAt, now);
  if (timeout !== undefined) wait.timeoutAt = timestamp(run, "timeout", now + durationMs(timeout), now);
  if (responders !== undefined) wait.responders = Object.freeze([...new Set(textList("responders", responders))]);
  if (quorum !== undefined) {
    const maxQuorum = wait.responders?.length ?? 1_000;
    if (!Number.isSafeInteger(quorum) || quorum < 1 || quorum > maxQuorum)
      throw invalid("quorum", `must be a whole number from 1 to ${maxQuorum}`);
    wait.quorum = quorum;
    if (tally !== undefined) wait.tally = checkedName("tally", tally);
  }
  return wait;
}

/** Sets the time by which a wait has to end, if that is earlier than the time it has. A timer that ends before needs none. */
function endInTime(wait: OpenWait, latest: EpochMs | undefined): void {
  if (latest === undefined || (wait.kind === "timer" && wait.resumeAt! <= latest)) return;
  wait.timeoutAt = Math.min(wait.timeoutAt ?? latest, latest);
}

/**
 * Returns the kind of a wait. A wait with only a time and nothing that describes an answer is a timer, which no payload can end early.
 *
 * @param only true if the suspension has no other wait: then the `resume` schema of the node describes the answer
 */
function kindOf({ node }: AttemptState, { signal, resumeAt, schema, timeout, responders }: SuspendOptions, only: boolean): Wait["kind"] {
  if (signal !== undefined) return "signal";
  const answerable = schema !== undefined || timeout !== undefined || responders !== undefined || (only && node.resume !== null);
  return resumeAt === undefined || answerable ? "external" : "timer";
}

function signalOf({ signal, key, transient }: SuspendOptions): Partial<OpenWait> {
  const wait: Partial<OpenWait> = { signal: checkedName("signal", signal) };
  if (key !== undefined) wait.key = checkedName("key", key);
  if (transient) wait.transient = true;
  return wait;
}

function jsonSchema(value: Json): JsonSchema {
  if (typeof value !== "boolean" && !isJsonObject(value)) throw invalid("schema", "must be a JSON Schema");
  const [mistake] = mistakesOf(value);
  if (mistake) throw invalid("schema", `cannot be used: at ${mistake.pointer || "/"} it ${mistake.message}`);
  return value;
}

function textList(option: string, value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > 1_000) throw invalid(option, "must be a list of 1 to 1,000 names");
  return value.map((entry) => checkedName(option, entry));
}

function timestamp({ context, task }: AttemptState, option: string, at: unknown, now: number): number {
  if (typeof at !== "number" || !Number.isFinite(at) || at < 0)
    throw invalid(option, `of node "${task.nodeId}" must be milliseconds since 1970, not ${String(at)}`);
  const max = context.limits.timerMs;
  if (at - now > max)
    throw new StepfoldError("LIMIT_EXCEEDED", { what: `The wait of node "${task.nodeId}"`, limit: "timerMs", max, actual: at - now });
  return Math.ceil(at);
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
