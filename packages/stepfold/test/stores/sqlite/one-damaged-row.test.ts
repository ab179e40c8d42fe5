import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { storeFromUrl } from "../../../src/stores/from-url/store-from-url.ts";
import { startCommit } from "../../../src/testing/commit-builder.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepfold-damage-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const damages = [
  "fence = 9007199254740993",
  "version = 9007199254740993",
  "size_bytes = 9223372036854775807",
  "crashes = -9223372036854775808",
  "fence = 'text'",
  "created_at = 9007199254740993",
  "updated_at = 'text'",
  "wake_at = 9007199254740993",
  "trimmed = 9007199254740993",
];

describe.each(["sqlite", "libsql:file"])("a store of %s", (scheme) => {
  it.each(damages)("lets one row stand still, and no other execution, after %s", async (damage) => {
    const file = join(folder, "a.db");
    const store = await storeFromUrl(`${scheme}:${file}`);
    for (const workflowId of ["x", "y", "z"]) await store.create(startCommit(workflowId));
    const db = new DatabaseSync(file);
    db.exec(`UPDATE executions SET ${damage}, due_at = 0 WHERE id = 'x'`);
    db.close();
    const due: string[] = [];
    for (let times = 0; times < 3; times++)
      due.push(...(await store.claim({ owner: "w", leaseMs: 60_000, limit: 1 })).map(({ workflowId }) => workflowId));
    expect(due).toEqual(expect.arrayContaining(["y", "z"]));
    const all = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await store.list({ limit: 1, ...(cursor !== undefined && { cursor }) });
      all.push(...page.items.map(({ workflowId }) => workflowId));
      cursor = page.nextCursor;
    }
    expect(all).toEqual(expect.arrayContaining(["y", "z"]));
    expect((await store.load("y"))?.workflowId).toBe("y");
    for (const workflowId of ["e", "f"]) await store.create(startCommit(workflowId, { status: "failed" }));
    const again = new DatabaseSync(file);
    again.exec(`UPDATE executions SET ${damage} WHERE id = 'e'`);
    again.close();
    await store.prune({ before: Number.MAX_SAFE_INTEGER });
    expect(await store.load("f")).toBeNull();
    await store.close();
  });
});
