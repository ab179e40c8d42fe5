import type { ExecutionRow } from "../../../src/stores/kit/row-rules.ts";
import type { ToyKey } from "./toy-client.fixture.ts";

/** Where entries lie. */
export const keys = {
  row: (id: string): ToyKey => ["execution", id],
  event: (seq: number, version: number): ToyKey => ["event", seq, version],
  events: (seq: number): ToyKey => ["event", seq],
  /** The heads of all children of an execution, in order of creation. */
  children: (seq: number): ToyKey => ["children", seq],
  record: (kind: string, key: string): ToyKey => ["record", kind, key],
  /** What is due, by the key of its permit; 0 for none, which is a number and so no key. */
  due: (key: string | null, ...rest: ToyKey): ToyKey => ["due", key === null ? 0 : key, ...rest],
  created: (...rest: ToyKey): ToyKey => ["created", ...rest],
  ended: (...rest: ToyKey): ToyKey => ["ended", ...rest],
  deleted: (...rest: ToyKey): ToyKey => ["deleted", ...rest],
};

/** The entries by which a row is found: they change with it, in the same transaction. */
export function indexKeys({ permit, dueAt, createdAt, endedAt, deletedAt, seq }: ExecutionRow): readonly ToyKey[] {
  if (deletedAt !== null) return [keys.deleted(deletedAt, seq)];
  return [
    keys.created(createdAt, seq),
    ...(dueAt === null ? [] : [keys.due(permit?.key ?? null, dueAt, seq)]),
    ...(endedAt === null ? [] : [keys.ended(endedAt, seq)]),
  ];
}
