import type { RecordKind, RecordTable, RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import type { Item } from "./dynamo-client.ts";
import { dynamoDamage } from "./dynamo-error.ts";
import { nonEmpty } from "./dynamo-keys.ts";
import { batchGet, type Connection, itemAt, replaceItem } from "./dynamo-requests.ts";
import type { Test } from "./expression.ts";
import { dropTexts, readText, storeText } from "./long-text.ts";

const recordKey = "record";

/** The most bytes of text in the item of a record; a longer text is stored in parts. An item may have 400 KB. */
const maxInline = 350_000;

/** Records in a DynamoDB table, one item for each. */
export function dynamoRecords(connection: Connection): RecordTable {
  const put = async (kind: RecordKind, { key, expected, next }: RecordWrite): Promise<boolean> => {
    const at = { pk: connection.keys.record(kind, key), sk: recordKey };
    const when: Test[] = [expected === null ? ["pk", "absent"] : ["revision", "=", expected]];
    const owner = { pk: at.pk, incarnation: "" };
    const text = next && (await storeText(connection, owner, next.text, maxInline));
    const replaced = await replaceItem(connection, at, next && { key: nonEmpty(key), revision: next.revision, text }, when);
    if (replaced) await dropTexts(connection, owner, [String(replaced.text ?? "")]);
    // if the answer to a first attempt was lost, the second attempt finds its own item: then the parts are in use
    else if (text && text !== next.text && (await itemAt(connection, at))?.text !== text) await dropTexts(connection, owner, [text]);
    return replaced !== null;
  };
  const recordIn = async (kind: RecordKind, pk: string, item: Item): Promise<StoredRecord | null> => {
    const key = String(item.key).slice(1);
    const text = await readText(connection, { pk, incarnation: "" }, item.text);
    if (text !== null) return { key, revision: String(item.revision), text };
    // the parts are gone: the record was replaced meanwhile, or deleted
    const present = await itemAt(connection, { pk, sk: recordKey });
    if (present?.revision === item.revision) throw dynamoDamage(`the ${kind} "${key}" is damaged`);
    return present && recordIn(kind, pk, present);
  };
  return {
    async get(kind, wanted) {
      const partitions = wanted.map((key) => connection.keys.record(kind, key));
      const items = await batchGet(connection, partitions, recordKey);
      const records = await Promise.all([...items].map(([pk, item]) => recordIn(kind, pk, item)));
      return new Map(records.filter((record) => record !== null).map((record) => [record.key, record]));
    },
    put: (kind, writes) => Promise.all(writes.map((write) => put(kind, write))),
  };
}
