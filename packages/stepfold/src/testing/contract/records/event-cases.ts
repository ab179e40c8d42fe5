import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds } from "../../expectations.ts";

/** What `events` promises. */
export const eventCases: readonly ContractCase[] = [
  {
    name: "events: the history after a version, oldest first",
    async run({ store }) {
      const commits = [startCommit("a")];
      for (let count = 0; count < 12; count++) commits.push(stepCommit(commits.at(-1)!, { output: count }));
      await store.create(commits[0]!);
      for (const commit of commits.slice(1)) await store.commit(commit);
      const rows = commits.map(({ commitId, events }) => ({ version: events[0]!.version, commitId, event: events[0]! }));
      equal(await store.events("a", -1, 100), rows, "all");
      equal(await store.events("a", 0, 100), rows.slice(1), "after 0");
      equal(await store.events("a", 4, 3), rows.slice(5, 8), "three after 4");
      equal(await store.events("a", 12, 100), [], "after the last");
      equal(await store.events("a", 500, 100), [], "after a version that is not there yet");
      equal(await store.events("a", -1, 1), rows.slice(0, 1), "the first");
    },
  },
  {
    name: "events: of an unknown id there are none",
    async run({ store }) {
      equal(await store.events("nobody", -1, 100), [], "events");
    },
  },
  {
    name: "events: histories do not mix",
    async run({ store }) {
      const ids = ["a", "b", "aa", "A", "a%", "a_"];
      for (const id of ids) await store.create(startCommit(id));
      for (const id of ids) {
        const first = await store.load(id);
        await store.commit(stepCommit(first!, { output: id }));
      }
      for (const id of ids) {
        const rows = await store.events(id, -1, 100);
        equal(rows.length, 2, `events of ${id}`);
        equal(rows[1]!.event.type === "completed" && rows[1]!.event.output, id, `output of ${id}`);
      }
    },
  },
  {
    name: "events: no event is seen before the head that it belongs to",
    async run({ store }) {
      let last = startCommit("a");
      await store.create(last);
      for (let count = 0; count < 30; count++) {
        last = stepCommit(last, { outputs: [1, 2] });
        const written = store.commit(last);
        for (let reads = 0; reads < 4; reads++) {
          const seen = (await store.events("a", -1, 1000)).at(-1)?.version ?? -1;
          const version = (await store.load("a"))?.version ?? -1;
          holds(seen <= version, `event ${seen} was seen while the head was at ${version}`);
        }
        await written;
      }
    },
  },
  {
    name: "events: a refused commit leaves none",
    async run({ store }) {
      const first = startCommit("a");
      await store.create(first);
      const writes = Array.from({ length: 5 }, (_, index) => store.commit(stepCommit(first, { outputs: Array(index + 1).fill(index) })));
      const settled = await Promise.allSettled(writes);
      const winner = settled.findIndex(({ status }) => status === "fulfilled");
      const rows = await store.events("a", 0, 100);
      equal(
        rows.map(({ event }) => event.type === "completed" && event.output),
        Array(winner + 1).fill(winner),
        "outputs",
      );
    },
  },
];
