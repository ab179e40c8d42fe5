import { describe, expect, it } from "vitest";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { keys } from "./toy-schema.fixture.ts";
import { ToyServer } from "./toy-server.fixture.ts";
import { toyStore } from "./toy-store.fixture.ts";

contractOf("toy", {
  bench: async () => {
    const server = new ToyServer();
    const open = async () => toyStore(server, 1000);
    const damage = async (id: string): Promise<void> => {
      const { value } = (await server.get(keys.row(id)))!;
      await server.commit({ checks: [], puts: [{ key: keys.row(id), value: JSON.stringify({ ...JSON.parse(value), head: "{" }) }] });
    };
    return { store: await open(), retentionMs: 1000, open, advance: async (durationMs) => server.advance(durationMs), damage };
  },
});

describe("a store written as CONTRIBUTING says", () => {
  it("is unavailable while its server does not answer, has written nothing then, and goes on afterwards", async () => {
    const server = new ToyServer();
    const store = toyStore(server);
    const first = startCommit("a");
    await store.create(first);
    server.loseConnection(2);
    await expect(store.commit(stepCommit(first))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", cause: { code: "ECONNREFUSED" } });
    expect((await store.load("a"))?.version).toBe(0);
    await store.commit(stepCommit(first));
    expect((await store.load("a"))?.version).toBe(1);
    await store.close();
  });
});
