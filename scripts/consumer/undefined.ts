// Values that may be undefined, as a program has them, are taken by all options, also with `exactOptionalPropertyTypes`.
import { isStatus, statuses, type WorkflowEngine } from "stepfold";
import { memoryQueue } from "stepfold/queues/memory";
import { createRuntime, type RuntimeOptions } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { sqliteStore } from "stepfold/stores/sqlite";

/** Every option of a type that may be left out, as undefined. */
type Undefined<T> = { readonly [K in keyof T as undefined extends T[K] ? K : never]: undefined };

const none = undefined as undefined;
const left: Undefined<Omit<RuntimeOptions, "globals" | "schedules">> = {
  ...{ workflows: none, nodeDefinitions: none, queue: none, feed: none, drive: none, leaseMs: none, pollMs: none, concurrency: none },
  ...{ beatMs: none, maxExecutions: none, maxCrashes: none, maxLoadedBytes: none, checkpointBytes: none, owner: none, taskQueues: none },
  ...{ may: none, globalsFor: none, secrets: none, limits: none, stepTimeoutMs: none, retention: none, plugins: none, environment: none },
  ...{ logger: none, onProblem: none, keepStacks: none },
};
const store = memoryStore({ now: none, idempotencyRetentionMs: none });
const runtime = createRuntime({
  ...left,
  store,
  nodeDefinitions: {},
  workflows: [{ id: "w", nodes: [{ id: "n", type: "n" }], edges: [] }],
  drive: false,
});

const status = new URL("http://x/?status=paused&status=lost").searchParams.getAll("status").filter(isStatus);
const query = { status: none, definitionId: none, metadata: none, waiting: none, tenant: none, createdBefore: none, createdAfter: none };
const page = { idPrefix: none, order: none, limit: none, cursor: none };
const { items } = await runtime.list({ ...query, ...page });
const waiting = { kind: none, nodeId: none, signal: none, key: none, responder: none, openedBefore: none, openedAfter: none };
const found = [
  items,
  (await runtime.list({ status, waiting })).items,
  (await store.prune({ before: 0, ...{ definitionId: none, limit: none } })).deleted,
];
if (found.flat().length > 0 || statuses.length !== 7 || status.join() !== "paused") throw new TypeError("something was found");
await runtime.close({ timeoutMs: none });
await store.close();
await memoryQueue({ environment: none, retryDelayMs: none }).close();
await sqliteStore(":memory:", { synchronous: none, now: none, busyTimeoutMs: none, idempotencyRetentionMs: none }).close();
export type Engine = WorkflowEngine;
