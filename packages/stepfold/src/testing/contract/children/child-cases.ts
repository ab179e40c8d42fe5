import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, present } from "../../expectations.ts";
import { childrenOf, expectKeys, gone, put, putEnded } from "./children.ts";

/** What a store promises about writing children: sub-workflows and items of maps. */
export const childCases: readonly ContractCase[] = [
  {
    name: "children: those of the first commit are loaded",
    async run({ store }) {
      const first = startCommit("a", { children: [put("0#1/0", { input: { item: 1 } }), put("0#1/1", { kept: true })] });
      await store.create(first);
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
      await expectKeys(store, ["0#1/0", "0#1/1"]);
    },
  },
  {
    name: "children: without any, there are none to be seen",
    async run({ store }) {
      await store.create(startCommit("a", { children: [] }));
      equal(Object.hasOwn(present(await store.load("a"), "snapshot"), "childStates"), false, "childStates is there");
    },
  },
  {
    name: "children: one that changes is replaced as a whole, and the others stay",
    async run({ store }) {
      const ending = { status: "failed", nodeId: "inner", begun: [] } as const;
      const rounds = { "j|0#1": { got: ["x>j"] } };
      const first = startCommit("a", {
        children: [put("0#1", { ending, rounds, error: { name: "E", message: "m" }, input: [1] }), put("0.1#1")],
      });
      const second = stepCommit(first, { children: [putEnded("0#1", { n: 1 }, { kept: true, version: 1 })] });
      await store.create(first);
      equal(await store.load("a"), snapshotAfter(first), "snapshot before");
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      const changed = { ...putEnded("0#1", { n: 1 }, { kept: true, version: 1 }).head, context: {} };
      equal((await childrenOf(store))["0#1"], changed, "the child that changed");
    },
  },
  {
    name: "children: what a commit does not name stays",
    async run({ store }) {
      const first = startCommit("a", { children: [put("0#1/0"), put("0#1/1")] });
      const commits = [first, stepCommit(first), stepCommit(stepCommit(first), { children: [] })];
      await store.create(first);
      for (const commit of commits.slice(1)) await store.commit(commit);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
    },
  },
  {
    name: "children: the deleted are gone, and only they",
    async run({ store }) {
      const keys = ["0#1/1", "0#1/10", "0#1/1>0#2", "0#11", "0#1"];
      const first = startCommit("a", { children: keys.map((key) => put(key)) });
      const second = stepCommit(first, { children: [gone("0#1/1"), gone("never there")] });
      await store.create(first);
      await store.commit(second);
      await expectKeys(store, ["0#1/10", "0#1/1>0#2", "0#11", "0#1"]);
      const third = stepCommit(second, { children: keys.map(gone) });
      await store.commit(third);
      equal(await store.load("a"), snapshotAfter(first, second, third), "snapshot");
    },
  },
  {
    name: "children: of two changes of one child in a commit the later counts",
    async run({ store }) {
      const first = startCommit("a", { children: [put("x"), put("y"), put("put, gone"), gone("put, gone"), gone("z"), put("z")] });
      await store.create(first);
      await expectKeys(store, ["x", "y", "z"]);
      const second = stepCommit(first, {
        children: [put("x", { input: 1 }), put("x", { input: 2 }), gone("y"), put("y", { input: 3 }), put("z", { input: 4 }), gone("z")],
      });
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      const { x, y, z } = await childrenOf(store);
      equal([x?.input, y?.input, z === undefined], [2, 3, true], "inputs, and that z is gone");
    },
  },
  {
    name: "children: in order of creation, however they change",
    async run({ store }) {
      const keys = ["0#9", "0#1/10", "0#1/9", "0#1", "0#1>0#1"];
      let last = startCommit("a", { children: keys.slice(0, 3).map((key) => put(key)) });
      await store.create(last);
      last = stepCommit(last, { children: [put("0#1/9", { input: 1 }), put("0#1"), put("0#9", { input: 2 }), put("0#1>0#1")] });
      await store.commit(last);
      await expectKeys(store, keys);
      last = stepCommit(last, { children: [...keys].reverse().map((key) => put(key, { input: 3 })) });
      await store.commit(last);
      await expectKeys(store, keys);
    },
  },
  {
    name: "children: one that was deleted and is put again comes last",
    async run({ store }) {
      let last = startCommit("a", { children: ["x", "y", "z"].map((key) => put(key)) });
      await store.create(last);
      last = stepCommit(last, { children: [gone("x"), put("x")] });
      await store.commit(last);
      await expectKeys(store, ["y", "z", "x"]);
      last = stepCommit(last, { children: [gone("y"), gone("x")] });
      await store.commit(last);
      last = stepCommit(last, { children: [put("w"), put("y")] });
      await store.commit(last);
      await expectKeys(store, ["z", "w", "y"]);
    },
  },
  {
    name: "children: of a thousand one changes, and the others stay as they were to the byte",
    async run({ store }) {
      const keys = Array.from({ length: 1000 }, (_, index) => `0#1/${index}`);
      let last = startCommit("a", { children: keys.map((key) => put(key, { input: { key, "1": 0.1, text: "é\u0000" } })) });
      await store.create(last);
      const texts = async (): Promise<string[]> => Object.entries(await childrenOf(store)).map((entry) => JSON.stringify(entry));
      let before = await texts();
      equal(before.length, 1000, "number of children");
      for (const index of [0, 999, 500]) {
        last = stepCommit(last, { children: [put(keys[index]!, { input: "changed", version: last.head.version + 1 })] });
        await store.commit(last);
        const after = await texts();
        const differing = after.flatMap((text, place) => (text === before[place] ? [] : [place]));
        equal(differing, [index], "places of children that are different");
        before = after;
      }
    },
  },
  {
    name: "children: commits issued in a row without waiting are applied in order",
    async run({ store }) {
      const commits = [startCommit("a", { children: [put("0#1/0")] })];
      for (let count = 1; count < 20; count++) {
        const before = commits.at(-1)!;
        commits.push(
          stepCommit(before, {
            children: [gone(`0#1/${count - 1}`), put(`0#1/${count}`, { version: count }), put("0#1", { version: count })],
          }),
        );
      }
      await Promise.all([store.create(commits[0]!), ...commits.slice(1).map((commit) => store.commit(commit))]);
      equal(await store.load("a"), snapshotAfter(...commits), "snapshot");
      await expectKeys(store, ["0#1", "0#1/19"]);
    },
  },
  {
    name: "children: another handle sees what was acknowledged",
    needs: "multiProcess",
    async run({ store, open }) {
      const other = await open();
      const first = startCommit("a", { children: [put("x"), put("y")] });
      const second = stepCommit(first, { children: [gone("x"), put("y", { version: 1 })] });
      await store.create(first);
      equal(await other.load("a"), snapshotAfter(first), "snapshot");
      await other.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      await other.close();
    },
  },
];
