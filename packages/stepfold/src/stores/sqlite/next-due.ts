import type { EpochMs } from "../../core/values/json.ts";
import type { CheckedClaim } from "../kit/checked-store.ts";
import { dueSpans } from "../record/due-time.ts";
import { type Due, longestDue, mostWaiting, openLines, type Waiting, walkFrom } from "../sql/sqlite-turns.ts";
import type { Connection } from "./connection.ts";

/** A span of due times, as statements take it: the time, from, how long before now. */
type Span = readonly [now: EpochMs, from: EpochMs, behindMs: number];

/** What may be claimed next, longest due first: within one transaction all of it. */
export function nextDue(connection: Connection, options: CheckedClaim, now: EpochMs, most: number): readonly Due[] {
  for (const { from, behindMs } of dueSpans(options)) {
    const found = dueIn(connection, options, [now, from, behindMs], most);
    if (found.length > 0) return found;
  }
  return [];
}

/** Whether anything may be claimed. The walk through the keys stays where it is, because the claim goes the same way. */
export function isAnyDue(connection: Connection, options: CheckedClaim, now: EpochMs): boolean {
  return nextDue({ ...connection, walk: { ...connection.walk } }, options, now, 0).length > 0;
}

/** With `most` 0: one, if there is any. */
function dueIn(connection: Connection, { workflowId, permit }: CheckedClaim, span: Span, wanted: number): readonly Due[] {
  const most = wanted || 1;
  const { sql } = connection;
  if (workflowId !== undefined) return sql.dueOne.all(...span, workflowId) as unknown as Due[];
  if (permit !== undefined) return turnsIn(connection, waitingOf(sql.waitingFor.all(...span, permit)), span, most);
  const plain = sql.due.all(...span, most) as unknown as Due[];
  if (wanted === 0 && plain.length > 0) return plain;
  const waiting = waitingOf(sql.waiting.all(...span));
  if (waiting.length === 0) return plain;
  const turns = turnsIn(connection, waiting, span, most);
  // perhaps none of those that have waited longest may be taken, but others
  const others = turns.length > 0 || waiting.length < mostWaiting ? [] : turnsOfOthers(connection, span, most);
  return longestDue(plain, [...turns, ...others], most);
}

/** Goes on from key to key until it is somebody's turn, or all were asked. */
function turnsOfOthers(connection: Connection, span: Span, most: number): readonly Due[] {
  const { sql, walk } = connection;
  for (const { from, upTo } of walkFrom(walk)) {
    walk.after = from;
    for (;;) {
      const waiting = waitingOf(sql.waitingAfter.all(...span, walk.after, upTo));
      if (waiting.length === 0) break;
      walk.after = waiting.at(-1)!.key;
      const turns = turnsIn(connection, waiting, span, most);
      if (turns.length > 0) return turns;
    }
  }
  return [];
}

function turnsIn({ sql }: Connection, waiting: readonly Waiting[], span: Span, most: number): readonly Due[] {
  const lines = openLines(waiting);
  if (lines.length === 0) return [];
  return sql.turns.all(...span, JSON.stringify(lines.map(({ seq }) => seq)), most) as unknown as Due[];
}

function waitingOf(rows: readonly object[]): Waiting[] {
  return rows.map((row) => {
    const { isOpen, ...waiting } = row as Omit<Waiting, "isOpen"> & { isOpen: number };
    return { ...waiting, isOpen: isOpen === 1 };
  });
}
