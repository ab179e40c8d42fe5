import { type Client, createClient } from "@libsql/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hranaServer } from "../../../../../scripts/servers/hrana-server.ts";
import type { StandIn } from "../../../../../scripts/servers/stand-in.ts";
import type { Claim } from "../../../src/ports/snapshot-store.ts";
import { libsqlStore } from "../../../src/stores/databases/libsql/index.ts";
import { startCommit } from "../../../src/testing/index.ts";
import { expectEachKeyItsTurn, expectLimits, expectNoReturn, permitted } from "../sqlite/permits.fixture.ts";

const servers: StandIn[] = [];
const clients: Client[] = [];
let requests = 0;

async function newServer(): Promise<() => Client> {
  const server = await hranaServer();
  servers.push(server);
  return () => {
    const counting: typeof fetch = (...request) => {
      requests++;
      return fetch(...request);
    };
    clients.push(createClient({ url: server.url, fetch: counting }));
    return clients.at(-1)!;
  };
}

let connect: () => Client;
beforeAll(async () => {
  connect = await newServer();
});
afterAll(async () => {
  for (const client of clients) client.close();
  for (const server of servers) await server.close();
});

const lease = { owner: "worker", leaseMs: 600_000 };
const counted = async (work: () => Promise<unknown>): Promise<number> => {
  requests = 0;
  await work();
  return requests;
};

describe("taking turns in libSQL over HTTP (stand-in for sqld)", () => {
  it("lets nobody back whose place was given to another one", async () => {
    let now = 1_000_000;
    const store = libsqlStore((await newServer())(), { migrate: true, now: () => now });
    await expectNoReturn(store, async (durationMs) => {
      now += durationMs;
    });
  });

  it("judges whose turn it is once more when it claims", async () => {
    const open = await newServer();
    const other = libsqlStore(open(), { migrate: true });
    for (const id of ["a", "b"]) await other.create(permitted(id, "x"));
    for (const asked of [{}, { workflowId: "b" }, { permit: "x" }]) {
      const client = open();
      let meanwhile: readonly Claim[] = [];
      const store = libsqlStore({
        protocol: client.protocol,
        execute: (statement) => client.execute(statement),
        batch: async (statements, mode) => {
          if (mode === "write") meanwhile = await other.claim({ ...lease, limit: 1, workflowId: "a" });
          return client.batch(statements, mode);
        },
      });
      expect(await store.claim({ ...lease, limit: 1, ...asked })).toEqual([]);
      expect(meanwhile.map(({ workflowId }) => workflowId)).toEqual(["a"]);
      await other.release(meanwhile[0]!, 0);
    }
  });

  it("gives each key its turn behind many that wait for one", async () => {
    await expectEachKeyItsTurn(libsqlStore((await newServer())(), { migrate: true }));
  });

  it("never holds more than may be, however many claim over several clients", async () => {
    const open = await newServer();
    const first = libsqlStore(open(), { migrate: true });
    await first.load("a");
    await expectLimits([first, libsqlStore(open()), libsqlStore(open())]);
  });

  it("costs no request where no execution has a permit, and few where some have", async () => {
    const store = libsqlStore(connect(), { migrate: true });
    await store.load("a");
    const claim = (limit: number) => counted(() => store.claim({ ...lease, limit }));
    expect(await claim(10)).toBe(1);
    await store.create(startCommit("a"));
    // one request reads the due executions, the other one claims
    expect(await claim(1)).toBe(2);
    await store.create(permitted("c", "x"));
    await store.create(permitted("d", "x"));
    const first = await claim(1);
    const none = await claim(10);
    const byId = await counted(() => store.claim({ ...lease, limit: 1, workflowId: "d" }));
    const byKey = await counted(() => store.claim({ ...lease, limit: 1, permit: "x" }));
    expect([first, none, byId, byKey]).toEqual([7, 6, 4, 4]);
    await store.create(startCommit("b"));
  });
});
