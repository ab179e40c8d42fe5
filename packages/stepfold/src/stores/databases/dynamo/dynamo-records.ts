import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { RecordKind, RecordTable, RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import { present } from "./dynamo-commit.ts";
import { storedText } from "./dynamo-keys.ts";
import { batchGet, type Connection, conditional, itemAt } from "./dynamo-requests.ts";
import { conditionOf } from "./expression.ts";
import { dropTexts, heldIn, holdText, readText } from "./long-text.ts";

const recordKey = "record";

/** Longer texts lie in parts. An item may have 400 KB. */
const maxInline = 350_000;

/** What stands beside the executions: an item each. */
export function dynamoRecords(connection: Connection): RecordTable {
  const { keys, client, table } = connection;
  const put = async (kind: RecordKind, { key, expected, next }: RecordWrite): Promise<boolean> => {
    const place = { pk: keys.record(kind, key), sk: recordKey };
    const when = conditionOf([expected === null ? ["pk", "absent"] : ["revision", "=", expected]]);
    if (!next) return "value" in (await conditional(() => client.delete({ TableName: table, Key: place, ...when })));
    const owner = { pk: place.pk, incarnation: "" };
    const held = await holdText(connection, owner, next.text, maxInline);
    const Item = { ...place, key: storedText(key), revision: next.revision, ...present({ ...held }) };
    const outcome = await conditional(() => client.put({ TableName: table, Item, ...when }));
    if ("value" in outcome) return true;
    // unless the answer to a first attempt was lost
    if (held.parts !== null && heldIn((await itemAt(connection, place)) ?? {}).parts !== held.parts)
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
        const text = await readText(connection, { pk, incarnation: "" }, heldIn(item));
        if (text === null) throw new StepfoldError("STORE_REJECTED", { store: "dynamo", reason: `the ${kind} "${key}" is damaged` });
        return [key, { key, revision: String(item.revision), text }];
      });
      return new Map(await Promise.all(records));
    },
    put: (kind, writes) => Promise.all(writes.map((write) => put(kind, write))),
  };
}
