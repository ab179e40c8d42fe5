import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, ExecutionSummary, Page, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type CheckedQuery, checkedStore } from "../../kit/checked-store.ts";
import { executionPage, type ListedRow } from "../../kit/list.ts";
import { claimDue, renewClaim } from "../../libsql/claims.ts";
import { type Connection, connect } from "../../libsql/connection.ts";
import { deleteExecution, pruneExecutions } from "../../libsql/prune-executions.ts";
import { definitionOf, eventsOf, loadSnapshot, textOf } from "../../libsql/read-snapshot.ts";
import { sql } from "../../libsql/statements.ts";
import { change, creation, releasing, sendTogether, type Write } from "../../libsql/write-commit.ts";
import { fairClaim } from "../../record/fair-claim.ts";
import { groupCommit } from "../../record/group-commit.ts";
import { listStatement } from "../../sql/sqlite-list.ts";
import { type LibsqlClient, statement } from "./libsql-client.ts";
import { isOutage, libsqlError } from "./libsql-error.ts";
import { checkLayout, migrateLibsql } from "./libsql-schema.ts";

/** How a libSQL store behaves. */
export interface LibsqlStoreOptions {
  /**
   * Whether the first call makes or updates the tables. Default `"auto"`: those of a file or of memory, not those of a
   * server, where `migrateLibsql(client)` does it once.
   */
  readonly migrate?: boolean | "auto";
  /** How long the id of a deleted execution stays taken, in milliseconds. Default 30 days. */
  readonly idempotencyRetentionMs?: number;
  /** The clock that judges leases and due times, in epoch milliseconds. Default: the database's, because a server is another machine. */
  readonly now?: () => EpochMs;
}

/**
 * A store in a libSQL database: a file, memory, sqld or Turso, through a client of `@libsql/client` that stays yours.
 *
 * A commit is one batch, which is one transaction and, on a server, one round trip; commits issued together share it.
 * The tables and views are those of `stepfold/stores/sqlite`, and a file written by one opens with the other: the view
 * `workflow_executions` shows every execution as one JSON document.
 *
 * ```ts
 * import { createClient } from "@libsql/client";
 * import { libsqlStore } from "stepfold/stores/libsql";
 *
 * const client = createClient({ url: "file:workflows.db", timeout: 5000 });
 * const store = libsqlStore(client);
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * client.close();
 * ```
 *
 * Calls reject with `STORE_UNAVAILABLE` if the server does not answer or another connection holds the lock, and with
 * `STORE_REJECTED` if the tables are missing or were made by a newer version.
 */
export function libsqlStore(client: LibsqlClient, options: LibsqlStoreOptions = {}): SnapshotStore {
  const { migrate = "auto", idempotencyRetentionMs: retentionMs = 30 * 24 * 60 * 60 * 1000, now } = options;
  const migrates = migrate === "auto" ? client.protocol === "file" : migrate;
  const connection = connect(client, () => (migrates ? migrateLibsql(client) : checkLayout(client)), now, retentionMs);
  const writes = groupCommit<Write, Claim | null>({
    send: (together) => sendTogether(connection, together),
    idOf: ({ workflowId }) => workflowId,
    isOutage,
    mostTogether: 64,
  });
  return checkedStore(
    {
      name: "libsql",
      features: { clock: "store", durable: true, multiProcess: true, permits: true },
      create: async (commit, { claim } = {}) => writes.add(creation(commit, claim, retentionMs)),
      commit: async (commit) => {
        await writes.add(change(commit));
      },
      claim: fairClaim((wanted) => claimDue(connection, wanted)),
      renew: (claim) => renewClaim(connection, claim),
      release: async (claim, version) => {
        await writes.add(releasing(claim, version));
      },
      async now() {
        const { rows } = await connection.execute(sql.now(connection.time()));
        return Number(rows[0]!.now);
      },
      load: (workflowId) => loadSnapshot(connection, workflowId),
      events: (workflowId, afterVersion, limit) => eventsOf(connection, workflowId, afterVersion, limit),
      list: (query) => listExecutions(connection, query),
      delete: (workflowId) => deleteExecution(connection, workflowId),
      prune: (wanted) => pruneExecutions(connection, wanted),
      putDefinition: async (hash, definition) => {
        await connection.execute(sql.putDefinition(hash, JSON.stringify(definition)));
      },
      getDefinition: (hash) => definitionOf(connection, hash),
      async close() {
        await writes.idle();
        await connection.idle();
      },
    },
    libsqlError,
  );
}

function listExecutions(connection: Connection, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  const { sql: text, values } = listStatement(query, (column) => `json_quote(${column})`);
  const found = statement(text);
  return executionPage(query.limit, query.cursor, async (after, limit) => {
    const { rows } = await connection.execute(found(...values(after, limit)));
    return rows.map((row) => {
      const { id, seq, version, createdAt, updatedAt, wakeAt, owner, leaseUntil, crashes } = row;
      return {
        ...(row as unknown as ListedRow),
        id: textOf(id),
        seq: Number(seq),
        version: Number(version),
        createdAt: Number(createdAt),
        updatedAt: Number(updatedAt),
        wakeAt: wakeAt === null ? null : Number(wakeAt),
        // JSON's null too
        owner: leaseUntil === null ? null : textOf(owner),
        leaseUntil: leaseUntil === null ? null : Number(leaseUntil),
        crashes: Number(crashes),
      };
    });
  });
}
