import { createClient, type ResultSet } from "@libsql/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hranaServer } from "../../../../../scripts/servers/hrana-server.ts";
import type { StandIn } from "../../../../../scripts/servers/stand-in.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { libsqlStore } from "../../../src/stores/databases/libsql/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { wait } from "../../testing/store-contract.fixture.ts";
import { type CuttableProxy, cuttableProxy } from "../cuttable-proxy.fixture.ts";
import { oneOfEightWins } from "../rival-commits.fixture.ts";

let server: StandIn;
let proxy: CuttableProxy;
let requests = 0;
const counting: typeof fetch = (...request) => {
  requests++;
  return fetch(...request);
};
const clients: ReturnType<typeof createClient>[] = [];
function connect() {
  const client = createClient({ url: proxy.url, fetch: counting });
  clients.push(client);
  return client;
}
function open(): SnapshotStore {
  return libsqlStore(connect(), { migrate: true });
}

beforeAll(async () => {
  server = await hranaServer();
  proxy = await cuttableProxy(server.url);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await proxy.close();
  await server.close();
});

/** All rows of the database. */
async function everything(): Promise<unknown[]> {
  const tables = ["executions", "events", "children", "records"];
  const results = await connect().batch(
    tables.map((table) => `SELECT * FROM ${table} ORDER BY 1`),
    "read",
  );
  return results.map(({ rows }: ResultSet) => rows.map((row) => ({ ...row })));
}

const put = (key: string, output: number) => ({
  key,
  head: { status: "active", currentNodeId: "x", activePaths: [], steps: output } as never,
});

describe("a libSQL store over HTTP (stand-in for sqld)", () => {
  it("changes nothing by a commit that is refused, whatever the reason", async () => {
    const store = open();
    const first = startCommit("refused", { children: [put("0#1/0", 1)] });
    const claim = await store.create(first, { claim: { owner: "worker", leaseMs: 60_000 } });
    const second = stepCommit(first, { fence: claim!.fence });
    await store.commit(second);
    const ended = startCommit("refused-ended", { status: "completed" });
    await store.create(ended);
    const before = await everything();
    const children = [put("0#1/0", 2), put("0#1/1", 3), { key: "0#1/0", head: null }];
    const refused: [Commit, string][] = [
      [stepCommit(first, { children, fence: claim!.fence }), "VERSION_CONFLICT"],
      [stepCommit(second, { children, fence: claim!.fence + 1 }), "FENCE_LOST"],
      [{ ...stepCommit(second, { children }), incarnation: "another" }, "VERSION_CONFLICT"],
      [stepCommit(startCommit("refused-nobody"), { children }), "VERSION_CONFLICT"],
      [stepCommit(ended, { children }), "EXECUTION_ENDED"],
    ];
    for (const [commit, code] of refused) await expect(store.commit(commit), code).rejects.toMatchObject({ code });
    await expect(store.create(startCommit("refused", { children }))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
    expect(await everything()).toEqual(before);
  });

  it("changes nothing by what is sent again", async () => {
    const store = open();
    const first = startCommit("again", { children: [put("0#1/0", 1)] });
    const second = stepCommit(first, { outputs: [1, 2], children: [put("0#1/0", 2), put("0#1/1", 3)] });
    await store.create(first);
    await store.commit(second);
    await store.commit(stepCommit(second, { children: [{ key: "0#1/0", head: null }] }));
    const before = await everything();
    await store.create(first);
    await store.commit(second);
    expect(await everything()).toEqual(before);
  });

  it("commits and claims in one request, and polls in one", async () => {
    const store = open();
    const first = startCommit("requests");
    await store.create(first);
    const counted = async (work: () => Promise<unknown>): Promise<number> => {
      requests = 0;
      await work();
      return requests;
    };
    expect(await counted(() => store.commit(stepCommit(first, { outputs: [1, 2, 3] })))).toBe(1);
    expect(await counted(() => store.load("requests"))).toBe(1);
    // at most three requests: they read the due executions, claim them, and find that no more are due
    expect(await counted(() => store.claim({ owner: "worker", leaseMs: 60_000, limit: 32 }))).toBeLessThanOrEqual(3);
    expect(await counted(() => store.claim({ owner: "worker", leaseMs: 60_000, limit: 32 }))).toBe(1);
  });

  it("acknowledges a repeated commit whose first acknowledgement was lost", async () => {
    const store = open();
    const first = startCommit("lost");
    await store.create(first);
    const second = stepCommit(first, { output: "once" });
    proxy.swallowNextAnswer();
    await expect(store.commit(second)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    expect((await store.load("lost"))?.version).toBe(1);
    await store.commit(second);
    expect((await store.events("lost", -1, 10)).length).toBe(2);
    proxy.swallowNextAnswer();
    const created = startCommit("lost too");
    const lease = { owner: "worker", leaseMs: 60_000 };
    await expect(store.create(created, { claim: lease })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await store.create(created, { claim: lease })).toMatchObject({ workflowId: "lost too", fence: 1 });
  });

  it("lets one of eight commits win, in each of 200 rounds over two handles", () => oneOfEightWins([open(), open()]));

  it("gives every commit of a group its own verdict while another handle writes the same executions", async () => {
    const [one, other] = [open(), open()];
    const firsts = Array.from({ length: 30 }, (_, index) => startCommit(`group-${index}`));
    await Promise.all(firsts.map((first) => one.create(first)));
    const settled = await Promise.allSettled([
      ...firsts.map((first) => one.commit(stepCommit(first, { output: "one" }))),
      ...firsts.map((first) => other.commit(stepCommit(first, { output: "other" }))),
    ]);
    for (const [index, first] of firsts.entries()) {
      const wins = [settled[index]!, settled[index + 30]!].map(({ status }) => status === "fulfilled");
      expect(wins.filter(Boolean).length).toBe(1);
      const { context } = (await one.load(first.workflowId))!;
      expect(context.step?.map(({ output }) => output)).toEqual([wins[0] ? "one" : "other"]);
    }
  });

  it("judges leases by the clock of the server", async () => {
    const [one, other] = [open(), open()];
    const claim = (await one.create(startCommit("clock"), { claim: { owner: "worker", leaseMs: 400 } }))!;
    const { storeNow } = await other.renew({ ...claim, leaseMs: 3_600_000 });
    expect(storeNow).toBeGreaterThanOrEqual(claim.claimedAt);
    expect(await other.claim({ owner: "thief", leaseMs: 1000, limit: 1, workflowId: "clock" })).toEqual([]);
    await one.renew({ ...claim, leaseMs: 1 });
    await wait(50);
    const [next] = await other.claim({ owner: "next", leaseMs: 1000, limit: 1, workflowId: "clock" });
    expect(next?.fence).toBeGreaterThan(claim.fence);
    await expect(one.renew(claim)).rejects.toMatchObject({ code: "FENCE_LOST" });
  });

  it("takes ids and metadata for nothing but names", async () => {
    const store = open();
    const names = ["'; DROP TABLE executions; --", '"', "$.a[0]", "?1", ":a", "\u0000", "𐀀😀", "a ", "a", "A", "x".repeat(255)];
    for (const name of names) await store.create(startCommit(`name ${name}`, { metadata: { [name]: name } }));
    for (const name of names) {
      const { items } = await store.list({ metadata: { [name]: name } });
      expect(items.map(({ workflowId }) => workflowId)).toEqual([`name ${name}`]);
    }
  });
});

describe("a libSQL server that is away", () => {
  it("is said to be unavailable, with no secret in the reason, and is asked again when it is back", async () => {
    const gone = await hranaServer();
    await gone.close();
    const client = createClient({ url: gone.url, authToken: "secret-token" });
    const store = libsqlStore(client, { migrate: true });
    const refused = await store.load("a").catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    expect(JSON.stringify(refused)).not.toContain("secret");
    client.close();
  });

  it("is told apart from one that refuses", async () => {
    const answers = (status: number) => async () => new Response("no", { status });
    for (const [status, code] of [
      [401, "STORE_REJECTED"],
      [429, "STORE_UNAVAILABLE"],
      [503, "STORE_UNAVAILABLE"],
    ] as const) {
      const client = createClient({ url: "http://127.0.0.1:1", fetch: answers(status) });
      await expect(libsqlStore(client).load("a"), String(status)).rejects.toMatchObject({ code });
      client.close();
    }
  });
});
