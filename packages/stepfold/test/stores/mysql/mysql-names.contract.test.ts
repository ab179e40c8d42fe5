import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { expectKeys, gone, put } from "../../../src/testing/contract/children/children.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { hostileOptions, hostileSettings, mysqlServer } from "./mysql-bench.fixture.ts";

const url = await serviceUrlOrSkip("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

/** Names that MySQL regards as equal to another one of them in some collation. */
const names = [
  "a",
  "a ",
  "a  ",
  " a",
  "A",
  "á",
  "a\u0301",
  "ß",
  "ss",
  "a\u0000",
  "a\t",
  "😀",
  "😁",
  "😀".repeat(255),
  "x".repeat(255),
  `${"x".repeat(254)}X`,
];

describe.skipIf(!server)("names in MySQL", () => {
  for (const turn of [0, 1]) {
    it(`are the same only if every byte is, with sql_mode ${turn}`, async () => {
      const { store } = await server!.bench(hostileOptions, hostileSettings(turn));
      for (const name of names) await store.create(startCommit(name, { definitionId: name, metadata: { [name]: name }, input: name }));
      for (const name of names) {
        const loaded = (await store.load(name))!;
        expect([loaded.workflowId, loaded.input, loaded.definition.id]).toEqual([name, name, name]);
        for (const query of [{ definitionId: name }, { metadata: { [name]: name } }]) {
          expect((await store.list(query)).items.map(({ workflowId }) => workflowId)).toEqual([name]);
        }
        const [claimed] = await store.claim({ owner: name, leaseMs: 60_000, limit: 1, workflowId: name });
        expect(claimed).toMatchObject({ workflowId: name, owner: name });
      }
      await store.close();
    });
  }

  it("of children may be of any length, and differ in a space only", async () => {
    const { store } = await server!.bench(hostileOptions, hostileSettings(0));
    const keys = [...names, "k".repeat(100_000), `${"k".repeat(100_000)} `];
    const first = startCommit("a", { children: keys.map((key) => put(key, { input: key })) });
    await store.create(first);
    await expectKeys(store, keys);
    await store.commit(stepCommit(first, { children: ["a", "a  ", "k".repeat(100_000)].map(gone) }));
    await expectKeys(
      store,
      keys.filter((key) => !["a", "a  ", "k".repeat(100_000)].includes(key)),
    );
    await store.close();
  });

  it("that are longer than their column are refused, not cut off", async () => {
    const { store } = await server!.bench({}, ["SET SESSION sql_mode = ''"]);
    const long = "😀".repeat(256);
    const first = startCommit("a");
    await store.create(first);
    const refused = [
      store.create(startCommit(long)),
      store.create(startCommit("b", { definitionId: long })),
      store.create(startCommit("b", { incarnation: long })),
      store.create(startCommit("b"), { claim: { owner: long, leaseMs: 1000 } }),
      store.commit(stepCommit(first, { commitId: long })),
      store.claim({ owner: long, leaseMs: 1000, limit: 1 }),
    ];
    for (const one of await Promise.allSettled(refused))
      expect(one).toMatchObject({ status: "rejected", reason: { code: "LIMIT_EXCEEDED" } });
    expect((await store.list()).items.map(({ workflowId, version }) => [workflowId, version])).toEqual([["a", 0]]);
    expect(await store.load(long)).toBeNull();
    await store.close();
  });
});
