import type { Claim, SnapshotStore } from "../../ports/snapshot-store.ts";
import { checkedStore } from "../kit/checked-store.ts";
import type { WrittenCommit } from "../kit/written-commit.ts";
import { fairClaim } from "../record/fair-claim.ts";
import { groupCommit } from "../record/group-commit.ts";
import { checkSchema } from "./checked-schema.ts";
import type { Rota } from "./claim-turns.ts";
import { claimDue, releaseClaim, renewClaim } from "./claims.ts";
import { type Connection, connect } from "./connection.ts";
import { acceptedCreation, type Creation, createExecutions } from "./create-execution.ts";
import { definitionOf, putDefinition } from "./definitions.ts";
import { listExecutions } from "./list-executions.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { isOutageForAll, storeError } from "./postgres-error.ts";
import { canPrepare } from "./prepared-statement.ts";
import { deleteExecution, pruneExecutions } from "./prune-executions.ts";
import { loadSnapshot, readEvents } from "./read-executions.ts";
import { writeAlongside } from "./write-alongside.ts";
import { acceptedCommit, maxValueBytes, writeCommits } from "./write-commit.ts";
import { writeOrder } from "./write-order.ts";

/** How a PostgreSQL store behaves. */
export interface PostgresStoreOptions {
  /** Where the tables are: letters, digits and underscores, at most 48. Default `stepfold`. */
  readonly schema?: string;
  /** Makes the tables, or brings them up to date, with the first call. Default false: a deployment does it, see `migratePostgres`. */
  readonly migrate?: boolean;
  /** How long the id of a deleted execution stays taken, in milliseconds. Default 30 days. */
  readonly idempotencyRetentionMs?: number;
  /**
   * Lets the server keep the plans of the statements, which makes a lone commit about half as fast again. The client has to
   * take `{ name, text, values }`. Default: true for a `Pool` or `Client` of pg, or what looks like one, else false. Behind a
   * pooler that cannot have it, the store finds out and goes on without.
   */
  readonly prepare?: boolean;
}

/**
 * A store in PostgreSQL 13 or later, for any number of processes. The client is yours: a `Pool` or `Client` of pg,
 * Neon's, PGlite, or anything else with their `query(text, values)`. `close()` does not end it.
 *
 * An acknowledged commit is as durable as the server makes its commits: with `synchronous_commit = on`, the default, it
 * survives a crash and a power loss. Leases and due times are judged by the server's clock. Every call is one statement,
 * and with few exceptions one round trip; commits that are issued while others are under way share one.
 *
 * The view `workflow_executions` shows every execution as one JSON document:
 * `SELECT id, snapshot -> 'metadata' ->> 'customer' FROM stepfold.workflow_executions WHERE status = 'failed'`.
 *
 * ```ts
 * import { Pool } from "pg";
 * import { postgresStore } from "stepfold/stores/postgres";
 *
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const store = postgresStore(pool, { migrate: true });
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * await pool.end();
 * ```
 *
 * The store's methods reject with `STORE_UNAVAILABLE` if the database does not answer, breaks off, or has no connection
 * left; with `STORE_REJECTED` if the tables are missing or of another version, or the user may not use them; and with
 * `LIMIT_EXCEEDED` for a head, event or child of more than 16 MiB.
 *
 * @throws StepfoldError `OPTION_INVALID` for a schema that is no such name
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): SnapshotStore {
  const { schema = "stepfold", migrate = false, prepare = canPrepare(client), idempotencyRetentionMs = 30 * 24 * 60 * 60 * 1000 } = options;
  checkSchema(schema);
  return storeOver(connect(client, { schema, migrate, prepare, retentionMs: idempotencyRetentionMs }));
}

function storeOver(connection: Connection): SnapshotStore {
  const { ask, sql, transact } = connection;
  const rota: Rota = { after: "", isOwed: false };
  const group = groupCommit<WrittenCommit, void>({
    send: (commits) => writeCommits(connection, commits),
    idOf: ({ workflowId }) => workflowId,
    isOutage: isOutageForAll,
  });
  const starts = groupCommit<Creation, Claim | null>({
    send: (creations) => createExecutions(connection, creations),
    idOf: ({ written }) => written.workflowId,
    isOutage: isOutageForAll,
  });
  const { inOrder, settled } = writeOrder();
  return checkedStore(
    {
      name: "postgres",
      features: {
        clock: "store",
        durable: true,
        multiProcess: true,
        maxValueBytes,
        permits: true,
        ...(transact && { transactions: "postgres" }),
      },
      create: async (commit, { claim } = {}) => {
        const creation = acceptedCreation(commit, claim);
        const { workflowId, alongside } = commit;
        if (!transact || !alongside) return inOrder(workflowId, () => starts.add(creation));
        return inOrder(workflowId, () => writeAlongside(transact, alongside, (own) => createExecutions(own, [creation])));
      },
      commit: async (commit) => {
        const written = acceptedCommit(commit);
        const { workflowId, alongside } = commit;
        if (!transact || !alongside) return inOrder(workflowId, () => group.add(written));
        return inOrder(workflowId, () => writeAlongside(transact, alongside, (own) => writeCommits(own, [written])));
      },
      claim: fairClaim((wanted) => claimDue(connection, rota, wanted)),
      renew: (claim) => renewClaim(connection, claim),
      release: (claim, version) => inOrder(claim.workflowId, () => releaseClaim(connection, claim, version)),
      async now() {
        const [row] = await ask(sql.now, []);
        return Number(row!.now);
      },
      load: (workflowId) => loadSnapshot(connection, workflowId),
      events: (workflowId, afterVersion, limit) => readEvents(connection, workflowId, afterVersion, limit),
      list: (query) => listExecutions(connection, query),
      delete: (workflowId) => inOrder(workflowId, () => deleteExecution(connection, workflowId)),
      prune: (wanted) => pruneExecutions(connection, wanted),
      putDefinition: (hash, definition) => putDefinition(connection, hash, definition),
      getDefinition: (hash) => definitionOf(connection, hash),
      async close() {
        await settled();
        await connection.idle();
      },
    },
    storeError,
  );
}
