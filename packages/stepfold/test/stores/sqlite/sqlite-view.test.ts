import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { showsEveryVersion, showsPresentRun, showsWhatLoadGives, type ViewRow } from "../view-cases.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

describe("the view workflow_executions", () => {
  it("shows what load gives, and can be asked about status, metadata and context", async () => {
    const path = newPath();
    const store = sqliteStore(path);
    const db = new DatabaseSync(path);
    const rows = async (): Promise<readonly ViewRow[]> => db.prepare("SELECT * FROM workflow_executions").all() as unknown as ViewRow[];
    const outputs = [null, [], { deep: [{ x: 0.1 }] }, "text \u0000", 2 ** 53, true];
    await showsWhatLoadGives(store, { message: 'no "luck" \u0000 😀', outputs, rows });
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
    await showsEveryVersion(store, async (id) => one.get(id)!.snapshot as string);
    const all = db.prepare("SELECT id FROM workflow_executions WHERE snapshot -> '$.compensations' IS NOT NULL").all();
    expect(all.length).toBeGreaterThan(0);
    db.close();
    await store.close();
  });

  it("shows the present run of an execution that has gone on", async () => {
    const path = newPath();
    const store = sqliteStore(path);
    const db = new DatabaseSync(path);
    const one = db.prepare("SELECT snapshot FROM workflow_executions WHERE id = ?");
    await showsPresentRun(store, async (id) => one.get(id)!.snapshot as string);
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
