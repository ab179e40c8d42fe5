import { Queue, Worker } from "bullmq";
import pg from "pg";
import { bullmqQueue } from "stepfold/queues/bullmq";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { postgresStore } from "stepfold/stores/postgres";
import { invoiceNodes, workflows } from "./invoices.ts";

/** Opens a runtime for many processes on many machines: PostgreSQL stores the executions, and BullMQ tells the processes what is due. */
export async function open(): Promise<{ readonly runtime: Runtime; close(): Promise<void> }> {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
  const schema = process.env.STEPFOLD_SCHEMA ?? "stepfold";
  const store = postgresStore(pool, { schema, migrate: true });
  const connection = { url: process.env.REDIS_URL ?? "redis://127.0.0.1:6379", maxRetriesPerRequest: null };
  const jobs = new Queue(schema, { connection });
  const queue = bullmqQueue(jobs, (process, options) => new Worker(schema, process, { connection, ...options }));
  const runtime = createRuntime({ store, queue, workflows, nodeDefinitions: invoiceNodes("letters.log"), maxExecutions: 20 });
  return {
    runtime,
    async close() {
      await runtime.close();
      await queue.close();
      await jobs.close();
      await store.close();
      await pool.end();
    },
  };
}
