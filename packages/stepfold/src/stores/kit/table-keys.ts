import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { heldKeys } from "../../core/snapshot/parts/answered-key.ts";
import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { sha256 } from "../../core/values/hash/sha256.ts";
import type { KeptKey, KeptKeys, KeyOwner } from "../../ports/kept-keys.ts";
import type { ExecutionGuard } from "./execution-rows.ts";
import type { ExecutionTable } from "./execution-table.ts";
import type { ListedRow } from "./lists/list-table.ts";

/** The records into which the keys of one execution and day are split, so that a search reads few of them. The hash of a name selects one. */
const parts: readonly string[] = Array.from({ length: 64 }, (_, index) => index.toString(16).padStart(2, "0"));
/** The most records that are read or written in one call. */
const maxTogether = 64;
/** How many times a write is tried if other processes keep changing the same record first. */
const maxTries = 100;

type Table = Pick<ExecutionTable, "name" | "records">;

/** The older idempotency keys of executions, as records of a table. */
export class TableKeys implements KeptKeys {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async put(owner: KeyOwner, day: number, keys: readonly KeptKey[]): Promise<void> {
    const byRecord = new Map<string, KeptKey[]>();
    for (const key of keys) {
      const record = partKey(owner, day, partOf(key.name));
      const others = byRecord.get(record);
      if (others) others.push(key);
      else byRecord.set(record, [key]);
    }
    for (let tries = 0; byRecord.size > 0; tries++) {
      if (tries >= maxTries) throw busy(this.#table);
      await this.#change([...byRecord.keys()], (key, known) => ({ ...known, ...namesOf(byRecord.get(key)!) }), byRecord);
    }
  }

  async find(owner: KeyOwner, days: readonly number[], name: string): Promise<number | null> {
    const found = await this.#read(days.map((day) => partKey(owner, day, partOf(name))));
    const versions = [...found.values()].flatMap(({ names }) => (Object.hasOwn(names, name) ? names[name]! : []));
    return versions.length === 0 ? null : Math.max(...versions);
  }

  async all(owner: KeyOwner, day: number): Promise<readonly KeptKey[]> {
    const found = await this.#read(parts.map((part) => partKey(owner, day, part)));
    return [...found.values()].flatMap(({ names }) => Object.entries(names).map(([name, version]) => ({ name, version })));
  }

  async drop(owner: KeyOwner, days: readonly number[]): Promise<void> {
    const left = new Set(days.flatMap((day) => parts.map((part) => partKey(owner, day, part))));
    for (let tries = 0; left.size > 0; tries++) {
      if (tries >= maxTries) throw busy(this.#table);
      await this.#change([...left], () => null, left);
    }
  }

  /** Changes records, and removes from `left` those that have been changed, or are as they should be. */
  async #change(
    keys: readonly string[],
    next: (key: string, known: Names) => Names | null,
    left: { delete(key: string): boolean },
  ): Promise<void> {
    for (let at = 0; at < keys.length; at += maxTogether) {
      const some = keys.slice(at, at + maxTogether);
      const found = await this.#read(some);
      const writes = some.flatMap((key) => {
        const names = next(key, found.get(key)?.names ?? {});
        const expected = found.get(key)?.revision ?? null;
        if (names === null && expected === null) return [];
        return { key, expected, next: names && { revision: crypto.randomUUID(), text: JSON.stringify(names) } };
      });
      // each alone: two processes that wrote several records in one statement, in different orders, would wait for each other for ever
      const made = await Promise.all(writes.map(async (write) => (await this.#table.records.put("key", [write]))[0]));
      const failed = new Set(writes.filter((_, index) => !made[index]).map(({ key }) => key));
      for (const key of some) if (!failed.has(key)) left.delete(key);
    }
  }

  async #read(keys: readonly string[]): Promise<ReadonlyMap<string, { readonly revision: string; readonly names: Names }>> {
    const found = new Map<string, { readonly revision: string; readonly names: Names }>();
    for (let at = 0; at < keys.length; at += maxTogether) {
      const records = await this.#table.records.get("key", keys.slice(at, at + maxTogether));
      for (const [key, { revision, text }] of records) found.set(key, { revision, names: JSON.parse(text) as Names });
    }
    return found;
  }
}

/** Versions by the name of their key. */
type Names = Readonly<Record<string, number>>;

const namesOf = (keys: readonly KeptKey[]): Names => Object.fromEntries(keys.map(({ name, version }) => [name, version]));

function partOf(name: string): string {
  return parts[Number.parseInt(sha256(name).slice(0, 2), 16) % parts.length]!;
}

/** The key of a record. An execution that uses the id of a deleted one has another incarnation, so it has other keys. */
function partKey({ workflowId, incarnation }: KeyOwner, day: number, part: string): string {
  return sha256(JSON.stringify([workflowId, incarnation, day, part]));
}

function busy({ name }: Table): StepfoldError {
  return new StepfoldError("STORE_UNAVAILABLE", { store: name, reason: "other processes kept changing the same idempotency keys" });
}

/** Idempotency keys of an execution that are kept in rows. */
export interface OwnedDays {
  readonly owner: KeyOwner;
  readonly days: readonly number[];
}

/** No execution with fewer events has keys in rows. */
const fewestEvents = heldKeys;

/** Returns which keys of executions are kept in rows. Only heads of executions with many events are read, as no other can have any. */
export async function ownedDays(table: Pick<ExecutionTable, "heads">, guards: readonly ExecutionGuard[]): Promise<readonly OwnedDays[]> {
  const long = guards.filter(({ version }) => version >= fewestEvents);
  if (long.length === 0) return [];
  return (await table.heads(long.map(({ id }) => id))).flatMap(daysIn);
}

function daysIn({ id, incarnation, head }: ListedRow): readonly OwnedDays[] {
  try {
    const { keyRows } = JSON.parse(head) as Pick<SnapshotHead, "keyRows">;
    return keyRows ? [{ owner: { workflowId: id, incarnation }, days: keyRows.days }] : [];
  } catch {
    // an execution whose head is damaged can be deleted all the same: then its keys stay
    return [];
  }
}
