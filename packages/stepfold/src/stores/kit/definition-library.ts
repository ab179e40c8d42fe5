import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { sha256 } from "../../core/values/hash/sha256.ts";
import type { DefinitionQuery, PutDefinitionOptions, StoredDefinition } from "../../ports/store-definitions.ts";
import type { ExecutionTable } from "./execution-table.ts";
import type { RecordTable, StoredRecord } from "./record-table.ts";
import { refuseOption } from "./refuse-option.ts";
import { keyedLock } from "./writing/keyed-lock.ts";

/**
 * The keys of the 16 records into which the list of definitions is split. The hash of a workflow's id selects its part, so that
 * concurrent writers rarely write the same record.
 */
const parts: readonly string[] = [..."0123456789abcdef"];
/** The most entries that one part of the list keeps. */
const maxInPart = 250;
/** The most versions of one workflow that a part keeps, so that a workflow that changes often does not push out others. */
const maxVersions = 50;
/** How many times a write is tried if other writers keep changing the record first. */
const maxTries = 100;
/** The most workflow ids in one call of `labels`. A label says which definition of a workflow is published. */
const maxLabels = 200;
/** The revision of a definition record that `put` need not look at again. With any other revision its entry in the list may be missing. */
const listedRevision = "listed";

/** An entry to add to the list. */
interface Addition {
  readonly id: string;
  readonly hash: string;
}

/** The entries that the next write adds to one part of the list. */
interface Batch {
  readonly additions: Addition[];
  /** The answer of `addToPart` for the whole batch. */
  readonly done: Promise<boolean>;
}

type Table = Pick<ExecutionTable, "name" | "records" | "read">;

/** The definitions of a store by their hash, the list of definitions, and the labels that say which are published. */
export class TableDefinitionLibrary {
  readonly #table: Table;
  /** The batches that are not being written yet, by the key of their part. */
  readonly #batches = new Map<string, Batch>();
  /** Lets one write at a time change a part. */
  readonly #turns = keyedLock();

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Writes the definition, then its entry in the list, and then sets the revision of the definition to `listedRevision`, which marks it as
   * listed. If the process dies before the mark, the next `put` of the same definition writes what is missing. If the mark is there, `put`
   * only reads. A definition whose id or hash is not allowed in the list is marked without an entry, so that `put` does not try it again.
   */
  async put(hash: string, definition: WorkflowDefinition, { listedAs = hash }: PutDefinitionOptions = {}): Promise<void> {
    const { records } = this.#table;
    const stored = await storedDefinition(records, hash, definition);
    if (!stored || stored.revision === listedRevision || listedAs === null) return;
    const { id } = definition;
    if (isIdOrHash(id) && isIdOrHash(listedAs) && !(await this.#addToList({ id, hash: listedAs }))) return;
    await records.put("definition", [{ key: hash, expected: stored.revision, next: { revision: listedRevision, text: stored.text } }]);
  }

  /** Returns the listed definitions, newest first by the time when they were added to the list. */
  async list({ id, limit = 100 }: DefinitionQuery): Promise<readonly StoredDefinition[]> {
    const found = await this.#table.records.get("library", id === undefined ? parts : [partOf(id)]);
    const listed = [...found.values()].flatMap(({ text }) => listedIn(text));
    return listed
      .filter((one) => id === undefined || one.id === id)
      .sort(newestFirst)
      .slice(0, limit);
  }

  /**
   * Changes the published definition of a workflow from `expected` to `hash`; null means none. Writes nothing if `hash` is published
   * already.
   *
   * @throws StepfoldError `LABEL_CONFLICT`
   */
  async label(id: string, hash: string | null, expected: string | null): Promise<void> {
    const { name, records } = this.#table;
    const key = sha256(id);
    for (let tries = 0; tries < maxTries; tries++) {
      const record = (await records.get("label", [key])).get(key);
      const actual = record ? labelIn(record.text) : null;
      if (actual === hash) return;
      if (actual !== expected) throw new StepfoldError("LABEL_CONFLICT", { workflow: id, expected, actual });
      const next = hash === null ? null : { revision: crypto.randomUUID(), text: JSON.stringify({ id, hash }) };
      const [made] = await records.put("label", [{ key, expected: record?.revision ?? null, next }]);
      if (made) return;
    }
    throw new StepfoldError("STORE_UNAVAILABLE", {
      store: name,
      reason: "other processes kept changing the published definition of this workflow",
    });
  }

  /** Returns the hashes of published definitions by workflow id. A workflow without one is left out. */
  async labels(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const keys = new Map(ids.map((id) => [id, sha256(id)]));
    if (keys.size === 0) return new Map();
    const found = await this.#table.records.get("label", [...keys.values()]);
    const labelled = new Map<string, string>();
    for (const [id, key] of keys) {
      const hash = found.has(key) ? labelIn(found.get(key)!.text) : null;
      if (hash !== null) labelled.set(id, hash);
    }
    return labelled;
  }

  /**
   * Adds an entry to its part of the list. Entries that are added to the same part at nearly the same time share one write, because a
   * process may start very many workflows at once, each with its own definition.
   *
   * @returns the answer of `addToPart`
   */
  #addToList(addition: Addition): Promise<boolean> {
    const part = partOf(addition.id);
    const batch = this.#batches.get(part);
    if (batch) {
      batch.additions.push(addition);
      return batch.done;
    }
    const additions = [addition];
    const done = this.#turns.run([part], async () => {
      // wait a moment, so that `done` is in the map before it is taken out, and more entries can join the batch before it is written
      await Promise.resolve();
      this.#batches.delete(part);
      return addToPart(this.#table, part, additions);
    });
    this.#batches.set(part, { additions, done });
    return done;
  }
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkLabelChange(id: string, hash: string | null, expected: string | null): void {
  refuseOption("id", !isIdOrHash(id), idReason);
  refuseOption("hash", hash !== null && !isIdOrHash(hash), `${idReason}, or null`);
  refuseOption("expected", expected !== null && !isIdOrHash(expected), `${idReason}, or null`);
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkLabelQuery(ids: readonly string[]): void {
  const isAllowed = Array.isArray(ids) && ids.length <= maxLabels && ids.every((id) => typeof id === "string");
  refuseOption("ids", !isAllowed, `must be a list of at most ${maxLabels} ids`);
}

/**
 * Returns the stored definition, and stores it first if there is none. If several processes store it at the same time, the first one wins,
 * and the others get its record.
 */
async function storedDefinition(records: RecordTable, hash: string, definition: WorkflowDefinition): Promise<StoredRecord | undefined> {
  const read = async (): Promise<StoredRecord | undefined> => (await records.get("definition", [hash])).get(hash);
  const found = await read();
  if (found) return found;
  const next = { revision: crypto.randomUUID(), text: JSON.stringify(definition) };
  const [made] = await records.put("definition", [{ key: hash, expected: null, next }]);
  return made ? { key: hash, ...next } : read();
}

/**
 * Adds entries to a part of the list.
 *
 * @returns false if other writers changed the part before every try. That is not an error, because an incomplete list must not keep an
 * execution from starting; the next `put` of the definition tries again
 */
async function addToPart(table: Table, part: string, additions: readonly Addition[]): Promise<boolean> {
  for (let tries = 0; tries < maxTries; tries++) {
    const [found, { now }] = await Promise.all([table.records.get("library", [part]), table.read([])]);
    const record = found.get(part);
    const listed = record ? [...listedIn(record.text)] : [];
    const before = listed.length;
    for (const { id, hash } of additions) {
      if (!listed.some((one) => one.id === id && one.hash === hash)) listed.unshift({ id, hash, putAt: now });
    }
    if (listed.length === before) return true;
    const next = { revision: crypto.randomUUID(), text: JSON.stringify(shortened(listed)) };
    const [made] = await table.records.put("library", [{ key: part, expected: record?.revision ?? null, next }]);
    if (made) return true;
  }
  return false;
}

/**
 * Shortens a part to its limits. Each workflow keeps its newest `maxVersions` versions. If more than `maxInPart` entries are left, older
 * versions are left out first, then the newest versions of the workflows that were changed longest ago.
 */
function shortened(listed: readonly StoredDefinition[]): readonly StoredDefinition[] {
  const versions = new Map<string, number>();
  const ranked = [...listed].sort(newestFirst).map((one) => {
    const rank = versions.get(one.id) ?? 0;
    versions.set(one.id, rank + 1);
    return { one, rank };
  });
  // the newest version of each workflow comes first; the sort is stable, so both groups stay ordered by time
  const kept = ranked.filter(({ rank }) => rank < maxVersions).sort((a, b) => Number(a.rank > 0) - Number(b.rank > 0));
  return kept.slice(0, maxInPart).map(({ one }) => one);
}

function newestFirst(a: StoredDefinition, b: StoredDefinition): number {
  return b.putAt - a.putAt;
}

function partOf(id: string): string {
  return sha256(id)[0]!;
}

const idReason = "must be text of 1 to 255 characters";

function isIdOrHash(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 255;
}

/** Reads the entries of a part. Entries that are not valid, for example after a manual edit, are left out. */
function listedIn(text: string): readonly StoredDefinition[] {
  const listed = parsed(text);
  if (!Array.isArray(listed)) return [];
  return (listed as readonly (Partial<StoredDefinition> | null)[]).filter(
    (one): one is StoredDefinition => isIdOrHash(one?.id) && isIdOrHash(one.hash) && Number.isFinite(one.putAt),
  );
}

/** Reads the hash in a label. Null if the label is not valid, for example after a manual edit, so that it can be set again. */
function labelIn(text: string): string | null {
  const hash = (parsed(text) as { readonly hash?: unknown } | null)?.hash;
  return isIdOrHash(hash) ? hash : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
