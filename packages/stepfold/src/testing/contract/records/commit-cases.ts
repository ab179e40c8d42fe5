import type { Status } from "../../../core/snapshot/snapshot.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, rejectsWith } from "../../expectations.ts";
import { dueIds } from "../claims/claiming.ts";

const terminal: readonly Status[] = ["completed", "failed", "cancelled"];

/** What `commit` promises about versions, repeated commits and ended executions. */
export const commitCases: readonly ContractCase[] = [
  {
    name: "commit: head and events become visible",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first, { output: { n: 1 }, status: "paused", wakeAt: 99 });
      await store.create(first);
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      const [row] = await store.events("a", 0, 10);
      equal(row, { version: 1, commitId: second.commitId, event: second.events[0] }, "row");
    },
  },
  {
    name: "commit: several events at once",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first, { outputs: [1, 2, 3] });
      await store.create(first);
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      equal(
        (await store.events("a", 0, 10)).map(({ commitId }) => commitId),
        Array(3).fill(second.commitId),
        "commit ids",
      );
    },
  },
  {
    name: "commit: a stale version is refused and writes nothing",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first, { output: "second" });
      await store.create(first);
      await store.commit(second);
      const details = await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(first, { output: "late" })));
      equal(details, { workflowId: "a", expected: 0, actual: 1 }, "details");
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      equal((await store.events("a", -1, 10)).length, 2, "number of events");
    },
  },
  {
    name: "commit: a version from the future is refused",
    async run({ store }) {
      const first = startCommit("a");
      await store.create(first);
      const details = await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(stepCommit(first))));
      equal(details, { workflowId: "a", expected: 1, actual: 0 }, "details");
      equal((await store.events("a", -1, 10)).length, 1, "number of events");
    },
  },
  {
    name: "commit: an execution that does not exist is refused",
    async run({ store }) {
      const details = await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(startCommit("nobody"))));
      equal(details, { workflowId: "nobody", expected: 0, actual: null }, "details");
      equal(await store.load("nobody"), null, "snapshot");
      equal(await store.events("nobody", -1, 10), [], "events");
    },
  },
  {
    name: "commit: another incarnation is refused",
    async run({ store }) {
      const first = startCommit("a");
      await store.create(first);
      const details = await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(startCommit("a"))));
      equal(details.actual, null, "actual");
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
    },
  },
  {
    name: "commit: the same commit again is acknowledged once applied",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first, { output: 1 });
      await store.create(first);
      await store.commit(second);
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      equal((await store.events("a", -1, 10)).length, 2, "number of events");
    },
  },
  {
    name: "commit: the same commit again is acknowledged after others followed",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first, { outputs: [1, 2] });
      const third = stepCommit(second, { status: "completed" });
      await store.create(first);
      await store.commit(second);
      await store.commit(third);
      await store.commit(second);
      await store.commit(third);
      equal(await store.load("a"), snapshotAfter(first, second, third), "snapshot");
    },
  },
  {
    name: "commit: the same commit twice at once is applied once and acknowledged twice",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first, { output: 1 });
      await store.create(first);
      await Promise.all([store.commit(second), store.commit(second)]);
      equal((await store.events("a", -1, 10)).length, 2, "number of events");
    },
  },
  {
    name: "commit: another commit with the same content is not the same commit",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first);
      await store.create(first);
      await store.commit(second);
      await rejectsWith("VERSION_CONFLICT", () => store.commit({ ...second, commitId: "another" }));
    },
  },
  ...terminal.map(
    (status): ContractCase => ({
      name: `commit: nothing follows ${status}`,
      async run({ store }) {
        const first = startCommit("a");
        const second = stepCommit(first, { status });
        await store.create(first);
        await store.commit(second);
        const details = await rejectsWith("EXECUTION_ENDED", () => store.commit(stepCommit(second, { status: "active" })));
        equal(details, { workflowId: "a", status }, "details");
        await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(first)));
        equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
        equal(await dueIds(store), [], "due");
      },
    }),
  ),
  {
    name: "commit: every change of status is kept",
    async run({ store }) {
      const commits = [startCommit("a")];
      await store.create(commits[0]!);
      for (const status of ["paused", "active", "error", "active", "paused", "error", "completed"] as const) {
        commits.push(stepCommit(commits.at(-1)!, { status }));
        await store.commit(commits.at(-1)!);
        equal(
          (await store.list({ status: [status] })).items.map(({ version }) => version),
          [commits.length - 1],
          `listed as ${status}`,
        );
      }
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
    },
  },
  {
    name: "commit: refused ones do not disturb others issued together with them",
    async run({ store }) {
      const firsts = ["a", "b", "c"].map((id) => startCommit(id));
      await Promise.all(firsts.map((first) => store.create(first)));
      const [a, b, c] = firsts as [(typeof firsts)[0], (typeof firsts)[0], (typeof firsts)[0]];
      const settled = await Promise.allSettled([
        store.commit(stepCommit(a)),
        store.commit(stepCommit(startCommit("b"))),
        store.create(startCommit("a")),
        store.commit(stepCommit(c)),
        store.commit(stepCommit(startCommit("nobody"))),
        store.commit(stepCommit(b)),
        store.create(startCommit("d")),
      ]);
      const verdicts = settled.map(({ status }) => status === "fulfilled");
      equal(verdicts, [true, false, false, true, false, true, true], "verdicts");
      for (const id of ["a", "b", "c"]) equal((await store.load(id))?.version, 1, `version of ${id}`);
    },
  },
  {
    name: "commit: those issued in a row without waiting are applied in order",
    async run({ store }) {
      const commits = [startCommit("a")];
      for (let count = 0; count < 20; count++) commits.push(stepCommit(commits.at(-1)!, { output: count }));
      await Promise.all([store.create(commits[0]!), ...commits.slice(1).map((commit) => store.commit(commit))]);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
    },
  },
];
