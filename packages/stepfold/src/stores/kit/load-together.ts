import type { ExecutionTable } from "./execution-table.ts";
import type { StoredRows } from "./restored-snapshot.ts";

/** Most executions that are loaded in one round trip. */
const maxTogether = 100;

interface Load {
  readonly workflowId: string;
  resolve(rows: StoredRows | null): void;
  reject(error: unknown): void;
}

/**
 * Loads executions one by one for its callers, and those that are asked for in the same moment in one round trip: a worker loads all
 * that it has claimed with one poll. If a round trip fails, each of its executions is asked for alone.
 */
export function loadTogether(table: Pick<ExecutionTable, "load">): (workflowId: string) => Promise<StoredRows | null> {
  let waiting: Load[] = [];
  const alone = ({ workflowId, resolve, reject }: Load): void => {
    table.load([workflowId]).then((found) => resolve(found.get(workflowId) ?? null), reject);
  };
  const send = (loads: readonly Load[]): void => {
    if (loads.length === 1) {
      alone(loads[0]!);
      return;
    }
    const found = table.load([...new Set(loads.map(({ workflowId }) => workflowId))]);
    found.then(
      (rows) => {
        for (const { workflowId, resolve } of loads) resolve(rows.get(workflowId) ?? null);
      },
      () => loads.forEach(alone),
    );
  };
  const sendAll = (): void => {
    const loads = waiting;
    waiting = [];
    for (let first = 0; first < loads.length; first += maxTogether) send(loads.slice(first, first + maxTogether));
  };
  return (workflowId) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ workflowId, resolve, reject }) === 1) queueMicrotask(sendAll);
    });
}
