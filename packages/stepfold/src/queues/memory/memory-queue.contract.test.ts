import { memoryQueueBench } from "../../../test/testing/memory-queue-bench.fixture.ts";
import { queueContractOf } from "../../../test/testing/queue-contract.fixture.ts";

queueContractOf("memory", { bench: async () => memoryQueueBench() });
