import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { sha256 } from "../../core/values/sha256.ts";
import type { DefinitionQuery, PutDefinitionOptions, StoredDefinition } from "../../ports/store-definitions.ts";
import type { ExecutionTable } from "./execution-table.ts";
import type { RecordTable, StoredRecord } from "./record-table.ts";
import { refuseOption } from "./refuse-option.ts";

/** The list lies in so many records, by the ids of workflows, so that few write the same one. */
const parts: readonly string[] = [..."0123456789abcdef"];
const maxInPart = 250;
/** Of one workflow: one that changes often does not push out the others. */
const maxVersions = 50;
/** How often a write is tried that others were faster than. */
const maxTries = 100;
const maxLabels = 200;
/** The last revision of a definition: it stands in the list. Any other one: it may not. */
const listedRevision = "listed";

type Table = Pick<ExecutionTable, "name" | "records" | "read">;

/**
 * Keeps a definition, and then writes it into the list. Only when both are done it is marked: if the process ends in between, whoever puts it
 * again goes on. Putting one that is marked writes nothing.
 */
export async function putDefinition(
  table: Table,
  hash: string,
  definition: WorkflowDefinition,
  { listedAs = hash }: PutDefinitionOptions = {},
): Promise<void> {
  const stored = await storedDefinition(table.records, hash, definition);
  if (!stored || stored.revision === listedRevision || listedAs === null) return;
  await addToList(table, definition.id, listedAs);
  const next = { revision: listedRevision, text: stored.text };
  await table.records.put("definition", [{ key: hash, expected: stored.revision, next }]);
}

/** The definition that is there, or is put now. Of several that put it at once one is the first, and what that one wrote counts. */
async function storedDefinition(records: RecordTable, hash: string, definition: WorkflowDefinition): Promise<StoredRecord | undefined> {
  const read = async (): Promise<StoredRecord | undefined> => (await records.get("definition", [hash])).get(hash);
  const found = await read();
  if (found) return found;
  const next = { revision: crypto.randomUUID(), text: JSON.stringify(definition) };
  const [made] = await records.put("definition", [{ key: hash, expected: null, next }]);
  return made ? { key: hash, ...next } : read();
}

/** Those that were put last come first. */
export async function listDefinitions({ records }: Table, { id, limit = 100 }: DefinitionQuery): Promise<readonly StoredDefinition[]> {
  const found = await records.get("library", id === undefined ? parts : [partOf(id)]);
  const listed = [...found.values()].flatMap(({ text }) => listedIn(text));
  return listed
    .filter((one) => id === undefined || one.id === id)
    .sort(newestFirst)
    .slice(0, limit);
}

/** @throws StepfoldError `LABEL_CONFLICT` */
export async function label({ name, records }: Table, id: string, hash: string | null, expected: string | null): Promise<void> {
  const key = sha256(id);
  await untilMade(name, async () => {
    const record = (await records.get("label", [key])).get(key);
    const actual = record ? labelIn(record.text) : null;
    if (actual === hash) return true;
    if (actual !== expected) throw new StepfoldError("LABEL_CONFLICT", { workflow: id, expected, actual });
    const next = hash === null ? null : { revision: crypto.randomUUID(), text: JSON.stringify({ id, hash }) };
    const [made] = await records.put("label", [{ key, expected: record?.revision ?? null, next }]);
    return made!;
  });
}

/** The hashes of the published definitions, by the ids of their workflows. */
export async function labels({ records }: Table, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const keys = new Map(ids.map((id) => [id, sha256(id)]));
  if (keys.size === 0) return new Map();
  const found = await records.get("label", [...keys.values()]);
  const labelled = new Map<string, string>();
  for (const [id, key] of keys) {
    const hash = found.has(key) ? labelIn(found.get(key)!.text) : null;
    if (hash !== null) labelled.set(id, hash);
  }
  return labelled;
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkLabel(id: string, hash: string | null, expected: string | null): void {
  refuseOption("id", !isName(id), nameReason);
  refuseOption("hash", hash !== null && !isName(hash), `${nameReason}, or null`);
  refuseOption("expected", expected !== null && !isName(expected), `${nameReason}, or null`);
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkLabelled(ids: readonly string[]): void {
  const isAllowed = Array.isArray(ids) && ids.length <= maxLabels && ids.every((id) => typeof id === "string");
  refuseOption("ids", !isAllowed, `must be a list of at most ${maxLabels} ids`);
}

async function addToList(table: Table, id: string, hash: string): Promise<void> {
  if (!isName(id) || !isName(hash)) return;
  const key = partOf(id);
  await untilMade(table.name, async () => {
    const [found, { now }] = await Promise.all([table.records.get("library", [key]), table.read([])]);
    const record = found.get(key);
    const others = record ? listedIn(record.text) : [];
    if (others.some((one) => one.id === id && one.hash === hash)) return true;
    const next = { revision: crypto.randomUUID(), text: JSON.stringify(shortened([{ id, hash, putAt: now }, ...others])) };
    const [made] = await table.records.put("library", [{ key, expected: record?.revision ?? null, next }]);
    return made!;
  });
}

/** Leaves out what is too much: versions of a workflow that has many, then old versions, then the workflows that were changed longest ago. */
function shortened(listed: readonly StoredDefinition[]): readonly StoredDefinition[] {
  const versions = new Map<string, number>();
  const ranked = [...listed].sort(newestFirst).map((one) => {
    const rank = versions.get(one.id) ?? 0;
    versions.set(one.id, rank + 1);
    return { one, rank };
  });
  const kept = ranked.filter(({ rank }) => rank < maxVersions).sort((a, b) => Number(a.rank > 0) - Number(b.rank > 0));
  return kept.slice(0, maxInPart).map(({ one }) => one);
}

async function untilMade(store: string, attempt: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < maxTries; tries++) if (await attempt()) return;
  throw new StepfoldError("STORE_UNAVAILABLE", { store, reason: "others wrote definitions all the time" });
}

function newestFirst(a: StoredDefinition, b: StoredDefinition): number {
  return b.putAt - a.putAt;
}

function partOf(id: string): string {
  return sha256(id)[0]!;
}

const nameReason = "must be text of 1 to 255 characters";

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 255;
}

/** Without what somebody has damaged. */
function listedIn(text: string): readonly StoredDefinition[] {
  const listed = parsed(text);
  if (!Array.isArray(listed)) return [];
  return (listed as readonly (Partial<StoredDefinition> | null)[]).filter(
    (one): one is StoredDefinition => isName(one?.id) && isName(one.hash) && Number.isFinite(one.putAt),
  );
}

/** Null also for one that somebody has damaged: then it can be set again. */
function labelIn(text: string): string | null {
  const hash = (parsed(text) as { readonly hash?: unknown } | null)?.hash;
  return isName(hash) ? hash : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
