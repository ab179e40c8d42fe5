// Commits to several executions until it is killed (see sqlite-processes.test.ts). Prints every commit that was acknowledged.
import { writeSync } from "node:fs";
import { sqliteStore } from "../../../src/stores/databases/sqlite/sqlite-store.ts";
import { startCommit, stepCommit } from "../../../src/testing/commit-builder.ts";

const store = sqliteStore(process.argv[2]);
await Promise.all(
  Array.from({ length: 5 }, async (_, index) => {
    let last = startCommit(`id-${index}`);
    await store.create(last);
    for (;;) {
      last = stepCommit(last, { outputs: ["x".repeat(200), last.expectedVersion] });
      await store.commit(last);
      writeSync(1, `${last.workflowId} ${last.head.version} ${last.commitId}\n`);
    }
  }),
);
