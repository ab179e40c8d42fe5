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
  readonly prefix?: string;
  /**
   * The number of partitions of each index over which executions are spread, 1 to 64. A partition takes 1,000 writes a second, and every
   * claim and every list reads all of them. It may be raised, in all processes at the same time, but never lowered. Default 4.
   */
  readonly shards?: number;
  /** The most bytes of one head, event or child, as JSON. Default 16 MiB. */
  readonly maxValueBytes?: number;
  /** The clock that judges leases and due times, in epoch milliseconds. Default `Date.now`. */
  readonly now?: () => EpochMs;
}

/**
 * A store in one DynamoDB table, for any number of processes.
 *
 * A commit is one transaction of two items, or three if it changes children: the head, and one row with all of its events. A text that is
 * too long for an item of 400 KB is cut into parts, which are written before the transaction that refers to them. So a commit may have any
 * size; one head, event or child may have `maxValueBytes`. An acknowledged write is on the disks of three zones.
 *
 * DynamoDB has no clock, so the clock of the calling process judges leases and due times (`features.clock` is `"caller"`). Keep the clocks
 * of machines synchronised, and leases much longer than the clocks may differ. A process whose clock is ahead takes executions from their
 * holders too early; then the fence keeps the former holder from writing.
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
 * Its methods reject with `STORE_UNAVAILABLE` when DynamoDB cannot be reached, throttles or meets too many writers of one
 * execution, after some attempts; with `STORE_REJECTED` when the table or an index is missing, or access is denied; with
 * `LIMIT_EXCEEDED` for a head, event or child above `maxValueBytes`, and for an id above 2,000 bytes.
 *
 * @param client `DynamoDBDocument.from(client)` of `@aws-sdk/lib-dynamodb`, with any marshalling options
 * @throws StepfoldError `OPTION_INVALID`
 */
export function dynamoStore(client: DynamoDocumentClient, options: DynamoStoreOptions): SnapshotStore {
  const { table, prefix = "", shards = 4, maxValueBytes = 16 * 2 ** 20, now = Date.now } = options;
  const { idempotencyRetentionMs = defaultRetentionMs } = options;
  refuseOption("table", table === "", "must be the name of a table");
  refuseOption("prefix", !/^[A-Za-z0-9_]{0,48}$/.test(prefix), "must be letters, digits and underscores, at most 48");
  refuseOption("shards", !(Number.isInteger(shards) && shards >= 1 && shards <= 64), "must be a whole number from 1 to 64");
  refuseOption("maxValueBytes", !(Number.isInteger(maxValueBytes) && maxValueBytes >= 1), "must be a whole number, at least 1");
  const keys = new DynamoKeys(prefix, shards);
  const connection = { client, table, keys, retentionMs: idempotencyRetentionMs, known: new Map(), now, nextSeq: creationNumbers() };
  return storeOver(new DynamoExecutions(connection, maxValueBytes), {
    idempotencyRetentionMs,
    errorOf: (cause) => dynamoError(table, cause),
  });
}
