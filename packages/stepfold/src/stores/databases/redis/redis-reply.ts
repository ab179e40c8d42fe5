import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { Guard } from "../../kit/verdict.ts";

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
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What the rows of an execution hold, as scripts tell it: incarnation, version, status, owner, fence. Null if there are none. */
export function guardOf(fields: readonly unknown[]): Guard | null {
  const [incarnation, version, status, owner, fence] = fields.map(said);
  if (incarnation == null) return null;
  return { incarnation, version: Number(version), status: status as Status, owner: owner ?? null, fence: Number(fence) };
}

/** An event as its row holds it: the id of its commit as JSON, and the event right behind it. */
export function eventRow(commitId: string, event: string): string {
  return `${JSON.stringify(commitId)}${event}`;
}

/** The two parts of a row; an event that is no JSON where the row is damaged. */
export function readEventRow(row: unknown): { readonly commitId: string; readonly event: string } {
  const text = String(row);
  const literal = /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0];
  return literal === undefined
    ? { commitId: "", event: "" }
    : { commitId: JSON.parse(literal) as string, event: text.slice(literal.length) };
}

/** Children in order of creation, from pairs of `=key` and `place:head`. */
export function childrenOf(pairs: readonly unknown[]): (readonly [key: string, head: string])[] {
  const placed: { place: number; key: string; head: string }[] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const value = String(pairs[index + 1]);
    const colon = value.indexOf(":");
    placed.push({ place: Number(value.slice(0, Math.max(0, colon))), key: said(pairs[index]) ?? "", head: value.slice(colon + 1) });
  }
  return placed.sort((a, b) => a.place - b.place).map(({ key, head }) => [key, head] as const);
}
