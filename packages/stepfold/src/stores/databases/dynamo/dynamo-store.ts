import { aCount, aFunction, aText, aTime, checkOptions, requireMethods } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { creationNumbers } from "../../kit/creation-numbers.ts";
import { refuseOption } from "../../kit/refuse-option.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { defaultRetentionMs } from "../../kit/tombstones.ts";
import type { DynamoDocumentClient } from "./dynamo-client.ts";
import { dynamoError } from "./dynamo-error.ts";
import { DynamoKeys } from "./dynamo-keys.ts";
import { DynamoExecutions } from "./dynamo-table.ts";

/** Options of a DynamoDB store. */
export interface DynamoStoreOptions extends RetentionOptions {
  /** Name of a table made from `dynamoTable`. */
  readonly table: string;
  /** Distinguishes several stores in one table: letters, digits and underscores, at most 48. Default: none. */
  readonly prefix?: string | undefined;
  /**
   * The number of partitions of each index over which executions are spread, 1 to 64. A partition takes 1,000 writes a second. Lists, and
   * claims of any due execution, read all partitions. (Due executions with a permit share one partition.) The number may be raised, in all
   * processes at the same time, but never lowered: executions in the partitions that fall away would no longer be found. Default 4.
   */
  readonly shards?: number | undefined;
  /** The most bytes of one head, event or child, as JSON. Default 16 MiB. */
  readonly maxValueBytes?: number | undefined;
  /** The clock that decides whether a lease has run out and whether an execution is due, in epoch milliseconds. Default `Date.now`. */
  readonly now?: (() => EpochMs) | undefined;
}

/**
 * A store in one DynamoDB table, for any number of processes.
 *
 * A commit is one transaction of two or three items: the head; one item with all events of the commit; and, if the commit changes children
 * or writes a checkpoint, one item with these. A text above 100,000 bytes (for metadata, above 1,024 bytes) is stored in parts of at most
 * 350,000 bytes, because an item of DynamoDB holds at most 400 KB. The parts are written before the transaction that refers to them. So a
 * commit may have any size; one head, event or child may have `maxValueBytes`. DynamoDB keeps the data in several availability zones.
 *
 * DynamoDB has no clock, so the clock of the calling process decides what is due and which leases have run out (`features.clock` is
 * `"caller"`). Keep the clocks of machines synchronised, and leases much longer than the clocks may differ. A process whose clock is ahead
 * takes executions from their holders too early. Even then the former holder cannot write any more: each claim has a higher fence number,
 * and a write is refused if its fence is not the latest.
 *
 * `close()` waits for running calls and leaves the client open.
 *
 * ```ts
 * import { DynamoDB } from "@aws-sdk/client-dynamodb";
 * import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
 * import { createDynamoTable, dynamoStore } from "stepfold/stores/dynamo";
 *
 * const client = new DynamoDB({ region: "eu-central-1" });
 * await createDynamoTable(client, "workflows");
 * const store = dynamoStore(DynamoDBDocument.from(client), { table: "workflows" });
 * console.log(await store.load("order-1")); // null
 * ```
 *
 * Its methods reject with `STORE_UNAVAILABLE` if DynamoDB cannot be reached, throttles, or meets too many writers of one execution, each
 * time after several attempts; with `STORE_REJECTED` if the table or an index is missing, or access is denied; with `LIMIT_EXCEEDED` for a
 * head, event or child above `maxValueBytes`, and for an id that with the prefix does not fit into a key of 2,048 bytes.
 *
 * @param client `DynamoDBDocument.from(client)` of `@aws-sdk/lib-dynamodb`, whatever its marshalling options are
 * @throws StepfoldError `OPTION_INVALID`
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function dynamoStore(client: DynamoDocumentClient, options: DynamoStoreOptions): SnapshotStore {
  requireMethods("client", client, "DynamoDBDocument.from(client) of @aws-sdk/lib-dynamodb", ["get", "transactWrite"]);
  checkOptions(
    "dynamoStore",
    options,
    { table: aText, prefix: aText, shards: aCount, maxValueBytes: aCount, now: aFunction, idempotencyRetentionMs: aTime },
    ["table"],
  );
  const { table, prefix = "", shards = 4, maxValueBytes = 16 * 2 ** 20, now = Date.now } = options;
  const { idempotencyRetentionMs = defaultRetentionMs } = options;
  refuseOption("table", table === "", "must be the name of a table");
  refuseOption("prefix", !/^[A-Za-z0-9_]{0,48}$/.test(prefix), "must be letters, digits and underscores, at most 48");
  refuseOption("shards", shards > 64, "must be a whole number from 1 to 64");
  const keys = new DynamoKeys(prefix, shards);
  // `known` and `nextSeq` belong to this store object: what it knows about executions, and numbers for those made in the same millisecond
  const connection = { client, table, keys, retentionMs: idempotencyRetentionMs, known: new Map(), now, nextSeq: creationNumbers() };
  return storeOver(new DynamoExecutions(connection, maxValueBytes), {
    idempotencyRetentionMs,
    errorOf: (cause) => dynamoError(table, cause),
  });
}
