import { afterAll, describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { engineCommits } from "../engine-commits.fixture.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(4);
const schemas: string[] = [];
const freshSchema = (): string => {
  schemas.push(newSchema());
  return schemas.at(-1)!;
};
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

/** As the server writes it: what a driver makes of JSON is no matter here. */
async function shownIn(schema: string, id?: string): Promise<{ id: string; snapshot: string; status: string; version: number }[]> {
  const where = id === undefined ? "" : "WHERE id = $1";
  const text = `SELECT id, snapshot::text, status, version::int FROM "${schema}".workflow_executions ${where} ORDER BY id`;
  return (await pool.query(text, id === undefined ? [] : [id])).rows;
}

describe.skipIf(url === null)("PostgreSQL: the view workflow_executions", () => {
  it("shows what load gives, and can be asked about status, metadata and context", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    const error = { name: "Error", message: 'no "luck" \u0000 😀 C:\\users\\u0000' };
    const step = { pathId: "0", nodeId: "toString", attempt: 2, at: 5 };
    const kinds: ((version: number) => Event)[] = [
      (version) => ({ ...step, version, turn: 1, startedAt: 4, type: "failed", error, retryAt: 9 }),
      (version) => ({ version, at: 5, type: "retried", pathId: "0" }),
      (version) => ({ ...step, version, turn: 1, startedAt: 4, type: "failed", error, retryAt: null, handle: "error" }),
      (version) => ({ ...step, version, type: "timedOut", waitId: "0@1", error, handle: "timeout" }),
      (version) => ({ version, at: 5, type: "cancelled" }),
    ];
    const inputs = [undefined, null, { zebra: [], apple: null, text: "\u0000\\'\"" }, "text", 1e21, false];
    for (const [index, input] of inputs.entries()) {
      let last = startCommit(`id "${index}"`, { ...(input === undefined ? {} : { input }), metadata: { index, "a.b": null } });
      await store.create(last);
      for (const output of [null, [], { deep: [{ x: 0.1 }] }, "text \u0000 \ud800 \\u0000 \\\\u", 2 ** 53, true]) {
        last = stepCommit(last, { output, nodeId: index % 2 ? "x" : "step" });
        await store.commit(last);
      }
      for (const event of kinds) {
        last = stepCommit(last, { event });
        await store.commit(last);
      }
    }
    await store.create(startCommit("bare", { status: "completed" }));

    const rows = await shownIn(schema);
    expect(rows.length).toBe(inputs.length + 1);
    for (const row of rows) {
      const loaded = (await store.load(row.id))!;
      const shown = JSON.parse(row.snapshot) as Snapshot;
      expect(shown).toEqual(loaded);
      expect(JSON.stringify([shown.input, shown.metadata, shown.context])).toBe(
        JSON.stringify([loaded.input, loaded.metadata, loaded.context]),
      );
      expect([row.status, row.version]).toEqual([loaded.status, loaded.version]);
    }
  });

  it("can be asked by SQL about status, metadata and context", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    for (const customer of ["Ada", "Bob"]) {
      const first = startCommit(`order of ${customer}`, { metadata: { customer, paid: customer === "Ada" } });
      await store.create(first);
      await store.commit(stepCommit(first, { output: { deep: [{ x: 0.1 }] }, status: "paused" }));
    }
    const asked = await pool.query(`
      SELECT id FROM "${schema}".workflow_executions
      WHERE status = 'paused' AND snapshot -> 'metadata' ->> 'customer' = 'Bob'
        AND (snapshot #>> '{context,step,0,output,deep,0,x}')::float8 = 0.1`);
    expect(asked.rows).toEqual([{ id: "order of Bob" }]);
    const times = await pool.query(`SELECT created_at <= updated_at AS ordered FROM "${schema}".workflow_executions`);
    expect(times.rows).toEqual([{ ordered: true }, { ordered: true }]);
  });

  it("shows children, items of maps and compensations as load does, at every version", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    const seen = { nested: 0, kept: 0, items: 0, open: 0, draining: 0, undone: 0 };
    for (let seed = 0; seed < 60; seed++) {
      const id = `id-${seed}`;
      for (const commit of engineCommits(id, seed)) {
        await (commit.expectedVersion < 0 ? store.create(commit) : store.commit(commit));
        const loaded = (await store.load(id))!;
        const [row] = await shownIn(schema, id);
        const shown = JSON.parse(row!.snapshot) as Snapshot;
        expect(shown).toEqual(loaded);
        for (const part of ["context", "mapItems"] as const) expect(JSON.stringify(shown[part])).toBe(JSON.stringify(loaded[part]));
        const { childStates = {}, activePaths, mapItems, compensations } = loaded;
        expect(Object.keys(shown.childStates ?? {})).toEqual(Object.keys(childStates));
        seen.nested += Number(Object.keys(childStates).some((key) => key.includes(">")));
        seen.kept += Number(Object.values(childStates).some(({ kept }) => kept));
        seen.items += Number(mapItems !== undefined);
        seen.open += Number(activePaths.some(({ children }) => children?.map?.open));
        seen.draining += Number(activePaths.some(({ draining }) => draining));
        seen.undone += Number(compensations !== undefined);
      }
    }
    for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(3);
  });

  it("reads nothing of other executions when it is asked for one", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await Promise.all(Array.from({ length: 2000 }, (_, index) => store.create(startCommit(`id-${index}`))));
    await pool.query(`ANALYZE "${schema}".executions`);
    await pool.query(`ANALYZE "${schema}".events`);
    const { rows } = await pool.query(`EXPLAIN SELECT * FROM "${schema}".workflow_executions WHERE id = 'id-5'`);
    const scans = rows.map((row) => row["QUERY PLAN"] as string).filter((line) => /Seq Scan on (executions|events)/.test(line));
    expect(scans).toEqual([]);
  });

  it("shows nothing of what was deleted", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await store.create(startCommit("a", { status: "completed", head: { output: "said \u0000" } }));
    await store.delete("a");
    expect(await shownIn(schema)).toEqual([]);
    const { rows } = await pool.query(`SELECT head::text, metadata::text FROM "${schema}".executions`);
    expect(rows).toEqual([{ head: "{}", metadata: "{}" }]);
  });
});
