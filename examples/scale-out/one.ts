import { createRuntime, type Runtime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { invoiceNodes, workflows } from "./invoices.ts";

/** One file on this machine. Whoever opens it drives what is due. */
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
