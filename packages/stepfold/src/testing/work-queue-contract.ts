import { queueAcknowledgeCases } from "./contract/queue/queue-acknowledge-cases.ts";
import { queueCloseCases } from "./contract/queue/queue-close-cases.ts";
import { queueConcurrencyCases } from "./contract/queue/queue-concurrency-cases.ts";
import { queueDedupeCases } from "./contract/queue/queue-dedupe-cases.ts";
import { queueDelayCases } from "./contract/queue/queue-delay-cases.ts";
import { queueDrainCases } from "./contract/queue/queue-drain-cases.ts";
import { queueLeaseCases } from "./contract/queue/queue-lease-cases.ts";
import { queueSendCases } from "./contract/queue/queue-send-cases.ts";
import { queueTransactionCases } from "./contract/queue/queue-transaction-cases.ts";
import type { QueueContractCase } from "./queue-contract-case.ts";

/**
 * Every promise of a `WorkQueue`, as data. Run the cases with any test runner, each on a new, empty queue.
 *
 * A case resolves, or rejects with a `ContractViolation` that says what is wrong, or with the queue's own error.
 *
 * ```ts
 * import { memoryQueue } from "stepfold/queues/memory";
 * import { isQueueClaimed, virtualEnvironment, workQueueContract } from "stepfold/testing";
 *
 * for (const contractCase of workQueueContract.slice(0, 2)) {
 *   const environment = virtualEnvironment();
 *   const queue = memoryQueue({ environment });
 *   const times = { leaseMs: 1000, patienceMs: 2000, noticeMs: 3000 };
 *   const bench = { queue, open: async () => queue, advance: environment.advance, ...times, kill: async () => {} };
 *   if (isQueueClaimed(contractCase, bench)) await contractCase.run(bench);
 * }
 * ```
 */
export const workQueueContract: readonly QueueContractCase[] = [
  ...queueSendCases,
  ...queueDelayCases,
  ...queueDedupeCases,
  ...queueConcurrencyCases,
  ...queueAcknowledgeCases,
  ...queueLeaseCases,
  ...queueDrainCases,
  ...queueCloseCases,
  ...queueTransactionCases,
];
