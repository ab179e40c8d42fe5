import { join } from "node:path";
import { testFolder, wrappedContract } from "../values/wrapped-bench.fixture.ts";
import { blobbedStore, fileBlobs } from "./index.ts";

const folder = testFolder("blobs");

// low, so that most values of the cases are blobs
wrappedContract("blobbed", (inner, index) => blobbedStore(inner, fileBlobs(join(folder, `${inner.name}-${index}`)), { aboveBytes: 8 }));
