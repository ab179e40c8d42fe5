import { compressedStore } from "../../../src/stores/wrappers/compressed/index.ts";
import { wrappedContract } from "../values/wrapped-bench.fixture.ts";

// the limit is low, so that the small values of the cases are compressed too
wrappedContract("compressed", (inner) => compressedStore(inner, { aboveBytes: 32 }));
