import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { sha256 } from "../../core/values/sha256.ts";
import type { DefinitionQuery, PutDefinitionOptions, StoredDefinition } from "../../ports/store-definitions.ts";
import type { ExecutionTable } from "./execution-table.ts";
import type { RecordTable, StoredRecord } from "./record-table.ts";
import { refuseOption } from "./refuse-option.ts";
import { keyedLock } from "./writing/keyed-lock.ts";

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

interface Addition {
  readonly id: string;
  readonly hash: string;
}

/** What is added to a part of the list with the next write. */
interface Batch {
  readonly additions: Addition[];
  readonly done: Promise<boolean>;
}

type Table = Pick<ExecutionTable, "name" | "records" | "read">;

/** The definitions of a store, the list of them, and which are published. */
export class KnownDefinitions {
  readonly #table: Table;
  /** By the part that they are for. */
  readonly #batches = new Map<string, Batch>();
  readonly #turns = keyedLock();

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Writes the definition, then its entry in the list, and then marks the definition as listed by its revision. If the process dies before the
   * mark, the next `put` of the same definition writes what is missing. With the mark, `put` only reads.
   */
  async put(hash: string, definition: WorkflowDefinition, { listedAs = hash }: PutDefinitionOptions = {}): Promise<void> {
    const { records } = this.#table;
    const stored = await storedDefinition(records, hash, definition);
    if (!stored || stored.revision === listedRevision || listedAs === null) return;
    const { id } = definition;
    if (isName(id) && isName(listedAs) && !(await this.#addToList({ id, hash: listedAs }))) return;
    await records.put("definition", [{ key: hash, expected: stored.revision, next: { revision: listedRevision, text: stored.text } }]);
  }

  /** Those that were put last come first. */
  async list({ id, limit = 100 }: DefinitionQuery): Promise<readonly StoredDefinition[]> {
    const found = await this.#table.records.get("library", id === undefined ? parts : [partOf(id)]);
    const listed = [...found.values()].flatMap(({ text }) => listedIn(text));
    return listed
      .filter((one) => id === undefined || one.id === id)
      .sort(newestFirst)
      .slice(0, limit);
  }

  /** @throws StepfoldError `LABEL_CONFLICT` */
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
    throw new StepfoldError("STORE_UNAVAILABLE", { store: name, reason: "others published definitions of the same workflow all the time" });
  }

  /** The hashes of the published definitions, by the ids of their workflows. */
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

  /** Adds it with all that are to be added to the same part now: a process may start very many workflows at once, each with a definition of its own. */
  #addToList(addition: Addition): Promise<boolean> {
    const part = partOf(addition.id);
    const batch = this.#batches.get(part);
    if (batch) {
      batch.additions.push(addition);
      return batch.done;
    }
    const additions = [addition];
    const done = this.#turns.run([part], async () => {
      // not at once: others may be added in this moment
      await Promise.resolve();
      this.#batches.delete(part);
      return addToPart(this.#table, part, additions);
    });
    this.#batches.set(part, { additions, done });
    return done;
  }
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

/** The definition that is there, or is put now. Of several that put it at once one is the first, and what that one wrote counts. */
async function storedDefinition(records: RecordTable, hash: string, definition: WorkflowDefinition): Promise<StoredRecord | undefined> {
  const read = async (): Promise<StoredRecord | undefined> => (await records.get("definition", [hash])).get(hash);
  const found = await read();
  if (found) return found;
  const next = { revision: crypto.randomUUID(), text: JSON.stringify(definition) };
  const [made] = await records.put("definition", [{ key: hash, expected: null, next }]);
  return made ? { key: hash, ...next } : read();
}

/** @returns false if others wrote the part all the time: no start fails for the sake of a list, and who puts the definition again adds it */
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
