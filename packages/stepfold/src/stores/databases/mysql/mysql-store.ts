import type { Claim, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { checkedStore } from "../../kit/checked-store.ts";
import { refuseOversize } from "../../kit/value-limit.ts";
import { writtenCommit } from "../../kit/written-commit.ts";
import { fairClaim } from "../../record/fair-claim.ts";
import { groupCommit } from "../../record/group-commit.ts";
import { claimDue } from "./claim-due.ts";
import { releaseClaim, renewClaim } from "./claims.ts";
import { definitionOf, definitionText, putDefinition } from "./definitions.ts";
import { groupedLoads } from "./grouped-loads.ts";
import { listExecutions } from "./list-executions.ts";
import { eventsOf } from "./load.ts";
import { refuseLongNames } from "./long-names.ts";
import { checkPool, type MysqlPool } from "./mysql-client.ts";
import { isOutage, mysqlError } from "./mysql-error.ts";
import { changing, connected, numberOf, reading, type Session, writing } from "./mysql-session.ts";
import { writeGroup } from "./mysql-table.ts";
import { prepared } from "./prepare.ts";
import { deleteExecution, pruneExecutions } from "./prune-executions.ts";
import { clock, type Settings, tablesOf } from "./tables.ts";
import { underWay } from "./under-way.ts";
import { creationOf, type Write } from "./write.ts";

/** How a MySQL store behaves. */
export interface MysqlStoreOptions {
  /** What the names of its tables begin with: letters, digits and underscores, at most 44. Default `stepfold_`. */
  readonly prefix?: string;
  /** Makes the tables, or brings them to today's layout, before the first call. Default false: `migrateMysql` does it. */
  readonly migrate?: boolean;
  /** The most bytes of JSON that the head, one event or one child may have. Default 6 MiB, which `max_allowed_packet` must hold twice. */
  readonly maxValueBytes?: number;
  /** How long the id of a deleted execution stays taken, in milliseconds. Default 30 days. */
  readonly idempotencyRetentionMs?: number;
}

/**
 * A store in MariaDB (10.6 or later) or MySQL (8.0.21 or later), shared by any number of processes.
 *
 * An acknowledged commit is as durable as the server makes it: with `innodb_flush_log_at_trx_commit = 1` (the default) it
 * survives a power loss. Commits issued together share one transaction, each with a verdict of its own. The server's clock judges
 * leases and due times. Works with every `sql_mode`, time zone, charset and isolation level of the pool.
 *
 * The tables must be there: call `migrateMysql(pool)` when you deploy, or pass `migrate: true`. The pool stays yours to close.
 *
 * ```ts
 * import { createPool } from "mysql2/promise";
 * import { mysqlStore } from "stepfold/stores/mysql";
 *
 * const pool = createPool("mysql://root@127.0.0.1:3306/test");
 * const store = mysqlStore(pool, { migrate: true });
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * await pool.end();
 * ```
 *
 * @param pool of `mysql2/promise`; a call takes at most one connection at a time, so a pool of one is enough
 * @throws StepfoldError `OPTION_INVALID` for another kind of pool, or a prefix that is no part of a name
 */
export function mysqlStore(pool: MysqlPool, options: MysqlStoreOptions = {}): SnapshotStore {
  checkPool(pool);
  const { prefix = "stepfold_", migrate = false, maxValueBytes = 6 * 2 ** 20, idempotencyRetentionMs = 30 * 24 * 60 * 60 * 1000 } = options;
  const tables = tablesOf(prefix);
  const prepare = prepared(pool, tables, migrate ? prefix : null, maxValueBytes);
  const settings = async (): Promise<Settings> => ({ tables, retentionMs: idempotencyRetentionMs, ...(await prepare()) });
  const calls = underWay(settings);
  const read = <T>(work: (session: Session) => Promise<T>): Promise<T> => calls.add(() => reading(pool, work));

  const group = groupCommit({
    idOf: ({ written }: Write) => written.workflowId,
    isOutage,
    send: async (writes) => {
      const transact = writes.some(({ creation }) => creation) ? writing : changing;
      const known = await settings();
      return transact(pool, (session) => writeGroup(session, known, writes));
    },
  });
  const load = groupedLoads(pool, tables);
  const walk = { after: "" };
  const write = (one: Write): Promise<Claim | null> => {
    const { written, creation } = one;
    refuseLongNames(written, creation);
    refuseOversize("mysql", maxValueBytes, written);
    return calls.add(() => group.add(one), written.workflowId);
  };

  return checkedStore(
    {
      name: "mysql",
      features: { clock: "store", durable: true, multiProcess: true, maxValueBytes, permits: true },
      create: async (commit, { claim: lease } = {}) => write(creationOf(commit, lease)),
      async commit(commit) {
        await write({ written: writtenCommit(commit) });
      },
      claim: fairClaim((wanted) => calls.add(() => claimDue({ pool, tables, walk }, wanted))),
      renew: (claim) => calls.add(() => renewClaim(pool, tables, claim), claim.workflowId),
      release: (claim, version) => calls.add(() => releaseClaim(pool, tables, claim, version), claim.workflowId),
      now: () =>
        calls.add(() =>
          connected(pool, async (session) => {
            const [row] = await session.rows(`SELECT ${clock}`);
            return numberOf(row![0]);
          }),
        ),
      load: (workflowId) => calls.add(() => load(workflowId)),
      events: (workflowId, afterVersion, limit) => read((session) => eventsOf(session, tables, workflowId, afterVersion, limit)),
      list: (query) => calls.add(() => listExecutions(pool, tables, query)),
      delete: (workflowId) => calls.add((known) => deleteExecution(pool, known, workflowId), workflowId),
      prune: (wanted) => calls.add((known) => pruneExecutions(pool, known, wanted)),
      async putDefinition(hash, definition) {
        const text = definitionText(hash, definition, maxValueBytes);
        await calls.add(() => putDefinition(pool, tables, hash, text));
      },
      getDefinition: (hash) => read((session) => definitionOf(session, tables, hash)),
      close: () => calls.idle(),
    },
    mysqlError,
  );
}
