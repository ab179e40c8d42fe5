import { join } from "node:path";
import { afterAll } from "vitest";
import { effort } from "../../../../../scripts/test/effort.ts";
import { fileBlobs, s3Blobs } from "../../../src/stores/wrappers/blobs/index.ts";
import { blobContractOf } from "../../testing/blob-contract.fixture.ts";
import { testFolder } from "../values/wrapped-bench.fixture.ts";
import { s3Double } from "./s3-double.fixture.ts";

const folder = testFolder("blob-contract");
const double = await s3Double();
afterAll(() => double.close());

blobContractOf("files", {
  async bench(index) {
    const open = () => fileBlobs(join(folder, `${index}`));
    return { blobs: open(), open: async () => open() };
  },
});

if (effort.everyStore) {
  blobContractOf("s3 (a small server of the tests)", {
    async bench(index) {
      const open = () => s3Blobs(double.client, { bucket: "tests", prefix: `case-${index}/` });
      return { blobs: open(), open: async () => open() };
    },
  });
}
