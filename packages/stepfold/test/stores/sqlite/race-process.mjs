// One of several processes that share a file (see sqlite-processes.test.ts): opens it, creates what others create too,
// then drives whatever it can claim to its end. Prints what it was acknowledged.

import { sqliteStore } from "../../../src/stores/databases/sqlite/sqlite-store.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { startCommit, stepCommit } from "../../../src/testing/commit-builder.ts";

const [path, name, executions, steps] = process.argv.slice(2);
const store = sqliteStore(path, { synchronous: "NORMAL", busyTimeoutMs: 30_000 });
const unique = (commit) => ({ ...commit, commitId: `${name}-${commit.commitId}` });
const created = [];
const committed = [];

await Promise.all(
  Array.from({ length: Number(executions) }, async (_, index) => {
    const id = `id-${index}`;
    const made = await store.create(unique(startCommit(id, { incarnation: `${name}-${id}` }))).catch((error) => error.code);
    if (made === null) created.push(id);
    else if (made !== "WORKFLOW_EXISTS") throw new TypeError(made);
  }),
);

for (let idle = 0; idle < 3; ) {
  const claimed = await claimAndLoad(store, { owner: name, leaseMs: 60_000, limit: 3 });
  idle = claimed.length ? 0 : idle + 1;
  await Promise.all(
    claimed.map(async ({ claim, snapshot }) => {
      let last = snapshot;
      for (let count = 0; count < 4; count++) {
        const ends = snapshot.version + count + 1 === Number(steps);
        const options = { fence: claim.fence, output: name, status: ends ? "completed" : "active", release: count === 3 };
        const commit = unique(stepCommit(last, options));
        await store.commit(commit);
        committed.push(commit.commitId);
        last = commit;
        if (ends) break;
      }
    }),
  );
}
await store.close();
console.log(JSON.stringify({ created, committed }));
