import type { RecordTable } from "../../kit/record-table.ts";
import { isDuplicate } from "./mongo-error.ts";
import { type Collections, readOptions, writeOptions } from "./mongo-schema.ts";

/** What stands beside the executions: a document each, in whose id the key follows on the kind. One without a text was deleted. */
export function mongoRecords(open: () => Promise<Collections>): RecordTable {
  return {
    async get(kind, keys) {
      const { records } = await open();
      const ids = keys.map((key) => `${kind} ${key}`);
      const found = await records.find({ _id: { $in: ids }, revision: { $ne: null } }, readOptions).toArray();
      const rows = found as unknown as { readonly _id: string; readonly revision: string; readonly text: string }[];
      return new Map(rows.map(({ _id, ...record }) => [_id.slice(kind.length + 1), { key: _id.slice(kind.length + 1), ...record }]));
    },
    async put(kind, writes) {
      const { records } = await open();
      const made = writes.map(async ({ key, expected, next }) => {
        const _id = `${kind} ${key}`;
        const update = { $set: next ?? { revision: null, text: null } };
        try {
          // where there is none, one is inserted, which fails if there is one after all
          const { matchedCount } = await records.updateOne({ _id, revision: expected }, update, {
            ...writeOptions,
            upsert: expected === null,
          });
          if (!next) await records.deleteMany({ _id, revision: null }, writeOptions);
          return expected === null || matchedCount === 1;
        } catch (cause) {
          if (!isDuplicate(cause)) throw cause;
          return false;
        }
      });
      return Promise.all(made);
    },
  };
}
