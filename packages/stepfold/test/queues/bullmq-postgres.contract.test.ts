import { createPostgresBackend, Queue, Worker } from "bullmq";
import { Pool } from "pg";
import { afterAll, beforeAll } from "vitest";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import { queueContractOf } from "../testing/queue-contract.fixture.ts";
import { bullmqBench } from "./bullmq-bench.fixture.ts";

const url = await serviceUrl("postgres");
const schema = `bullmq_test_${process.pid}_${Math.trunc(performance.timeOrigin % 1e9)}`;
const connection = { connectionString: url ?? "", schema, max: 1 };

beforeAll(async () => {
  if (url === null) return;
  const queue = new Queue("migrate", { connection: { ...connection, migrate: true } }, createPostgresBackend);
  await queue.waitUntilReady();
  await queue.close();
});
afterAll(async () => {
  if (url === null) return;
  const pool = new Pool({ connectionString: url, max: 1 });
  await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

queueContractOf("bullmq", {
  over: "PostgreSQL",
  url,
  atOnce: 6,
  bench: async () =>
    bullmqBench({
      queue: (name) => new Queue(name, { connection }, createPostgresBackend),
      worker: (name) => (process, options) => new Worker(name, process, { connection, ...options }, createPostgresBackend),
    }),
});
