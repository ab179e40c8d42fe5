import type { ExecutionRow } from "../../../src/stores/kit/row-rules.ts";
import type { ToyKey } from "./toy-client.fixture.ts";

/** The keys of all entries. */
export const keys = {
  row: (id: string): ToyKey => ["execution", id],
  event: (seq: number, version: number): ToyKey => ["event", seq, version],
  events: (seq: number): ToyKey => ["event", seq],
  /** The entry with the heads of all children of an execution, in order of creation. */
  children: (seq: number): ToyKey => ["children", seq],
  record: (kind: string, key: string): ToyKey => ["record", kind, key],
  /** Due executions, by the key of their permit. Those without a permit have the number 0, which can never be a key of a permit. */
  due: (key: string | null, ...rest: ToyKey): ToyKey => ["due", key === null ? 0 : key, ...rest],
  created: (...rest: ToyKey): ToyKey => ["created", ...rest],
  ended: (...rest: ToyKey): ToyKey => ["ended", ...rest],
  deleted: (...rest: ToyKey): ToyKey => ["deleted", ...rest],
  run: (...rest: ToyKey): ToyKey => ["run", ...rest],
  exempt: (...rest: ToyKey): ToyKey => ["exempt", ...rest],
};

/** The index entries of a row. They change in the same transaction as the row. */
export function indexKeys({ permit, exemptAt, dueAt, createdAt, endedAt, deletedAt, runAt, seq }: ExecutionRow): readonly ToyKey[] {
  if (deletedAt !== null) return [keys.deleted(deletedAt, seq)];
  return [
    keys.created(createdAt, seq),
    ...(dueAt === null ? [] : [keys.due(permit?.key ?? null, dueAt, seq)]),
    ...(endedAt === null ? [] : [keys.ended(endedAt, seq)]),
    ...(runAt === null ? [] : [keys.run(runAt, seq)]),
    ...(exemptAt === null ? [] : [keys.exempt(exemptAt, seq)]),
  ];
}
