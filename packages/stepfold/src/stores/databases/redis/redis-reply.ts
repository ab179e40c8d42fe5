import type { Permit, Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard } from "../../kit/execution-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";

/**
 * A text that a script said; null where there is none.
 *
 * Scripts put a sign before every text: clients that read JSON wherever they see some then leave it alone.
 */
export function said(value: unknown): string | null {
  const text = String(value ?? "");
  return text === "" ? null : text.slice(1);
}

/** A list in a reply. */
export function replyList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A head as `guardOf` of the scripts tells it: a guard, and its times. Null where there is none. */
export function readGuard(
  told: readonly unknown[],
): (ExecutionGuard & { readonly createdAt: EpochMs; readonly updatedAt: EpochMs }) | null {
  const [id, incarnation, status, owner, permit, numbers] = told.map(said);
  if (id == null || incarnation == null || numbers == null) return null;
  const [seq, version, fence, crashes, wakeAt, dueAt, createdAt, updatedAt, deletedAt] = numbers.split(" ");
  return {
    ...{ id, incarnation, status: status as Status, owner: owner ?? null, permit: parsePermit(permit ?? null) },
    ...{ seq: Number(seq), version: Number(version), fence: Number(fence), crashes: Number(crashes) },
    ...{ wakeAt: timeOf(wakeAt), dueAt: timeOf(dueAt), deletedAt: timeOf(deletedAt) },
    ...{ createdAt: Number(createdAt), updatedAt: Number(updatedAt) },
  };
}

function timeOf(text = ""): EpochMs | null {
  return text === "" ? null : Number(text);
}

/** A permit from its limit, a colon and its key. */
export function parsePermit(text: string | null): Permit | null {
  if (text === null || text === "") return null;
  const colon = text.indexOf(":");
  return { limit: Number(text.slice(0, colon)), key: text.slice(colon + 1) };
}

/** Rows as `rowsOf` of the scripts tells them, with their incarnation; the end of a long history may be missing. Null for what is damaged. */
export function readRows(workflowId: string, reply: readonly unknown[]): (StoredRows & { readonly incarnation: string }) | null {
  const [incarnation, version, status, head] = reply.slice(0, 4).map(said);
  if (incarnation == null || version == null || head == null) return null;
  const events = replyList(reply[4]).map((row) => readEventRow(row).text);
  return {
    workflowId,
    incarnation,
    version: Number(version),
    status: status as Status,
    head,
    events,
    children: childrenOf(replyList(reply[5])),
  };
}

/** An event as its row holds it: the id of its commit as JSON, and the event right behind it. */
export function eventRow(commitId: string, event: string): string {
  return `${JSON.stringify(commitId)}${event}`;
}

/** The two parts of a row; an event that is no JSON where the row is damaged. */
export function readEventRow(row: unknown): { readonly commitId: string; readonly text: string } {
  const whole = String(row);
  const literal = /^"(?:[^"\\]|\\.)*"/.exec(whole)?.[0];
  return literal === undefined
    ? { commitId: "", text: "" }
    : { commitId: JSON.parse(literal) as string, text: whole.slice(literal.length) };
}

/** Children in order of creation, from pairs of `=key` and a number, a colon and the head. */
function childrenOf(pairs: readonly unknown[]): (readonly [key: string, head: string])[] {
  const placed: { place: number; key: string; head: string }[] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const value = String(pairs[index + 1]);
    const colon = value.indexOf(":");
    placed.push({ place: Number(value.slice(0, Math.max(0, colon))), key: said(pairs[index]) ?? "", head: value.slice(colon + 1) });
  }
  return placed.sort((a, b) => a.place - b.place).map(({ key, head }) => [key, head] as const);
}
