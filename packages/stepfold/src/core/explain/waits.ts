import { openScopes } from "../snapshot/address.ts";
import type { Refusal } from "../snapshot/parts/refusal.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { ActivePath, Snapshot } from "../snapshot/snapshot.ts";
import { countsForQuorum } from "../transition/draft/draft-path.ts";
import { isAnswered } from "../transition/find-wait.ts";
import type { EpochMs, Json, JsonSchema } from "../values/json.ts";
import { addresses } from "./waits-address.ts";

/** The command that answers a wait, without its payload. */
export type WaitAnswer =
  | { readonly type: "resume"; readonly target: string }
  | { readonly type: "signal"; readonly name: string; readonly key?: string };

/** Something that an execution waits for. */
export interface WaitInfo {
  /** The id of the wait; no other wait of the execution ever gets the same id. */
  readonly id: string;
  /** The id under which it was first open, if it has another one now because the code of the node has refused an answer. */
  readonly firstId?: string;
  /** The place of the wait, such as `approve` or `map[3]/approve`. */
  readonly address: string;
  /** The id of the node, without the maps and sub-workflows around it. */
  readonly nodeId: string;
  readonly kind: Wait["kind"];
  /** The name of the signal. */
  readonly signal?: string;
  /** The key of the signal: the wait takes only a signal with the same key. */
  readonly key?: string;
  /** What the step suspended with: data for those who answer. For an incident, the failure and its attempt. */
  readonly payload?: Json;
  /** The JSON Schema of an answer. Absent: an answer may be any value, or only the code of the node can check it (`needsCode`). */
  readonly schema?: JsonSchema;
  /** True if only a process with the code of the node can take an answer, because the node's type gives no JSON Schema of the payload. */
  readonly needsCode?: true;
  /** Why the last answer does not count: the code of the node has refused it, and the wait is open again. */
  readonly refused?: Refusal;
  /** The people who may answer. Absent: anybody. */
  readonly responders?: readonly string[];
  /** The people who have answered. Only if the wait needs several answers. */
  readonly answered?: readonly string[];
  /** The number of answers that are still needed at least. Only if the wait needs several answers. */
  readonly missing?: number;
  /** The name of a boolean member of the payload: only answers in which it is true count for `missing`. */
  readonly tally?: string;
  /** The id of the detached execution whose end the step waits for. */
  readonly workflowId?: string;
  /**
   * The time at which the wait was opened. In a fork or after a restart it is moved, so that the time in which the execution stood still does
   * not count. Absent: an earlier version of Stepfold, which did not record the time, has opened the wait.
   */
  readonly openedAt?: EpochMs;
  /** The time at which the step goes on by itself. */
  readonly resumeAt?: EpochMs;
  /** The time from which the wait can no longer be answered. Another wait of the path, or a deadline around it, may end it before. */
  readonly timeoutAt?: EpochMs;
  /** The command that answers the wait; null if only a time, or something in the engine such as the end of an execution, can end it. */
  readonly answer: WaitAnswer | null;
}

/**
 * Returns all open waits of an execution (for answers, signals, times and others), in the order of the paths; the waits of children come
 * last. An execution that has ended has no waits.
 *
 * ```ts
 * for (const wait of waits(snapshot)) console.log(wait.address, wait.kind, wait.payload);
 * const [first] = waits(snapshot);
 * if (first?.answer?.type === "resume") snapshot = await engine.send(snapshot, { ...first.answer, payload: { approved: true } });
 * ```
 */
export function waits(snapshot: Pick<Snapshot, "activePaths" | "childStates" | "schemas">): WaitInfo[] {
  const address = addresses(snapshot);
  const all: WaitInfo[] = [];
  for (const [scope, paths] of openScopes(snapshot)) {
    for (const path of paths) if (path.waits) all.push(...waitsOf(path, address(scope, path.nodeId), snapshot.schemas));
  }
  return all;
}

/** Returns the waits of one path. @param address the place of its node @param schemas the field `schemas` of the snapshot */
export function waitsOf(
  { nodeId, waits: open = [] }: Pick<ActivePath, "nodeId" | "waits">,
  address: string,
  schemas: Snapshot["schemas"],
): WaitInfo[] {
  return open.map((wait) => {
    const { quorum, answers = [], transient: _, typeSchema: __, inEvents: ___, begins: ____, yields: _____, ...rest } = wait;
    const schema = schemaOfAnswer(wait, schemas);
    const told = { ...rest, ...(schema === "code" ? { needsCode: true as const } : schema !== undefined && { schema }) };
    const progress = quorum === undefined ? {} : { answered: answers.map(({ by }) => by), missing: missingOf(wait, quorum) };
    return { ...told, address, nodeId, ...progress, answer: answerTo(wait) };
  });
}

/** Returns the JSON Schema of an answer; `code` if only the code of the node can check it, undefined if it may be any value. */
export function schemaOfAnswer({ schema, typeSchema }: Wait, schemas: Snapshot["schemas"] = {}): JsonSchema | "code" | undefined {
  if (schema !== undefined || typeSchema === undefined) return schema;
  return Object.hasOwn(schemas, typeSchema) ? schemas[typeSchema] : "code";
}

function missingOf({ tally, answers = [] }: Wait, quorum: number): number {
  return quorum - (tally === undefined ? answers : answers.filter((given) => countsForQuorum(given, tally))).length;
}

function answerTo(wait: Wait): WaitAnswer | null {
  const { id, kind, signal, key } = wait;
  if (isAnswered(wait)) return { type: "resume", target: id };
  // a wait for a signal always has its name
  if (kind === "signal") return key === undefined ? { type: "signal", name: signal! } : { type: "signal", name: signal!, key };
  return null;
}
