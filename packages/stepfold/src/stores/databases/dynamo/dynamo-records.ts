import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { RecordKind, RecordTable, RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import { withoutNulls } from "./dynamo-commit.ts";
import { nonEmpty } from "./dynamo-keys.ts";
import { batchGet, type Connection, conditional, itemAt } from "./dynamo-requests.ts";
import { conditionOf } from "./expression.ts";
import { dropTexts, readText, storedTextIn, storeText } from "./long-text.ts";

const recordKey = "record";

/** Longer texts lie in parts. An item may have 400 KB. */
const maxInline = 350_000;

/** What stands beside the executions: an item each. */
export function dynamoRecords(connection: Connection): RecordTable {
  const { keys, client, table } = connection;
  const put = async (kind: RecordKind, { key, expected, next }: RecordWrite): Promise<boolean> => {
    const at = { pk: keys.record(kind, key), sk: recordKey };
    const when = conditionOf([expected === null ? ["pk", "absent"] : ["revision", "=", expected]]);
    if (!next) return "value" in (await conditional(() => client.delete({ TableName: table, Key: at, ...when })));
    const owner = { pk: at.pk, incarnation: "" };
    const held = await storeText(connection, owner, next.text, maxInline);
    const Item = { ...at, key: nonEmpty(key), revision: next.revision, ...withoutNulls({ ...held }) };
    const outcome = await conditional(() => client.put({ TableName: table, Item, ...when }));
    if ("value" in outcome) return true;
    // unless the answer to a first attempt was lost
    if (held.parts !== null && storedTextIn((await itemAt(connection, at)) ?? {}).parts !== held.parts)
      await dropTexts(connection, owner, [held]);
    return false;
  };
  return {
    async get(kind, wanted) {
      const found = await batchGet(
        connection,
        [...new Set(wanted)].map((key) => ({ pk: keys.record(kind, key), sk: recordKey })),
      );
      const records = [...found].map(async ([pk, item]): Promise<[string, StoredRecord]> => {
        const key = String(item.key).slice(1);
        const text = await readText(connection, { pk, incarnation: "" }, storedTextIn(item));
        if (text === null) throw new StepfoldError("STORE_REJECTED", { store: "dynamo", reason: `the ${kind} "${key}" is damaged` });
        return [key, { key, revision: String(item.revision), text }];
      });
      return new Map(await Promise.all(records));
    },
    put: (kind, writes) => Promise.all(writes.map((write) => put(kind, write))),
  };
}
