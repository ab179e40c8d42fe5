import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Task } from "../../core/transition/plan.ts";
import { isId } from "../../core/values/ids/id.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/values/json.ts";
import { shortPointerOf } from "../../core/values/pointer.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { SignalRequest } from "../node/node-definition.ts";
import { isCode } from "../node/schema-kind.ts";
import { CheckBudget } from "../schema/check-run.ts";
import type { AttemptState } from "./attempt-state.ts";
import { spawnedChildren } from "./children-request.ts";
import { continuation } from "./continuation.ts";
import { spawnedDetached } from "./detached-request.ts";
import { refuseFailures } from "./failure-handles.ts";
import type { Outcome } from "./outcome.ts";
import { sendsOf } from "./sends.ts";
import { sentSignal } from "./signal-request.ts";
import { suspensionOf } from "./suspension.ts";

/** Turns what an executor returned into an outcome. */
export function readOutput(run: AttemptState, returned: unknown): Outcome | Promise<Outcome> {
  if (!isOutput(returned)) throw invalid(run, `must return an object such as { data }, not ${describe(returned)}`);
  if (typeof returned.then === "function")
    throw invalid(run, "returned an object with a `then` method that is not a Promise: make the executor async, or await it");
  const patch = run.step!.metadataPatch;
  if (returned.vars === undefined && !patch) return outcomeOf(run, returned);
  const writes: Writes = {
    ...(returned.vars !== undefined && { writes: writesOf(run, returned) }),
    ...(patch && { metadataPatch: normalise(patch, "The metadata", run.context.limits).value as JsonObject }),
  };
  const outcome = outcomeOf(run, returned);
  return outcome instanceof Promise ? outcome.then((settled) => withWrites(settled, writes)) : withWrites(outcome, writes);
}

/** The changes that a completed step makes in addition to its output. */
type Writes = Pick<Extract<Outcome, { type: "completed" }>, "writes" | "metadataPatch">;

/** Adds the changes to the outcome of a completed step. Any other outcome drops them. */
function withWrites(outcome: Outcome, writes: Writes): Outcome {
  return outcome.type === "completed" ? { ...outcome, ...writes } : outcome;
}

/** Checks and returns the values that a step sets variables to. */
function writesOf(run: AttemptState, { vars, __pause, __children, __signal }: Returned): Readonly<Record<string, Json>> {
  const { task, context } = run;
  if (__pause === true || __children !== undefined || __signal !== undefined || task.undoes)
    throw invalid(run, "can only be set by a step that completes, not by one that waits, runs children or undoes another step", "/vars");
  const { value } = normalise(vars, `The variables of node "${task.nodeId}"`, context.limits);
  if (!isJsonObject(value)) throw invalid(run, "must be an object of values, by the names of variables", "/vars");
  const wrong = Object.keys(value).find((name) => !isId(name));
  if (wrong !== undefined) throw invalid(run, 'must be named by 1 to 128 letters, digits, "_" or "-"', shortPointerOf(["vars", wrong]));
  return value;
}

function outcomeOf(run: AttemptState, returned: Returned): Outcome | Promise<Outcome> {
  const { node, task, context } = run;
  if (returned.__pause === true)
    return suspensionOf(run, { payload: returned.data, options: [{ resumeAt: returned.resumeAt as number | undefined }] });
  if (returned.__children !== undefined) {
    if (task.undoes)
      throw new StepfoldError("OPTION_INVALID", {
        option: "compensate",
        reason: "cannot run a workflow or a map: a compensation is a single step",
      });
    return safeMember(returned.__children, "detached") === true
      ? spawnedDetached(run, returned.__children)
      : spawnedChildren(run, returned.__children);
  }
  if (returned.__signal !== undefined) return sentSignal(run, returned.__signal as SignalRequest);
  if (returned.continueAs !== undefined) return continuation(run, returned.continueAs);
  const terminates = returned.terminate === true;
  if (!terminates) refuseFailures(run, returned);
  const leaving: Leaving = {
    handles: terminates || run.task.undoes ? undefined : handlesOf(run, returned),
    terminates,
    sends: returned.__sends,
    unlessSignalled: typeof returned.__unlessSignalled === "string" ? returned.__unlessSignalled : undefined,
  };
  if (!node.output) return completed(run, returned.data, leaving);
  const { output } = node.definition;
  // a JSON Schema describes the stored value, in which for example a returned Date is text; so the data is normalised before the check
  const result = node.output(
    isCode(output!) ? returned.data : normalise(returned.data, whatOf(task), context.limits).value,
    new CheckBudget(context.limits),
  );
  const finish = ({
    value,
    issues,
  }: {
    value?: unknown;
    issues?: readonly { pointer: string; message: string }[] | undefined;
  }): Outcome => {
    if (issues) throw new StepfoldError("OUTPUT_INVALID", { nodeId: task.nodeId, issues });
    return completed(run, value, leaving);
  };
  return result instanceof Promise ? result.then(finish) : finish(result);
}

/** What an executor returned; no member is checked yet. */
interface Returned {
  readonly data?: unknown;
  readonly nextHandle?: unknown;
  readonly nextHandles?: unknown;
  readonly failure?: unknown;
  readonly __pause?: unknown;
  readonly __children?: unknown;
  readonly __signal?: unknown;
  readonly __sends?: unknown;
  readonly __unlessSignalled?: unknown;
  readonly terminate?: unknown;
  readonly continueAs?: unknown;
  readonly vars?: unknown;
  readonly resumeAt?: unknown;
  readonly then?: unknown;
}

/** How a path leaves its node. */
interface Leaving {
  readonly handles: readonly string[] | undefined;
  readonly terminates: boolean;
  readonly sends: unknown;
  readonly unlessSignalled: string | undefined;
}

function completed(run: AttemptState, data: unknown, { handles, terminates, sends, unlessSignalled }: Leaving): Outcome {
  const { task, context, startedAt } = run;
  const { value, sizeBytes } = normalise(data, whatOf(task), context.limits);
  const outcome = { type: "completed" as const, startedAt, endedAt: context.now(), output: value, sizeBytes };
  if (sends !== undefined) {
    const sent = sendsOf(run, sends);
    return {
      ...outcome,
      sizeBytes: sizeBytes + sent.sizeBytes,
      sends: sent.sends,
      ...(terminates && { terminates }),
      ...(handles && { handles }),
    };
  }
  if (terminates) return { ...outcome, terminates, ...(unlessSignalled !== undefined && { unlessSignalled }) };
  return handles ? { ...outcome, handles } : outcome;
}

function whatOf({ nodeId }: Task): string {
  return `The output of node "${nodeId}"`;
}

/** Returns the handles by which a path leaves; undefined for the default one, empty for none. An unknown handle is an error. */
function handlesOf({ node, task }: AttemptState, { nextHandle, nextHandles }: Returned): readonly string[] | undefined {
  const { edges, next } = node.compiled;
  const { nodeId } = task;
  const named =
    nextHandles === undefined ? (nextHandle === undefined || nextHandle === null || nextHandle === "" ? [] : [nextHandle]) : nextHandles;
  if (!Array.isArray(named)) throw invalidHandles(nodeId);
  if (named.length === 0) {
    if (node.handles && !node.handles.has("") && next.length === 0 && nextHandles === undefined)
      throw new StepfoldError("HANDLE_MISSING", { nodeId, known: [...node.handles] });
    return nextHandles === undefined ? undefined : [];
  }
  for (const handle of named) {
    if (typeof handle !== "string") throw invalidHandles(nodeId);
    if (handle !== "" && !edges.has(handle) && !node.handles?.has(handle)) {
      throw new StepfoldError("HANDLE_UNKNOWN", {
        nodeId,
        handle,
        known: [...new Set([...edges.keys(), ...(node.handles ?? [])])].filter((known) => known !== ""),
      });
    }
  }
  return Object.freeze([...(named as string[])]);
}

function isOutput(returned: unknown): returned is Returned {
  return typeof returned === "object" && returned !== null && !Array.isArray(returned);
}

function invalid({ task }: AttemptState, message: string, pointer = ""): StepfoldError {
  return new StepfoldError("OUTPUT_INVALID", { nodeId: task.nodeId, issues: [{ pointer, message }] });
}

function invalidHandles(nodeId: string): StepfoldError {
  return new StepfoldError("OUTPUT_INVALID", {
    nodeId,
    issues: [{ pointer: "/nextHandle", message: "must be the name of a handle, and nextHandles must be a list of such names" }],
  });
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  return value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
