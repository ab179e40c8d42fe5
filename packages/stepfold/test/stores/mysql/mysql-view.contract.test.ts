import type { RowDataPacket } from "mysql2/promise";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { Event } from "../../../src/core/snapshot/event.ts";
import type { Json } from "../../../src/core/values/json.ts";
import { mysqlStore } from "../../../src/stores/databases/mysql/mysql-store.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { showsPresentRun } from "../view-cases.fixture.ts";
import { mysqlServer } from "./mysql-bench.fixture.ts";

const url = await serviceUrlOrSkip("mariadb");
const server = url === null ? null : await mysqlServer(url);
afterAll(() => server?.close());

interface ViewRow extends RowDataPacket {
  readonly id: string;
  readonly snapshot: string | null;
  readonly status: string;
  readonly version: number;
}

describe.skipIf(!server)("the view of MySQL", () => {
  it("shows what load gives at every version, and can be asked about status, metadata and context", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "view_", migrate: true });
    const error = { name: "Error", message: 'no "luck" \u0000 😀' };
    const step = { pathId: "0", nodeId: "toString", attempt: 2, at: 5 };
    const followed = (version: number, output: Json) => ({ output, timestamp: 5, attempt: 1, pathId: "0.1", version });
    const kinds: ((version: number) => Event)[] = [
      (version) => ({ ...step, version, turn: 1, startedAt: 4, type: "failed", error, retryAt: 9 }),
      (version) => ({ version, at: 5, type: "retried", pathId: "0" }),
      (version) => ({ ...step, version, turn: 1, startedAt: 4, type: "failed", error, retryAt: null, handle: "error" }),
      (version) => ({ ...step, version, type: "timedOut", waitId: "0@1", error, handle: "timeout" }),
      (version) => ({
        ...step,
        ...{ version, turn: 1, startedAt: 4, type: "completed", output: [1] },
        consequences: {
          results: [
            { nodeId: "Step", result: followed(version, { "a b": ["ä", 1e21] }) },
            { nodeId: "step", scope: "0#1", result: followed(version, "of a child") },
            { nodeId: "step ", result: followed(version, null) },
          ],
        },
      }),
      (version) => ({ version, at: 5, type: "cancelled" }),
    ];
    const inputs = [undefined, null, { zebra: [], apple: null, text: "\u0000\\'\"" }, "text", 1e21, false];
    let seen = 0;
    const compare = async (): Promise<void> => {
      const [rows] = await pool.query<ViewRow[]>("SELECT * FROM view_workflow_executions");
      for (const row of rows) {
        const loaded = (await store.load(row.id))!;
        expect(JSON.parse(row.snapshot!)).toEqual(loaded);
        expect(Object.keys(JSON.parse(row.snapshot!).context)).toEqual(Object.keys(loaded.context));
        expect([row.status, row.version]).toEqual([loaded.status, loaded.version]);
        seen++;
      }
    };
    for (const [index, input] of inputs.entries()) {
      let last = startCommit(`id "${index}" \n é`, { ...(input === undefined ? {} : { input }), metadata: { index, "a.b": null } });
      await store.create(last);
      for (const output of [null, [], { deep: [{ x: 0.1 }] }, "text \u0000", 2 ** 53, true]) {
        last = stepCommit(last, { output, nodeId: index % 2 ? 'x"\\' : "step" });
        await store.commit(last);
      }
      for (const event of kinds) {
        last = stepCommit(last, { event });
        await store.commit(last);
        if (index < 2) await compare();
      }
    }
    await store.create(startCommit("bare", { status: "completed" }));
    const waits = [{ kind: "external", nodeId: "ask", responders: ["ada"] }] as const;
    const metadata = { zebra: [1, 2.5], apple: null, "a b": 'no "luck" 😀' };
    await store.create(startCommit("waits", { status: "paused", waits, metadata }));
    await compare();
    expect(seen).toBe(6 * 1 + 6 * 2 + 8);

    const [asked] = await pool.query<ViewRow[]>(`
      SELECT id FROM view_workflow_executions WHERE status = 'active'
      AND JSON_VALUE(snapshot, '$.metadata.index') = 2 AND JSON_VALUE(snapshot, '$.context.step[2].output.deep[0].x') = 0.1`);
    expect(asked.map(({ id }) => id)).toEqual(['id "2" \n é']);
    await store.close();
  });

  it("shows the present run of an execution that has gone on", async () => {
    const pool = server!.pool();
    const store = mysqlStore(pool, { prefix: "view_runs_", migrate: true });
    await showsPresentRun(store, async (id) => {
      const [rows] = await pool.query<ViewRow[]>("SELECT * FROM view_runs_workflow_executions WHERE id = ?", [id]);
      return rows[0]!.snapshot!;
    });
    await store.close();
  });

  it("shows nothing rather than a part of what is too long, too deep, or damaged", async () => {
    const pool = server!.pool({ connectionLimit: 1 });
    const store = mysqlStore(pool, { prefix: "view_parts_", migrate: true });
    const deep = (levels: number): Json => (levels === 0 ? 0 : [deep(levels - 1)]);
    const outputs: Record<string, readonly Json[]> = {
      long: ["x".repeat(3000), "y".repeat(3000)],
      deep: [deep(60)],
      damaged: [1],
      fine: [1],
    };
    for (const [id, values] of Object.entries(outputs)) {
      const first = startCommit(id);
      await store.create(first);
      await store.commit(stepCommit(first, { outputs: values }));
    }
    await pool.query(
      "UPDATE view_parts_events SET event = '{' WHERE version = 1 AND execution = (SELECT seq FROM view_parts_executions WHERE id = 'damaged')",
    );
    const shown = async (): Promise<Record<string, boolean>> => {
      const [rows] = await pool.query<ViewRow[]>("SELECT * FROM view_parts_workflow_executions ORDER BY created_at");
      for (const { id, snapshot } of rows) if (snapshot !== null) expect(JSON.parse(snapshot)).toEqual(await store.load(id));
      return Object.fromEntries(rows.map(({ id, snapshot }) => [id, snapshot !== null]));
    };
    await pool.query("SET SESSION group_concat_max_len = 4096");
    expect(await shown()).toEqual({ long: false, deep: false, damaged: false, fine: true });
    await pool.query("SET SESSION group_concat_max_len = 4294967295");
    expect(await shown()).toEqual({ long: true, deep: false, damaged: false, fine: true });
    await store.close();
  });
});
