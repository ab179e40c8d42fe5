import { memoryQueueBench } from "../testing/memory-queue-bench.fixture.ts";
import { queueContractOf } from "../testing/queue-contract.fixture.ts";

queueContractOf("memory", { bench: async () => memoryQueueBench() });
