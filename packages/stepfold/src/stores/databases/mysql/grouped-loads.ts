import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import { groupCommit } from "../../record/group-commit.ts";
import { loadSnapshots } from "./load.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { isOutage } from "./mysql-error.ts";
import { reading } from "./mysql-session.ts";
import type { Tables } from "./tables.ts";

/** Most histories that are read in one go. */
const mostTogether = 32;

/**
 * Loads executions: what is asked for while others are being read is read together afterwards, so that loads leave connections to those
 * who write. Each sees everything that was committed before it was asked for.
 */
export function groupedLoads(pool: MysqlPool, tables: Tables): (workflowId: string) => Promise<Snapshot | null> {
  interface Load {
    readonly ticket: string;
    readonly workflowId: string;
  }
  let tickets = 0;
  const loads = groupCommit<Load, Snapshot | null>({
    // of one execution several may be read at once
    idOf: ({ ticket }) => ticket,
    isOutage,
    mostTogether,
    send(asked) {
      const ids = asked.map(({ workflowId }) => workflowId);
      return reading(pool, (session) => loadSnapshots(session, tables, ids));
    },
  });
  return (workflowId) => loads.add({ ticket: `${++tickets}`, workflowId });
}
