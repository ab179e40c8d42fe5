import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard } from "../../kit/execution-table.ts";
import type { Item } from "./dynamo-client.ts";
import { headKey } from "./dynamo-keys.ts";
import { batchGet, type Connection, itemAt } from "./dynamo-requests.ts";
import { type StoredText, storedTextIn } from "./long-text.ts";

/** The head of an execution, or its tombstone, as its item holds it. */
export interface Head extends ExecutionGuard {
  readonly pk: string;
  /** JSON. */
  readonly head: StoredText;
  /** JSON of what a list needs of a head that lies in parts. */
  readonly listed: string | null;
  /** JSON of id and hash. */
  readonly definition: string;
  /** JSON. */
  readonly metadata: StoredText;
  /** Place in order of creation. */
  readonly made: string;
  readonly updatedAt: EpochMs;
  readonly endedAt: EpochMs | null;
  /** Version up to which children were folded into one text; -1 if they were not. */
  readonly baseVersion: number;
  readonly base: StoredText;
}

const statuses: ReadonlySet<unknown> = new Set<Status>(["active", "paused", "error", "parked", "completed", "failed", "cancelled"]);

/** Reads what lies at an execution's key. @throws StepfoldError `STORE_REJECTED` if it is damaged */
export function headOf({ keys }: Connection, stored: unknown): Head | null {
  if (typeof stored !== "object" || stored === null) return null;
  // items in errors come in the form of the wire: { version: { N: "7" } }
  const item: Item = Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, plainValue(value)]));
  const pk = String(item.pk);
  const id = keys.workflowIdOf(pk);
  const text = (name: string): string => (typeof item[name] === "string" ? item[name] : "");
  const optionalText = (name: string): string | null => (typeof item[name] === "string" ? item[name].slice(1) : null);
  const number = (name: string, absent = Number.NaN): number => {
    const read = item[name] === undefined ? absent : Number(String(item[name]));
    if (Number.isNaN(read)) throw damagedExecution(id);
    return read;
  };
  const optional = (name: string): number | null => (item[name] === undefined ? null : number(name));
  if (item.lane !== undefined) throw olderLayout();
  const made = text("made");
  const key = optionalText("permitKey");
  if (!statuses.has(item.status) || typeof item.incarnation !== "string" || made === "") throw damagedExecution(id);
  return {
    ...{ pk, id, made, definition: text("definition"), status: item.status as Status, incarnation: item.incarnation.slice(1) },
    ...{ version: number("version"), fence: number("fence"), crashes: number("crashes", 0), baseVersion: number("baseVersion", -1) },
    ...{ wakeAt: optional("wakeAt"), dueAt: optional("dueAt"), endedAt: optional("endedAt"), deletedAt: optional("deletedAt") },
    seq: Number(made.split(".")[1]),
    owner: optionalText("owner"),
    permit: key === null ? null : { key, limit: number("permitLimit") },
    updatedAt: number("updatedAt", 0),
    listed: text("listed") || null,
    head: storedTextIn(item, "head", "headParts"),
    metadata: storedTextIn(item, "metadata", "metadataParts"),
    base: storedTextIn(item, "", "baseParts"),
  };
}

/** The head as it is now, or the tombstone. */
export async function readHead(connection: Connection, workflowId: string): Promise<Head | null> {
  return headOf(connection, await itemAt(connection, { pk: connection.keys.execution(workflowId), sk: headKey }));
}

/** Heads by partition, as they are now. What is damaged is left out. */
export async function intactHeads(connection: Connection, partitions: Iterable<string>): Promise<ReadonlyMap<string, Head>> {
  const items = await batchGet(
    connection,
    [...new Set(partitions)].map((pk) => ({ pk, sk: headKey })),
  );
  const heads = new Map<string, Head>();
  for (const [pk, item] of items) {
    try {
      heads.set(pk, headOf(connection, item)!);
    } catch (error) {
      if (!StepfoldError.is(error)) throw error;
    }
  }
  return heads;
}

/** The error for rows that somebody else changed. */
export function damagedExecution(workflowId: string): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store: "dynamo", reason: `what is stored of execution "${workflowId}" is damaged` });
}

/** The error for what an older version has written, which has other attributes. */
function olderLayout(): StepfoldError {
  const reason = "the table has executions of an older version, which are not read: take another table, or another prefix";
  return new StepfoldError("STORE_REJECTED", { store: "dynamo", reason });
}

function plainValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { S, N } = value as { S?: unknown; N?: unknown };
  return S ?? N ?? value;
}
