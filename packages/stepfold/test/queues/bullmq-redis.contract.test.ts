import { Queue, Worker } from "bullmq";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import { queueContractOf } from "../testing/queue-contract.fixture.ts";
import { bullmqBench } from "./bullmq-bench.fixture.ts";

const url = await serviceUrl("redis");
const connection = { url: url ?? "", maxRetriesPerRequest: null };
const prefix = "stepfold-test";

queueContractOf("bullmq", {
  over: "Redis 7.0.15",
  url,
  atOnce: 12,
  bench: async () =>
    bullmqBench({
      queue: (name) => new Queue(name, { connection, prefix }),
      worker: (name) => (process, options) => new Worker(name, process, { connection, prefix, ...options }),
    }),
});
