import type { RecordTable, StoredRecord } from "../../kit/record-table.ts";
import { unlessDuplicate } from "./mongo-error.ts";
import { type Collections, readOptions, writeOptions } from "./mongo-schema.ts";

/** Records in a collection, one document for each. Its id is the kind, a space and the key. Revision null: deleted, and to be removed. */
export function mongoRecords(open: () => Promise<Collections>): RecordTable {
  return {
    async get(kind, keys) {
      const { records } = await open();
      const ids = keys.map((key) => `${kind} ${key}`);
      const documents = await records.find({ _id: { $in: ids }, revision: { $ne: null } }, readOptions).toArray();
      const found = (documents as unknown as ({ _id: string } & StoredRecord)[]).map((one) => ({
        ...one,
        key: one._id.slice(kind.length + 1),
      }));
      return new Map(found.map((record) => [record.key, record]));
    },
    async put(kind, writes) {
      const { records } = await open();
      const made = writes.map(({ key, expected, next }) => {
        const _id = `${kind} ${key}`;
        const update = { $set: next ?? { revision: null, text: null } };
        const work = async (): Promise<boolean> => {
          // if none is expected, the upsert inserts it, and fails as a duplicate if there is one
          const options = { ...writeOptions, upsert: expected === null };
          const { matchedCount } = await records.updateOne({ _id, revision: expected }, update, options);
          if (!next) await records.deleteMany({ _id, revision: null }, writeOptions);
          return expected === null || matchedCount === 1;
        };
        return unlessDuplicate(work, false);
      });
      return Promise.all(made);
    },
  };
}
