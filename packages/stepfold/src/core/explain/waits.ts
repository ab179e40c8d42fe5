import { openScopes } from "../snapshot/address.ts";
import type { Refusal } from "../snapshot/refusal.ts";
import type { ActivePath, Snapshot, Wait } from "../snapshot/snapshot.ts";
import { isFor } from "../transition/draft/draft-path.ts";
import { isAnswered } from "../transition/find-wait.ts";
import type { EpochMs, Json, JsonSchema } from "../values/json.ts";
import { addresses } from "./waits-address.ts";

/** The command that answers a wait, but for its payload. */
export type WaitAnswer =
  | { readonly type: "resume"; readonly target: string }
  | { readonly type: "signal"; readonly name: string; readonly key?: string };

/** Something that an execution waits for. */
export interface WaitInfo {
  /** Names this very wait; no other wait of the execution ever has the same. */
  readonly id: string;
  /** The place of the wait: `approve`, `map[3]/approve`. */
  readonly address: string;
  /** The node, without what is around it. */
  readonly nodeId: string;
  readonly kind: Wait["kind"];
  /** Name of the signal. */
  readonly signal?: string;
  /** Only a signal with the same key is meant. */
  readonly key?: string;
  /** What the step suspended with. */
  readonly payload?: Json;
  /** What an answer must look like. Absent: it may be anything, or only the code of the node can tell (`needsCode`). */
  readonly schema?: JsonSchema;
  /** Only a process that has the code of the node can take an answer: its type gives no JSON Schema of the payload. */
  readonly needsCode?: true;
  /** Why the last answer does not count: the code of the node has refused it, and the wait is open again. */
  readonly refused?: Refusal;
  /** Who may answer. Absent: anybody. */
  readonly responders?: readonly string[];
  /** Who has answered, where several have to. */
  readonly answered?: readonly string[];
  /** How many more answers it needs at least, where several have to. */
  readonly missing?: number;
  /** Only answers in which this member is true count for that. */
  readonly tally?: string;
  /** The execution that it waits for. */
  readonly workflowId?: string;
  /** Since when it is open; of a fork or a restart: the time in which its origin was not going on does not count. Absent: an earlier version has opened it. */
  readonly openedAt?: EpochMs;
  /** When the step goes on by itself. */
  readonly resumeAt?: EpochMs;
  /** When it can no longer be answered. */
  readonly timeoutAt?: EpochMs;
  /** Null where only time, or the end of another execution, can end the wait. */
  readonly answer: WaitAnswer | null;
}

/**
 * Everything that an execution waits for, in order of the paths, that of children after: answers, signals, times. A
 * terminal execution waits for nothing.
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

/** What one path waits for. @param address of its node @param schemas those of the snapshot */
export function waitsOf(
  { nodeId, waits: open = [] }: Pick<ActivePath, "nodeId" | "waits">,
  address: string,
  schemas: Snapshot["schemas"],
): WaitInfo[] {
  return open.map((wait) => {
    const { quorum, answers = [], transient: _, typeSchema: __, ...rest } = wait;
    const schema = schemaOfAnswer(wait, schemas);
    const told = { ...rest, ...(schema === "code" ? { needsCode: true as const } : schema !== undefined && { schema }) };
    const progress = quorum === undefined ? {} : { answered: answers.map(({ by }) => by), missing: missingOf(wait, quorum) };
    return { ...told, address, nodeId, ...progress, answer: answerTo(wait) };
  });
}

/** What an answer to a wait must look like; `code` where only the code of its node can tell, undefined where it may be anything. */
export function schemaOfAnswer({ schema, typeSchema }: Wait, schemas: Snapshot["schemas"] = {}): JsonSchema | "code" | undefined {
  if (schema !== undefined || typeSchema === undefined) return schema;
  return Object.hasOwn(schemas, typeSchema) ? schemas[typeSchema] : "code";
}

function missingOf({ tally, answers = [] }: Wait, quorum: number): number {
  return quorum - (tally === undefined ? answers : answers.filter((given) => isFor(given, tally))).length;
}

function answerTo(wait: Wait): WaitAnswer | null {
  const { id, kind, signal, key } = wait;
  if (isAnswered(wait)) return { type: "resume", target: id };
  // a wait for a signal always has its name
  if (kind === "signal") return key === undefined ? { type: "signal", name: signal! } : { type: "signal", name: signal!, key };
  return null;
}
