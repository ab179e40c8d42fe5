import { createRuntime, type Runtime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { invoiceNodes, workflows } from "./invoices.ts";

/** Opens a runtime on a SQLite file of this machine. Every process that opens it drives due executions. */
export async function open(): Promise<{ readonly runtime: Runtime; close(): Promise<void> }> {
  const store = sqliteStore("invoices.db");
  const runtime = createRuntime({ store, workflows, nodeDefinitions: invoiceNodes("letters.log"), maxExecutions: 20 });
  return {
    runtime,
    async close() {
      await runtime.close();
      await store.close();
    },
  };
}
