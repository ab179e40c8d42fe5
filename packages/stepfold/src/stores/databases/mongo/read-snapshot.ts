import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Event } from "../../../core/snapshot/event.ts";
import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { AppendedRow } from "../../../ports/snapshot-store.ts";
import { restoredSnapshot } from "../../kit/restored-snapshot.ts";
import { type Collections, endOfVersions, eventsBetween, reading } from "./collections.ts";
import { placeOf } from "./flush-tail.ts";
import { type Stored, storedOf } from "./stored-execution.ts";

/** How often a reader begins again because children change while it reads them. */
const mostTries = 100;

/** The whole snapshot of one version. */
export async function loadSnapshot(collections: Collections, workflowId: string): Promise<Snapshot | null> {
  for (let tries = 0; tries < mostTries; tries++) {
    const stored = await storedOf(collections.executions, workflowId);
    if (!stored) return null;
    const snapshot = await snapshotAt(collections, stored);
    if (snapshot) return snapshot;
  }
  throw new StepfoldError("STORE_UNAVAILABLE", { store: "mongodb", reason: "the execution changed all the time while it was read" });
}

/**
 * The snapshot of the version that `stored` has. Events never change, so they can be read later; of children only the
 * newest state is kept, and nobody writes a newer one before the execution's document tells of it.
 *
 * @returns null if it was deleted, or its children changed, since `stored` was read
 * @throws StepfoldError `STORE_REJECTED` if what is stored is damaged
 */
export async function snapshotAt(collections: Collections, stored: Stored): Promise<Snapshot | null> {
  const { _id: workflowId, key, version, status, head, tail } = stored;
  const first = firstVersion(stored);
  const [rows, children] = await Promise.all([
    collections.events.find(eventsBetween(key, 0, first), { ...reading, sort: { _id: 1 }, projection: { event: 1 } }).toArray(),
    childrenAt(collections, stored),
  ]);
  if (children === null) return null;
  if (rows.length !== first) {
    if ((await storedOf(collections.executions, workflowId))?.key !== key) return null;
    const reason = `what is stored of execution "${workflowId}" is damaged: ${first - rows.length} events are missing`;
    throw new StepfoldError("STORE_REJECTED", { store: "mongodb", reason });
  }
  const events = [...rows.map(({ event }) => event as string), ...tail.events.map(({ text }) => text)];
  return restoredSnapshot("mongodb", { workflowId, version, status, head, events, children });
}

/** Part of the history. */
export async function eventsOf(collections: Collections, workflowId: string, afterVersion: number, limit: number): Promise<AppendedRow[]> {
  const stored = await storedOf(collections.executions, workflowId);
  if (!stored || afterVersion >= stored.version) return [];
  const { key, tail } = stored;
  const first = firstVersion(stored);
  const options = { ...reading, sort: { _id: 1 }, limit };
  const from = Math.min(afterVersion + 1, endOfVersions);
  const rows = from < first ? await collections.events.find(eventsBetween(key, from, first), options).toArray() : [];
  const before = rows.map(({ version, commitId, event }) => rowOf(version as number, commitId as string, event as string));
  const last = tail.events.filter(({ version }) => version > afterVersion).map(({ version, text }) => rowOf(version, tail.commitId, text));
  return [...before, ...last].slice(0, limit);
}

/** Version of the first event in the tail. */
function firstVersion({ version, tail }: Stored): number {
  return tail.events[0]?.version ?? version + 1;
}

function rowOf(version: number, commitId: string, text: string): AppendedRow {
  return { version, commitId, event: JSON.parse(text) as Event };
}

/** The children of that version in their order, or null if they have changed since. */
async function childrenAt(collections: Collections, stored: Stored): Promise<[string, string][] | null> {
  const { _id, key, version, tail } = stored;
  if (stored.childrenAt === null) return [];
  const rows = await collections.children.find({ execution: key, place: { $gte: 0 } }, { ...reading, sort: { place: 1 } }).toArray();
  const now = await collections.executions.findOne({ _id }, { ...reading, projection: { key: 1, childrenAt: 1 } });
  if (now?.key !== key || now.childrenAt !== stored.childrenAt) return null;
  const places = new Map<string, { readonly place: number; readonly text: string }>();
  for (const { name, place, text } of rows) places.set(name as string, { place: place as number, text: text as string });
  // the tail may be there already, in part
  for (const [index, { key: name, text, last }] of tail.children.entries()) {
    const there = places.get(name);
    if (text === null) places.delete(name);
    else places.set(name, { place: there && !last ? there.place : placeOf(version, index), text });
  }
  return [...places].sort(([, a], [, b]) => a.place - b.place).map(([name, { text }]) => [name, text]);
}
