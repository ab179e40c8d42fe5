import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { openInside, planOf } from "./open-inside.fixture.ts";
import { expectEachKeyItsTurn, expectLimits, expectNoReturn, permitted } from "./permits.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const lease = { owner: "worker", leaseMs: 60_000 };

describe("permits in SQLite", () => {
  it("lets nobody back whose place was given to another one", async () => {
    let now = 1_000_000;
    const store = sqliteStore(":memory:", { now: () => now });
    await expectNoReturn(store, async (durationMs) => {
      now += durationMs;
    });
    await store.close();
  });

  it("gives each key its turn behind many that wait for one", async () => {
    const store = sqliteStore(":memory:");
    await expectEachKeyItsTurn(store);
    await store.close();
  });

  it("never holds more than may be, however many claim over several connections", async () => {
    const stores = [0, 1, 2].map(() => sqliteStore(join(folder, "limits.db"), { synchronous: "NORMAL" }));
    await expectLimits(stores);
    for (const store of stores) await store.close();
  });
});

describe("what permits cost in SQLite", () => {
  const kindsOf = (statements: readonly { readonly text: string }[]): string[] =>
    statements.map(({ text }) => text.trim().split(/\s+/)[0]!);

  it("is no statement more where no execution has one", async () => {
    const { store, statements } = openInside(":memory:");
    expect(await store.claim({ ...lease, limit: 10 })).toEqual([]);
    // one SELECT reads the due executions, and whether an execution with a permit is due
    expect(kindsOf(statements)).toEqual(["SELECT"]);
    await store.create(startCommit("a"));
    statements.length = 0;
    expect(await store.claim({ ...lease, limit: 1 })).toHaveLength(1);
    expect(kindsOf(statements)).toEqual(["SELECT", "BEGIN", "UPDATE", "COMMIT"]);
    await store.close();
  });

  it("is little where thousands wait for one key and thousands of keys sleep", async () => {
    const { store, db, statements } = openInside(":memory:");
    await store.create(permitted("held", "k"));
    await store.claim({ ...lease, limit: 1 });
    db.exec(`
      INSERT INTO executions (id, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes, fence, crashes,
        created_at, updated_at, wake_at, due_at, permit_key, permit_limit, exempt_at)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 40000)
      SELECT 'id-' || n, 'i', 'd', '{}', '{}', '[]', 0, 'paused', '{}', 2, 0, 0, n, n, n, iif(n % 2, n, 9e14), iif(n % 2, 'k', 'key-' || n), 1,
        iif(n % 3, 9e14, NULL)
      FROM numbers`);
    await store.create(permitted("free", "key-"));
    statements.length = 0;
    expect((await store.claim({ ...lease, limit: 1 })).map(({ workflowId }) => workflowId)).toEqual(["free"]);
    expect(statements.length).toBeLessThanOrEqual(30);
    for (const statement of statements.filter(({ text }) => text.includes("permit_key"))) {
      expect(planOf(db, statement)).not.toMatch(/SCAN executions/);
    }
    await store.close();
  });

  it("is no index that a step writes, also with a deadline, unless the deadline or the messages change", async () => {
    const { store, statements } = openInside(":memory:");
    const deadline = { permit: { key: "k", limit: 1 }, deadlineAt: 2_000_000 };
    const first = startCommit("a", { head: deadline });
    await store.create(first);
    const { fence } = (await store.claim({ ...lease, limit: 1 }))[0]!;
    const updatesOf = async (commit: Commit): Promise<string[]> => {
      statements.length = 0;
      await store.commit(commit);
      return statements.flatMap(({ text }) => /^UPDATE executions SET (.*) WHERE/.exec(text)?.[1] ?? []);
    };
    const step = stepCommit(first, { fence });
    const indexed = /\b(exempt_at|due_at|status|permit_key|ended_at) =/;
    expect(await updatesOf(step)).toEqual([expect.not.stringMatching(indexed)]);
    const later = stepCommit(step, { fence, head: { ...deadline, deadlineAt: 3_000_000 } });
    expect(await updatesOf(later)).toEqual([expect.not.stringMatching(indexed), expect.stringMatching(/exempt_at = \?/)]);
    const never = stepCommit(later, { fence, head: { deadlineAt: undefined } });
    expect(await updatesOf(never)).toEqual([expect.not.stringMatching(indexed), expect.stringMatching(/exempt_at = \?/)]);
    expect(await updatesOf(stepCommit(never, { fence }))).toEqual([expect.not.stringMatching(indexed)]);
    await store.close();
  });
});
