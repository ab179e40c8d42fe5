import type { CodeMutant } from "./mutant.ts";

const mixed = { otherWorkers: true } as const;
/** Nothing but messages tells workers what is due. */
const messagesOnly = { ...mixed, mode: "faultFree", faults: [], wakeUps: "queue" } as const;

/** Mistakes with processes that lack code, or that take only some task queues. */
export const deploymentMutants: readonly CodeMutant[] = [
  {
    name: "claims-ignore-what-a-process-lacks",
    family: "crowds",
    caughtBy: ["I25"],
    options: mixed,
    patches: [{ file: "stores/kit/claims/leave-lacking.ts", find: "lacks && lacks.size > 0 ?", put: "lacks && lacks.size < 0 ?" }],
  },
  {
    name: "claims-by-id-ignore-what-a-process-lacks",
    firstSeed: 39,
    caughtBy: ["I25"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/claims.ts",
        find: "return (await leaveLacking(this.#table, this.#writer, [guard], options)).guards.length > 0;",
        put: "return true;",
      },
    ],
  },
  {
    name: "claims-of-keys-ignore-what-a-process-lacks",
    family: "crowds",
    caughtBy: ["I25"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/permits.ts",
        find: "= await leaveLacking(this.#table, this.#writer, fresh, options);",
        put: "= { guards: fresh, moved: new Set<string>() };",
      },
    ],
  },
  {
    name: "claims-ignore-task-queues",
    firstSeed: 8,
    caughtBy: ["I25"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/partitions.ts",
        find: "return taskQueues?.includes(taskQueue ?? defaultTaskQueue) ?? true;",
        put: "return taskQueue !== '' || taskQueues !== undefined;",
      },
    ],
  },
  {
    name: "claims-without-permit-ignore-task-queues",
    firstSeed: 43,
    family: "crowds",
    caughtBy: ["I25"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/claims.ts",
        find: "takesQueueOf(partitionOf(permit?.key), options);",
        put: "partitionOf(permit?.key).key !== '';",
      },
    ],
  },
  {
    name: "starts-ignore-task-queues",
    family: "crowds",
    caughtBy: ["I25"],
    options: mixed,
    patches: [
      {
        file: "runtime/commands/start-execution.ts",
        find: "event.startAt === undefined && takesTaskQueue(context, event.taskQueue)",
        put: "event.startAt === undefined",
      },
    ],
  },
  {
    name: "nobody-finds-what-was-left",
    family: "crowds",
    caughtBy: ["I7"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/partitions.ts",
        find: "return !(definition !== null && taken.lacks?.has(definition))",
        put: "return definition === null",
      },
    ],
  },
  {
    name: "what-was-left-is-no-longer-due",
    family: "crowds",
    caughtBy: ["I7"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/leave-lacking.ts",
        find: "set: { permit:",
        put: "set: { due: { inMs: 86_400_000 }, permit:",
      },
    ],
  },
  {
    name: "what-was-left-has-no-concurrency-key",
    family: "crowds",
    caughtBy: ["I21"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/leave-lacking.ts",
        find: "rowPermit({ ...partitionOf(permit?.key), definition }",
        put: "rowPermit({ ...partitionOf(permit?.key), definition, key: null }",
      },
    ],
  },
  {
    name: "what-was-left-has-no-task-queue",
    firstSeed: 35,
    family: "crowds",
    caughtBy: ["I25"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/leave-lacking.ts",
        find: "rowPermit({ ...partitionOf(permit?.key), definition }",
        put: "rowPermit({ ...partitionOf(permit?.key), definition, taskQueue: null }",
      },
    ],
  },
  {
    name: "partitions-of-one-key-count-apart",
    family: "crowds",
    caughtBy: ["I21"],
    options: mixed,
    patches: [
      {
        file: "stores/kit/claims/partitions.ts",
        find: "return key === null || isRateKey(key) ? null : key;",
        put: "return key === null || isRateKey(key) ? null : rowKey;",
      },
    ],
  },
  {
    name: "what-is-lacking-is-found-out-again",
    family: "crowds",
    caughtBy: ["I25"],
    options: mixed,
    patches: [{ file: "runtime/context/lacking.ts", find: "    this.#hashes.add(hash);", put: "" }],
  },
  {
    name: "what-is-lacking-is-parked",
    family: "crowds",
    caughtBy: ["I25"],
    options: mixed,
    patches: [
      {
        file: "runtime/worker/leave-to-others.ts",
        find: "if (isLacking(error) && !store.features.taskQueues)",
        put: "if (isLacking(error) && store.features.taskQueues)",
      },
    ],
  },
  {
    name: "runs-without-code",
    family: "crowds",
    caughtBy: ["I25"],
    options: mixed,
    patches: [
      {
        file: "runtime/context/registry.ts",
        find: "if (prepared.lacking.length === 0) return prepared;",
        put: "if (prepared) return prepared;",
      },
    ],
  },
  {
    name: "nobody-is-told-what-was-left",
    firstSeed: 38,
    caughtBy: ["I7"],
    options: messagesOnly,
    patches: [
      { file: "runtime/worker/dispatcher.ts", find: "if (!slice) await this.#context.wakeUpSender.sendOn([{ workflowId }]);", put: "" },
    ],
  },
  {
    name: "messages-of-others-are-not-sent-again",
    firstSeed: 8,
    caughtBy: ["I7"],
    options: messagesOnly,
    patches: [
      {
        file: "runtime/worker/queue-consumer.ts",
        find: "if (!claim) return this.#passOn(delivery.workflowId);",
        put: "if (!claim) return;",
      },
    ],
  },
  {
    name: "messages-of-other-task-queues-are-not-sent-again",
    firstSeed: 8,
    caughtBy: ["I7"],
    options: messagesOnly,
    patches: [
      {
        file: "runtime/worker/wake-up-for-others.ts",
        find: "if (takesTaskQueue(context, head.taskQueue) && !lacks.has(head.definition.hash)) return [];",
        put: "if (!lacks.has(head.definition.hash)) return [];",
      },
    ],
  },
  {
    // the store refuses the release if somebody has changed the execution since it was claimed
    name: "what-was-left-is-held-until-the-lease-ends",
    firstSeed: 20_635,
    caughtBy: ["I12"],
    options: { ...mixed, mode: "faultFree", faults: [], wakeUps: "both", chance: 5, clients: [0, 2] },
    patches: [{ file: "runtime/worker/leave-to-others.ts", find: "await giveBack(store, claim,", put: "await store.release(claim," }],
  },
  {
    name: "messages-of-others-come-by-the-clock-of-the-process",
    firstSeed: 20_696,
    caughtBy: ["I7"],
    options: { ...messagesOnly, faults: ["skew"] },
    patches: [{ file: "runtime/worker/wake-up-for-others.ts", find: "await clock.now();", put: "clock.estimate();" }],
  },
];
