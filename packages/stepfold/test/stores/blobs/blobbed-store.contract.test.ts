import { join } from "node:path";
import { blobbedStore, fileBlobs } from "../../../src/stores/wrappers/blobs/index.ts";
import { testFolder, wrappedContract } from "../values/wrapped-bench.fixture.ts";

const folder = testFolder("blobs");

// the limit is low, so that most values of the cases become blobs
wrappedContract("blobbed", (inner, index) => blobbedStore(inner, fileBlobs(join(folder, `${inner.name}-${index}`)), { aboveBytes: 8 }));
