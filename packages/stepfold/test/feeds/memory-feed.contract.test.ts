import { feedContractOf } from "./feed-contract.fixture.ts";
import { memoryFeedBench } from "./memory-feed-bench.fixture.ts";

feedContractOf("memory", { bench: async () => memoryFeedBench() });
