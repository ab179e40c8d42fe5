import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Asked } from "./object-worker.ts";
import { openWorkerd } from "./workerd.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-objects-"));
let workerd: Miniflare;

/** Opens workerd on the data of the workerd before it. */
function open(hangs: boolean): Promise<Miniflare> {
  return openWorkerd(fileURLToPath(new URL("object-worker.ts", import.meta.url)), {
    durableObjects: { OBJECTS: { className: "OneObject", useSQLite: true } },
    durableObjectsPersist: folder,
    bindings: { HANGS: hangs },
  });
}

beforeAll(async () => {
  workerd = await open(false);
});
afterAll(async () => {
  await workerd.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(path: string, asked: Asked = {}): Promise<Record<string, number> & { readonly status: string }> {
  const response = await workerd.dispatchFetch(`http://worker/${path}`, { method: "POST", body: JSON.stringify(asked) });
  return (await response.json()) as Record<string, number> & { readonly status: string };
}

/** Waits until an execution of an object has ended. */
async function ended(object: string, workflowId = "one"): Promise<void> {
  while ((await ask(`${object}/show`, { workflowId })).status !== "completed") await sleep(50);
}

describe("the alarm of an object", () => {
  it("is set to the time at which the first of its executions is due, and not set again by what comes later", async () => {
    await ask("earliest/start", { workflowId: "late", input: "2h" });
    await sleep(300);
    const late = await ask("earliest/show");
    expect(late.alarm! - late.now!).toBeGreaterThan(7_000_000);
    await ask("earliest/start", { workflowId: "early", input: "1h" });
    await sleep(300);
    const early = await ask("earliest/show");
    expect(early.alarm! - early.now!).toBeGreaterThan(3_500_000);
    expect(early.alarm! - early.now!).toBeLessThanOrEqual(3_600_000);
  });

  it("does not ring again and again while nothing is due", async () => {
    await ask("quiet/start", { input: "1h" });
    await sleep(1_000);
    const { rings } = await ask("quiet/show");
    // the alarm rings for the start, and once more for the writes of that sweep
    expect(rings).toBeLessThanOrEqual(2);
    await sleep(500);
    expect((await ask("quiet/show")).rings).toBe(rings);
  });

  it("is set to what comes next after it has rung in vain", async () => {
    await ask("vain/start", { workflowId: "first", input: "500ms" });
    await ask("vain/start", { workflowId: "second", input: "1500ms" });
    await ask("vain/cancel", { workflowId: "first" });
    await sleep(2_500);
    expect((await ask("vain/show", { workflowId: "second" })).status).toBe("completed");
  });

  it("rings for an execution that waits for its turn, when the one before it has ended", async () => {
    for (const workflowId of ["a", "b", "c"]) await ask("turns/start", { workflow: "turn", workflowId, input: "key" });
    for (const workflowId of ["a", "b", "c"]) await ended("turns", workflowId);
  });

  it("takes over what was under way when workerd was killed, at the end of its lease, though nobody asks", async () => {
    await workerd.dispose();
    workerd = await open(true);
    await ask("killed/start", { workflow: "slow" });
    await sleep(500);
    expect((await ask("killed/show")).status).toBe("active");
    await workerd.dispose();
    workerd = await open(false);
    await sleep(3_000);
    expect((await ask("killed/show")).status).toBe("completed");
  });
});

describe("a store in a Durable Object", () => {
  it("reads and counts in statements that the object takes, however much is asked for", async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `id-${index}`);
    await Promise.all(ids.map((workflowId) => ask("many/start", { workflowId, input: "1h" })));
    expect(await ask("many/summaries", { input: ids })).toBe(150);
    const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-${index}`, index]));
    expect(await ask("many/count", { input: { metadata } })).toMatchObject({ complete: true });
  });

  it("shows an execution as one JSON document in a view", async () => {
    await ask("view/start", { input: "50ms" });
    await ended("view");
    const [row] = (await ask("view/sql", { sql: "SELECT id, status, snapshot FROM workflow_executions" })) as unknown as Record<
      string,
      string
    >[];
    expect(row).toMatchObject({ id: "one", status: "completed" });
    expect(JSON.parse(row!.snapshot!)).toMatchObject({ workflowId: "one", context: { wait: [{ version: expect.any(Number) }] } });
  });

  it("leaves tables alone that another version made", async () => {
    await ask("other/sql", { sql: "CREATE VIEW stepfold_layout_999 AS SELECT 999 AS layout" });
    expect(await ask("other/show")).toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("it has layout 999") });
  });
});
