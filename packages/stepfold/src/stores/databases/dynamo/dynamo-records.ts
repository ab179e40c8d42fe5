import type { RecordKind, RecordTable, RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import { dynamoDamage } from "./dynamo-error.ts";
import { nonEmpty } from "./dynamo-keys.ts";
import { batchGet, type Connection, deleteItem, itemAt, putItem } from "./dynamo-requests.ts";
import type { Test } from "./expression.ts";
import { dropTexts, readText, storeText } from "./long-text.ts";

const recordKey = "record";

/** The most bytes of text in the item of a record; a longer text is stored in parts. An item may have 400 KB. */
const maxInline = 350_000;

/** Records in a DynamoDB table, one item for each. */
export function dynamoRecords(connection: Connection): RecordTable {
  const { keys } = connection;
  const put = async (kind: RecordKind, { key, expected, next }: RecordWrite): Promise<boolean> => {
    const at = { pk: keys.record(kind, key), sk: recordKey };
    const when: Test[] = [expected === null ? ["pk", "absent"] : ["revision", "=", expected]];
    if (!next) return deleteItem(connection, at, when);
    const owner = { pk: at.pk, incarnation: "" };
    const text = await storeText(connection, owner, next.text, maxInline);
    if (await putItem(connection, { ...at, key: nonEmpty(key), revision: next.revision, text }, when)) return true;
    // if the answer to a first attempt was lost, the second attempt finds its own item: then the parts are in use
    if (text !== next.text && (await itemAt(connection, at))?.text !== text) await dropTexts(connection, owner, [text]);
    return false;
  };
  return {
    async get(kind, wanted) {
      const partitions = wanted.map((key) => keys.record(kind, key));
      const items = await batchGet(connection, partitions, recordKey);
      const records = [...items].map(async ([pk, item]): Promise<[string, StoredRecord]> => {
        const key = String(item.key).slice(1);
        const text = await readText(connection, { pk, incarnation: "" }, item.text);
        if (text === null) throw dynamoDamage(`the ${kind} "${key}" is damaged`);
        return [key, { key, revision: String(item.revision), text }];
      });
      return new Map(await Promise.all(records));
    },
    put: (kind, writes) => Promise.all(writes.map((write) => put(kind, write))),
  };
}
