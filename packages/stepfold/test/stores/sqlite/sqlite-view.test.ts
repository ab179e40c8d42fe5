import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { engineCommits } from "../engine-commits.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

describe("the view workflow_executions", () => {
  it("shows what load gives, and can be asked about status, metadata and context", async () => {
    const path = newPath();
    const store = sqliteStore(path);
    const error = { name: "Error", message: 'no "luck" \u0000 😀' };
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
      for (const output of [null, [], { deep: [{ x: 0.1 }] }, "text \u0000", 2 ** 53, true]) {
        last = stepCommit(last, { output, nodeId: index % 2 ? "x" : "step" });
        await store.commit(last);
      }
      for (const event of kinds) {
        last = stepCommit(last, { event });
        await store.commit(last);
      }
    }
    await store.create(startCommit("bare", { status: "completed" }));

    const db = new DatabaseSync(path);
    const rows = db.prepare("SELECT * FROM workflow_executions").all();
    expect(rows.length).toBe(inputs.length + 1);
    for (const row of rows) {
      const loaded = (await store.load(row.id as string))!;
      const shown = JSON.parse(row.snapshot as string);
      expect(shown).toEqual(loaded);
      expect(JSON.stringify([shown.input, shown.metadata, shown.context])).toBe(
        JSON.stringify([loaded.input, loaded.metadata, loaded.context]),
      );
      expect([row.status, row.version]).toEqual([loaded.status, loaded.version]);
    }
    const asked = db.prepare(`
      SELECT id FROM workflow_executions
      WHERE status = 'active' AND snapshot ->> '$.metadata.index' = 2 AND snapshot ->> '$.context.step[2].output.deep[0].x' = 0.1`);
    expect(asked.all()).toEqual([{ id: 'id "2"' }]);
    db.close();
    await store.close();
  });

  it("shows children, items of maps and compensations as load does, at every version", async () => {
    const path = newPath();
    const store = sqliteStore(path, { synchronous: "NORMAL" });
    const db = new DatabaseSync(path);
    const one = db.prepare("SELECT * FROM workflow_executions WHERE id = ?");
    const seen = { nested: 0, kept: 0, items: 0, open: 0, draining: 0, undone: 0 };
    for (let seed = 0; seed < 60; seed++) {
      const id = `id-${seed}`;
      for (const commit of engineCommits(id, seed)) {
        await (commit.expectedVersion < 0 ? store.create(commit) : store.commit(commit));
        const loaded = (await store.load(id))!;
        const shown = JSON.parse(one.get(id)!.snapshot as string) as Snapshot;
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
    const all = db.prepare("SELECT id FROM workflow_executions WHERE snapshot -> '$.mapItems' IS NOT NULL").all();
    expect(all.length).toBeGreaterThan(0);
    db.close();
    await store.close();
  });

  it("reads nothing of other executions when it is asked for one", async () => {
    const path = newPath();
    const store = sqliteStore(path);
    const db = new DatabaseSync(path);
    const plan = db.prepare("EXPLAIN QUERY PLAN SELECT * FROM workflow_executions WHERE id = ?").all("a");
    const tables = plan.map(({ detail }) => detail as string).filter((detail) => /^SCAN (events|children|executions)/.test(detail));
    expect(tables).toEqual([]);
    db.close();
    await store.close();
  });
});
