import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Guard } from "../../kit/verdict.ts";
import { amongValues, each } from "./batches.ts";
import { numberOf, numberOrNull, type Session, textOf } from "./mysql-session.ts";
import { clock, type Tables } from "./tables.ts";

/** What of a stored execution guards its writes. Its row stays locked until the transaction ends. */
export interface Locked extends Guard {
  readonly seq: number;
  readonly id: string;
  readonly wakeAt: EpochMs | null;
  readonly dueAt: EpochMs | null;
  readonly leaseUntil: EpochMs | null;
  /** Claims in a row that ran out, without a commit of their holder. */
  readonly crashes: number;
  /** The transaction that created it. */
  readonly creator: string;
  /** The server's clock. */
  readonly now: EpochMs;
}

/** Locks executions, in the order of their ids. Those that are not there are missing. */
export async function lockedRows(session: Session, { executions }: Tables, ids: readonly string[]): Promise<Map<string, Locked>> {
  const values = amongValues(ids);
  // without the hint a small table would be read, and locked, as a whole
  const rows = await session.rows(
    `SELECT seq, id, incarnation, version, status, owner, fence, wake_at, due_at, lease_until, crashes, creator, ${clock}
    FROM ${executions} FORCE INDEX (ids) WHERE id IN (${each(values.length, "?")}) FOR UPDATE`,
    values,
  );
  return new Map(
    rows.map(([seq, id, incarnation, version, status, owner, fence, wakeAt, dueAt, leaseUntil, crashes, creator, now]) => {
      const locked: Locked = {
        seq: numberOf(seq),
        id: textOf(id),
        incarnation: textOf(incarnation),
        version: numberOf(version),
        status: textOf(status) as Status,
        owner: owner === null ? null : textOf(owner),
        fence: numberOf(fence),
        wakeAt: numberOrNull(wakeAt),
        dueAt: numberOrNull(dueAt),
        leaseUntil: numberOrNull(leaseUntil),
        crashes: numberOf(crashes),
        creator: textOf(creator),
        now: numberOf(now),
      };
      return [locked.id, locked];
    }),
  );
}

/** The commits that wrote these versions, where there are such: `${execution}.${version}` to its id. */
export async function writersOf(
  session: Session,
  { events }: Tables,
  places: readonly (readonly [execution: number, version: number])[],
): Promise<Map<string, string>> {
  if (places.length === 0) return new Map();
  const values = amongPlaces(places);
  const rows = await session.rows(
    `SELECT execution, version, commit_id FROM ${events} WHERE ${each(values.length, "(execution = ? AND version = ?)", " OR ")}`,
    values.flat(),
  );
  return new Map(rows.map(([execution, version, commitId]) => [`${numberOf(execution)}.${numberOf(version)}`, textOf(commitId)]));
}

function amongPlaces(places: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const indices = amongValues(places.map((_, index) => index));
  return indices.map((index) => places[index]!);
}
