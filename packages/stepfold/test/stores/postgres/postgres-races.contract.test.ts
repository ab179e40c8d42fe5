import { afterAll, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { type PostgresClient, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { put } from "../../../src/testing/contract/children/children.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { goOnBesideLock } from "../locked-row.fixture.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(16);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

/** Opens handles on the same data, one for each of some processes. */
function handles(count: number, client: PostgresClient = pool): { schema: string; stores: SnapshotStore[] } {
  const schema = newSchema();
  schemas.push(schema);
  return { schema, stores: Array.from({ length: count }, () => postgresStore(client, { schema, migrate: true })) };
}

const codes = (settled: readonly PromiseSettledResult<unknown>[]): string[] =>
  settled.map((one) => (one.status === "fulfilled" ? "written" : StepfoldError.is(one.reason) ? one.reason.code : String(one.reason)));

describe.skipIf(url === null)("PostgreSQL: races", () => {
  it("makes executions that are started together in one statement, each with what is its own", async () => {
    let sent = 0;
    const { stores, schema } = handles(1);
    const store = stores[0]!;
    await store.list({ limit: 1 });
    const count = (text: string, values?: unknown[]) => {
      sent++;
      return pool.query(text, values);
    };
    const watched = postgresStore({ query: count }, { schema });
    await watched.list({ limit: 1 });
    const taken = startCommit("id-7", { metadata: { group: "before" } });
    await store.create(taken);
    sent = 0;
    const lease = { owner: "worker", leaseMs: 60_000 };
    const commits = Array.from({ length: 60 }, (_, index) =>
      startCommit(`id-${index}`, {
        ...(index % 3 > 0 && { metadata: { group: `g${index % 5}`, index, "odd \u0000 key": null } }),
        ...(index % 4 === 0 && { status: "completed" as const }),
        ...(index % 10 === 0 && { children: [put("0#0/0")] }),
        input: { index, text: "\\ ' \u001e" },
      }),
    );
    const claims = await Promise.allSettled(commits.map((commit, index) => watched.create(commit, index % 2 ? { claim: lease } : {})));
    // the first one is sent alone, then all others together, apart from those with children and those that were refused
    expect(sent).toBeLessThan(15);
    for (const [index, settled] of claims.entries()) {
      if (index === 7) {
        expect(settled).toMatchObject({ status: "rejected", reason: { code: "WORKFLOW_EXISTS" } });
        continue;
      }
      const isHeld = index % 2 === 1 && index % 4 !== 0;
      expect(settled).toMatchObject({ status: "fulfilled", value: isHeld ? { ...lease, workflowId: `id-${index}`, fence: 1 } : null });
      expect(await store.load(`id-${index}`)).toEqual(snapshotAfter(commits[index]!));
    }
    const found = await store.list({ metadata: { group: "g1" }, limit: 100 });
    const wanted = commits.flatMap(({ workflowId, head }, index) => (index !== 7 && head.metadata.group === "g1" ? [workflowId] : []));
    expect(found.items.map(({ workflowId }) => workflowId).sort()).toEqual(wanted.sort());
    // sent again, as after a lost acknowledgement, they get the same claims, and nothing is written twice
    const again = await Promise.allSettled(commits.map((commit, index) => watched.create(commit, index % 2 ? { claim: lease } : {})));
    expect(again.map((one) => (one.status === "fulfilled" ? one.value : null))).toEqual(
      claims.map((one) => (one.status === "fulfilled" ? one.value : null)),
    );
  });

  it("lets exactly one of 8 commits in, 200 times, over two handles", async () => {
    const { stores } = handles(2);
    let last = startCommit("a");
    await stores[0]!.create(last);
    for (let round = 0; round < 200; round++) {
      const commits = Array.from({ length: 8 }, (_, index) => stepCommit(last, { output: index }));
      const settled = await Promise.allSettled(commits.map((commit, index) => stores[index % 2]!.commit(commit)));
      expect(codes(settled).filter((code) => code === "written")).toEqual(["written"]);
      expect(codes(settled).filter((code) => code === "VERSION_CONFLICT").length).toBe(7);
      last = commits[settled.findIndex(({ status }) => status === "fulfilled")]!;
    }
    expect((await stores[0]!.load("a"))?.version).toBe(200);
    expect((await stores[0]!.events("a", -1, 1000)).map(({ version }) => version)).toEqual(
      Array.from({ length: 201 }, (_, version) => version),
    );
  });

  it("gives every commit of racing groups a verdict of its own", async () => {
    const { stores } = handles(3);
    let lasts = Array.from({ length: 40 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(lasts.map((first, index) => stores[index % 3]!.create(first)));
    for (let round = 0; round < 30; round++) {
      // each handle commits to all executions in another order, so that the groups overlap
      const attempts = lasts.map((last) => stores.map((_, handle) => stepCommit(last, { output: handle })));
      const settled = await Promise.all(
        stores.map((store, handle) => {
          const order = handle === 1 ? [...attempts.keys()].reverse() : [...attempts.keys()];
          return Promise.all(
            order.map(async (index) => ({ index, codes: codes(await Promise.allSettled([store.commit(attempts[index]![handle]!)])) })),
          );
        }),
      );
      lasts = attempts.map((commits, index) => {
        const verdicts = settled.map((handle) => handle.find((one) => one.index === index)!.codes[0]!);
        expect([...verdicts].sort()).toEqual(["VERSION_CONFLICT", "VERSION_CONFLICT", "written"]);
        return commits[verdicts.indexOf("written")]!;
      });
    }
    for (const last of lasts) expect((await stores[0]!.load(last.workflowId))?.version).toBe(30);
  });

  it("refuses the damaged and the late in a group, and writes the others", async () => {
    const { stores } = handles(1);
    const [store] = stores as [SnapshotStore];
    const firsts = ["a", "b", "c", "d"].map((id) => startCommit(id, { status: id === "c" ? "completed" : "active" }));
    for (const first of firsts) await store.create(first);
    const [a, b, c, d] = firsts as [(typeof firsts)[0], (typeof firsts)[0], (typeof firsts)[0], (typeof firsts)[0]];
    const moved = stepCommit(b);
    await store.commit(moved);
    const settled = await Promise.allSettled([
      store.commit(stepCommit(a, { output: 1 })),
      store.commit(stepCommit(b)),
      store.commit(moved),
      store.commit(stepCommit(c)),
      store.commit(stepCommit(d, { fence: 7 })),
      store.commit(stepCommit(startCommit("nobody"))),
    ]);
    expect(codes(settled)).toEqual(["written", "VERSION_CONFLICT", "written", "EXECUTION_ENDED", "FENCE_LOST", "VERSION_CONFLICT"]);
    expect(await store.load("a")).toEqual(snapshotAfter(a, stepCommit(a, { output: 1 })));
    expect((await store.load("b"))?.version).toBe(1);
  });

  it("makes one execution of 100 starters, also while it is deleted", async () => {
    const { stores } = handles(2);
    const first = startCommit("a", { status: "completed" });
    await stores[0]!.create(first);
    const starts = Array.from({ length: 100 }, (_, index) => stores[index % 2]!.create(startCommit("a", { input: index })));
    const settled = await Promise.allSettled([stores[0]!.delete("a"), ...starts]);
    expect(codes(settled)).toEqual(["written", ...Array.from({ length: 100 }, () => "WORKFLOW_EXISTS")]);
    expect(await stores[1]!.load("a")).toBe(null);
  });

  it("AUDIT 5: executions go on beside one whose row somebody else has locked", async () => {
    const { schema, stores } = handles(1);
    await goOnBesideLock(stores[0]!, async () => {
      const other = await pool.connect();
      await other.query("BEGIN");
      await other.query(`SELECT 1 FROM "${schema}".executions WHERE id = 'locked' FOR UPDATE`);
      return async () => {
        await other.query("ROLLBACK");
        other.release();
      };
    });
  });

  it("migrates once when many processes begin at once", async () => {
    const { schema, stores } = handles(12);
    await Promise.all(stores.map((store, index) => store.create(startCommit(`id-${index}`))));
    expect((await stores[0]!.list()).items.length).toBe(12);
    const { rows } = await pool.query(`SELECT number FROM "${schema}".layouts ORDER BY number`);
    expect(rows).toEqual([{ number: 3 }]);
  });

  it("sends one statement for commits issued together, and one for a lone one", async () => {
    const sent: string[] = [];
    const counting: PostgresClient = {
      query: (text, values) => {
        sent.push(text);
        return pool.query(text, values);
      },
    };
    const { stores } = handles(1, counting);
    const [store] = stores as [SnapshotStore];
    const firsts = Array.from({ length: 50 }, (_, index) => startCommit(`id-${index}`));
    for (const first of firsts) await store.create(first);
    sent.length = 0;
    await Promise.all(firsts.map((first) => store.commit(stepCommit(first))));
    expect(sent.length).toBe(1);
    await store.commit(stepCommit(stepCommit(firsts[0]!)));
    expect(sent.length).toBe(2);
  });
});
