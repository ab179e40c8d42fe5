import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import { startCommit } from "../../../src/testing/index.ts";
import { methodsOf, useTable } from "./dynamo-bench.fixture.ts";

const url = await serviceUrlOrSkip("dynamodb");
const local = useTable(url);
const lease = { owner: "worker", leaseMs: 1_000 };

/** Opens a store on a clock that the test sets, and records the calls of the store. */
async function opened(prefix: string) {
  const { client, table } = await local();
  const document = DynamoDBDocument.from(client);
  const clock = { now: 1_000_000 };
  const calls: string[] = [];
  const counting = new Proxy(methodsOf(document), {
    get(methods, name) {
      calls.push(String(name));
      return methods[name as keyof typeof methods];
    },
  });
  return { store: dynamoStore(counting, { table, prefix, now: () => clock.now }), clock, calls };
}

describe.skipIf(url === null)("a claim in DynamoDB", () => {
  it("of one whose holder was lost takes as many calls as any other", async () => {
    const { store, clock, calls } = await opened("lost");
    await store.create(startCommit("a"));
    const made: (readonly string[])[] = [];
    for (const workflowId of ["a", "a", undefined, undefined]) {
      calls.length = 0;
      // the claim leaves room, so that it passes over no executions and the next claim need not prefer any
      const [claimed] = await store.claim({ ...lease, limit: 2, ...(workflowId && { workflowId }) });
      expect(claimed?.expired).toBe(made.length);
      made.push([...calls]);
      clock.now += 1_001;
    }
    expect(made[1]).toEqual(made[0]);
    expect(made[0]).toEqual(["batchGet", "update"]);
    expect(made[3]).toEqual(made[2]);
  });

  it("of what is overdue neither takes nor writes what has just become due", async () => {
    const { store, clock, calls } = await opened("fresh");
    await store.create(startCommit("old"));
    await store.create(startCommit("timer", { status: "paused", wakeAt: clock.now + 1_000 }));
    clock.now += 62_000;
    for (let index = 0; index < 40; index++) await store.create(startCommit(`id-${index}`));
    calls.length = 0;
    const claimed = await store.claim({ ...lease, limit: 50, overdueMs: 60_000 });
    expect(claimed.map(({ workflowId }) => workflowId)).toEqual(["old", "timer"]);
    expect(calls.filter((name) => name === "update")).toHaveLength(2);
  });
});
