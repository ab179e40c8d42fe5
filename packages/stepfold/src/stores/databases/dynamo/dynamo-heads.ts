import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Permit, Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Guard } from "../../kit/verdict.ts";
import type { Item } from "./dynamo-client.ts";
import { headKey, readTurn } from "./dynamo-keys.ts";
import { type Connection, itemAt, remember } from "./dynamo-requests.ts";
import { type HeldText, heldIn } from "./long-text.ts";

/** The head of an execution, as its item holds it. */
export interface Head extends Guard {
  readonly pk: string;
  readonly workflowId: string;
  /** The commit that wrote it. */
  readonly commitId: string;
  /** JSON. */
  readonly head: HeldText;
  /** JSON of what a list needs of a head that lies in parts. */
  readonly listed: string | null;
  /** JSON of id and hash. */
  readonly definition: string;
  /** JSON. */
  readonly metadata: HeldText;
  /** Place in order of creation. */
  readonly made: string;
  readonly updatedAt: EpochMs;
  readonly endedAt: EpochMs | null;
  readonly wakeAt: EpochMs | null;
  /** Claims in a row that ran out, up to the one in force. */
  readonly crashes: number;
  /** What it needs a place of; null if it takes turns with nobody. */
  readonly permit: Permit | null;
  /** Its place in the agenda, as it is stored. */
  readonly turn: string | null;
  /** When the lease of whoever holds it ends; null if nobody does. */
  readonly leaseUntil: EpochMs | null;
  /** Version up to which children were folded into one text; -1 if they were not. */
  readonly baseVersion: number;
  readonly base: HeldText;
}

/** What is left of an execution that was deleted. */
export interface Tombstone {
  readonly incarnation: string;
  readonly deletedAt: EpochMs;
  /** Its rows are still to be deleted. */
  readonly unswept: boolean;
}

const statuses: ReadonlySet<unknown> = new Set<Status>(["active", "paused", "error", "parked", "completed", "failed", "cancelled"]);

/** Reads what lies at an execution's key. Null if nothing does, or a tombstone. */
export function headOf({ keys }: Connection, stored: unknown): Head | null {
  const item = plainItem(stored);
  if (item === null || item.deletedAt !== undefined) return null;
  const pk = textOf(item.pk);
  const workflowId = keys.workflowIdOf(pk);
  const damaged = (): StepfoldError => damagedExecution(workflowId);
  const number = (name: string, missing?: number): number => {
    const value = item[name];
    if (value === undefined && missing !== undefined) return missing;
    const read = value === undefined || value === null ? Number.NaN : Number(String(value));
    if (!Number.isFinite(read)) throw damaged();
    return read;
  };
  const optional = (name: string): number | null => (item[name] === undefined ? null : number(name));
  if (!statuses.has(item.status) || typeof item.incarnation !== "string" || typeof item.made !== "string") throw damaged();
  const permit = typeof item.permitKey === "string" ? { key: ownText(item.permitKey), limit: number("permitLimit") } : null;
  const owner = item.owner === undefined ? null : ownText(textOf(item.owner));
  return {
    pk,
    workflowId,
    incarnation: ownText(item.incarnation),
    version: number("version"),
    status: item.status as Status,
    owner,
    fence: number("fence"),
    // the count is that of the next claim: the one in force is in it until it is given back
    crashes: owner === null ? number("nextCrashes", 0) : number("nextCrashes", 1) - 1,
    permit,
    turn: typeof item.turn === "string" ? item.turn : null,
    leaseUntil: owner === null ? null : Number.parseInt(readTurn(textOf(item.turn)).turn, 10),
    commitId: ownText(textOf(item.commitId)),
    head: heldIn(item, "head", "headParts"),
    listed: typeof item.listed === "string" ? item.listed : null,
    definition: textOf(item.definition),
    metadata: heldIn(item, "metadata", "metadataParts"),
    made: item.made,
    updatedAt: number("updatedAt"),
    endedAt: optional("endedAt"),
    wakeAt: optional("wakeAt"),
    baseVersion: number("baseVersion", -1),
    base: heldIn(item, "", "baseParts"),
  };
}

/** Reads a tombstone. Null for anything else. */
export function tombstoneOf(stored: unknown): Tombstone | null {
  const item = plainItem(stored);
  if (item?.deletedAt === undefined) return null;
  return {
    incarnation: ownText(textOf(item.incarnation)),
    deletedAt: Number(String(item.deletedAt)),
    unswept: item.unswept !== undefined,
  };
}

/** The head as it is now; null if there is none. */
export async function readHead(connection: Connection, workflowId: string): Promise<Head | null> {
  const head = headOf(connection, await itemAt(connection, { pk: connection.keys.execution(workflowId), sk: headKey }));
  if (head) rememberHead(connection, head);
  return head;
}

/** A head; null also if it is damaged. */
export function intactHead(connection: Connection, item: Item): Head | null {
  try {
    return headOf(connection, item);
  } catch (error) {
    if (StepfoldError.is(error)) return null;
    throw error;
  }
}

/** Notes what a later commit needs: where in the agenda an execution stands among those of one time, and parts to be cleared away. */
export function rememberHead({ stamps, lines, longHeads }: Connection, { pk, incarnation, made, version, head, permit }: Head): void {
  remember(stamps, noteKey(pk, incarnation), made);
  if (permit) remember(lines, noteKey(pk, incarnation), permit.key);
  if (head.parts !== null) remember(longHeads, noteKey(pk, incarnation), { version, parts: head.parts });
}

/** Name of an execution in notes. */
export function noteKey(pk: string, incarnation: string): string {
  return `${incarnation}\n${pk}`;
}

function ownText(stored: string): string {
  return stored.slice(1);
}

/** The error for rows that somebody else changed. */
export function damagedExecution(workflowId: string): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store: "dynamo", reason: `what is stored of execution "${workflowId}" is damaged` });
}

/** Items in errors come in the form of the wire: `{ version: { N: "7" } }`. */
function plainItem(stored: unknown): Item | null {
  if (typeof stored !== "object" || stored === null) return null;
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, plainValue(value)]));
}

function plainValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { S, N } = value as { S?: unknown; N?: unknown };
  return S ?? N ?? value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
