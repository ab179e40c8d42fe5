import { memoryBench } from "../../../../test/testing/memory-bench.fixture.ts";
import { contractOf } from "../../../../test/testing/store-contract.fixture.ts";

contractOf("memory", { bench: async () => memoryBench() });
