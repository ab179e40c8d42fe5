import { memoryBench } from "../../../testing/memory-bench.fixture.ts";
import { contractOf } from "../../../testing/store-contract.fixture.ts";

contractOf("memory", { bench: async () => memoryBench() });
