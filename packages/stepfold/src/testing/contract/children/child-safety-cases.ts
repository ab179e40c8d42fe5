import type { ErrorCode } from "../../../core/errors/error-details.ts";
import type { Json } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase, StoreBench } from "../../contract-case.ts";
import { equal, holds, present, rejectsWith } from "../../expectations.ts";
import { claimFree, leaseMs } from "../claims/claiming.ts";
import { childrenOf, expectKeys, gone, put } from "./children.ts";

const keys = [
  ...["'", '"', "\\", "''; DROP TABLE children; --", "%", "_", "0#1/%", "0#1/_", "0#1/\\%", "*", "?1", "{{ x }}", "$.x", "a.b", "[0]"],
  ...[
    "é",
    "e\u0301",
    "名",
    "😀",
    "\u202e",
    "\ufeff",
    "a\u0000b",
    "\n",
    " ",
    " a",
    "a",
    "A",
    "constructor",
    "toString",
    "then",
    "x".repeat(20_000),
  ],
];

/** What a store promises that children are safe from: refused or repeated commits, other executions, deletes, and reads during a commit. */
export const childSafetyCases: readonly ContractCase[] = [
  refused("VERSION_CONFLICT", async ({ store }) => {
    const first = startCommit("a", { children: [put("x")] });
    await store.create(first);
    await store.commit(stepCommit(first));
    return first;
  }),
  refused("EXECUTION_ENDED", async ({ store }) => {
    const first = startCommit("a", { children: [put("x")] });
    const second = stepCommit(first, { status: "completed" });
    await store.create(first);
    await store.commit(second);
    return second;
  }),
  {
    name: "children: those of a commit refused with FENCE_LOST are not written",
    async run({ store, advance }) {
      const first = startCommit("a", { children: [put("x")] });
      const claim = present(await store.create(first, { claim: { owner: "worker", leaseMs } }), "the claim of create");
      await advance(leaseMs + 1);
      await claimFree(store, "a", "other");
      const children = [put("x", { input: 1 }), put("y")];
      await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(first, { fence: claim.fence, children })));
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
    },
  },
  {
    name: "children: those of a create that is refused are not written",
    async run({ store }) {
      const first = startCommit("a", { children: [put("x")] });
      await store.create(first);
      await rejectsWith("WORKFLOW_EXISTS", () =>
        store.create(startCommit("a", { children: [put("x", { input: 1 }), put("y"), gone("x")] })),
      );
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
    },
  },
  {
    name: "children: a repeated commit does not bring back what was changed or deleted since",
    async run({ store }) {
      const first = startCommit("a", { children: [put("x"), put("y")] });
      const second = stepCommit(first, { children: [put("y", { version: 1 }), put("z", { version: 1 })] });
      const third = stepCommit(second, { children: [gone("x"), put("y", { version: 2 }), gone("z")] });
      await store.create(first);
      await store.commit(second);
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot before");
      await store.commit(third);
      await store.commit(second);
      await store.create(first);
      equal(await store.load("a"), snapshotAfter(first, second, third), "snapshot");
      await expectKeys(store, ["y"]);
    },
  },
  {
    name: "children: a repeated commit does not delete again",
    async run({ store }) {
      const first = startCommit("a", { children: [put("x")] });
      const second = stepCommit(first, { children: [gone("x")] });
      const third = stepCommit(second, { children: [put("x", { version: 2 })] });
      await store.create(first);
      await store.commit(second);
      await store.commit(third);
      await store.commit(second);
      equal(await store.load("a"), snapshotAfter(first, second, third), "snapshot");
    },
  },
  ...(["delete", "prune"] as const).map(
    (how): ContractCase => ({
      name: `children: they go with their execution by ${how}, and an id that is used again has none of them`,
      async run({ store, advance, retentionMs }) {
        const other = startCommit("b", { children: [put("x", { input: "b" })] });
        await store.create(other);
        await store.create(startCommit("a", { status: "failed", children: [put("x"), put("y")] }));
        await (how === "delete" ? store.delete("a") : store.prune({ before: Number.MAX_SAFE_INTEGER }));
        equal(await store.load("a"), null, "snapshot");
        await advance(retentionMs + 1);
        const again = startCommit("a", { children: [put("y", { input: "new" })] });
        await store.create(again);
        equal(await store.load("a"), snapshotAfter(again), "snapshot of the new one");
        equal(await store.load("b"), snapshotAfter(other), "snapshot of another one");
      },
    }),
  ),
  {
    name: "children: those of other executions with the same keys are others",
    run: ({ store }) => sameKeys(store),
  },
  {
    name: "children: any key is a key of its own",
    async run({ store }) {
      const first = startCommit("a", { children: keys.map((key) => put(key, { input: key })) });
      await store.create(first);
      await expectKeys(store, keys);
      let last = first;
      const left = new Set(keys);
      for (const key of keys.slice(0, -3)) {
        last = stepCommit(last, { children: [gone(key)] });
        await store.commit(last);
        left.delete(key);
        await expectKeys(store, [...left]);
      }
      for (const [key, { input }] of Object.entries(await childrenOf(store))) equal(input, key, "input");
    },
  },
  {
    name: "children: any value comes back as it was, to the byte",
    async run({ store }) {
      const values: Json[] = [
        null,
        "\u0000'\"\\",
        "😀".repeat(20_000),
        1e21,
        5e-324,
        0.1,
        [[]],
        {},
        "",
        { zebra: 1, apple: [null], "": "a.b", "$.x": 2 },
      ];
      const first = startCommit("a", { children: values.map((value, index) => put(`0#1/${index}`, { input: value, output: [value] })) });
      await store.create(first);
      const loaded = Object.values(await childrenOf(store)).map(({ input, output }) => JSON.stringify([input, output]));
      equal(
        loaded,
        values.map((value) => JSON.stringify([value, [value]])),
        "inputs and outputs as text",
      );
    },
  },
  {
    name: "children: changing what was handed in, or loaded, changes nothing that is stored",
    async run({ store }) {
      const list = [1];
      const commit = startCommit("a", { children: [put("x", { input: list })] });
      const created = store.create(commit);
      list.push(2);
      await created;
      (present((await childrenOf(store)).x?.input, "input") as Json[]).push(3);
      equal((await childrenOf(store)).x?.input, [1], "input");
    },
  },
  {
    name: "children: head and children are of one version, also while others commit",
    async run({ store }) {
      let last = startCommit("a", { children: [put("x"), put("y"), put("0")] });
      await store.create(last);
      for (let count = 1; count <= 30; count++) {
        const more = { version: count };
        last = stepCommit(last, { children: [put("x", more), gone(String(count - 1)), put("y", more), put(`${count}`, more)] });
        const written = store.commit(last);
        for (let reads = 0; reads < 8; reads++) {
          const { version, childStates = {} } = present(await store.load("a"), "snapshot");
          const versions = Object.values(childStates).map((child) => child.version);
          equal(versions, [version, version, version], `versions of children at version ${version}`);
          holds(Object.hasOwn(childStates, String(version)), `the child of version ${version} is not there`);
        }
        await written;
      }
    },
  },
];

/** The case in which a refused commit must not change any children. */
function refused(
  code: ErrorCode & ("VERSION_CONFLICT" | "EXECUTION_ENDED"),
  before: (bench: StoreBench) => Promise<ReturnType<typeof startCommit>>,
): ContractCase {
  return {
    name: `children: those of a commit refused with ${code} are not written`,
    async run(bench) {
      const { store } = bench;
      const last = await before(bench);
      const expected = await store.load("a");
      const children = [put("x", { input: 1 }), put("y")];
      await rejectsWith(code, () => store.commit(stepCommit(last, { children, status: "active" })));
      await rejectsWith(code, () => store.commit(stepCommit(last, { children: [gone("x")], status: "active" })));
      equal(await store.load("a"), expected, "snapshot");
      await expectKeys(store, ["x"]);
    },
  };
}

/** Uses ids and keys that look the same when they are joined. */
async function sameKeys(store: SnapshotStore): Promise<void> {
  const ids = ["a", "a:x", "a/", "b", "A"];
  const made = ids.map((id) => startCommit(id, { children: ["x", "x:x", "/x", "y"].map((key) => put(key, { input: `${id} ${key}` })) }));
  for (const first of made) await store.create(first);
  const changed = stepCommit(made[0]!, { children: [put("x", { input: "changed" }), gone("y")] });
  await store.commit(changed);
  equal(await store.load("a"), snapshotAfter(made[0]!, changed), "snapshot of a");
  for (const first of made.slice(1)) equal(await store.load(first.workflowId), snapshotAfter(first), `snapshot of ${first.workflowId}`);
}
