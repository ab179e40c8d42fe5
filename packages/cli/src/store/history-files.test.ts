import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "stepfold";
import type { EndedExecution } from "stepfold/runtime";
import { describe, expect, it, onTestFinished } from "vitest";
import { historyFiles, historyText } from "./history-files.ts";

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-histories-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function execution(workflowId: string, more: object = {}): EndedExecution {
  const event = { type: "started", at: 1, version: 0, workflowId, ...more } as unknown as Event;
  const summary = {
    incarnation: "i",
    status: "completed",
    currentNodeId: null,
    waiting: null,
    error: null,
    steps: 1,
    sizeBytes: 2,
    version: 0,
    metadata: {},
    createdAt: 1,
    updatedAt: 2,
    wakeAt: null,
    lease: null,
  } as const;
  return { ...summary, workflowId, definition: { id: "one", hash: "h" }, events: [{ version: 0, commitId: "c", event }] };
}

describe("files of histories", () => {
  it("hold a line that says whose it is, and a line for each event", async () => {
    const folder = join(folderOf(), "made", "for it");
    const keep = await historyFiles(folder);
    const text = "a\nb\u2028c";
    await keep(execution("order-1", { input: text }));
    const lines = readFileSync(join(folder, "order-1.ndjson"), "utf8").split("\n");
    expect(lines.length).toBe(3);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      type: "execution",
      workflowId: "order-1",
      definition: { id: "one" },
      status: "completed",
    });
    expect(JSON.parse(lines[1]!)).toMatchObject({ type: "started", input: text });
    expect(lines[2]).toBe("");
  });

  it("are one for each id, inside of the folder, whatever ids look like", async () => {
    const around = folderOf();
    const folder = join(around, "inside");
    const keep = await historyFiles(folder);
    const ids = [
      "../x",
      "..",
      "/etc/passwd",
      "Order",
      "order",
      "ORDER",
      "é",
      "e\u0301",
      "x".repeat(1000),
      `${"x".repeat(999)}y`,
      "a/b",
      "a\\b",
      "",
      ".hidden",
    ];
    for (const id of ids) await keep(execution(id));
    expect(readdirSync(around)).toEqual(["inside"]);
    const files = readdirSync(folder);
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(ids.length);
    const kept = files.map((file) => JSON.parse(readFileSync(join(folder, file), "utf8").split("\n")[0]!).workflowId as string);
    expect(kept.sort()).toEqual(ids.toSorted());
  });

  it("stay as they are when the same history comes again, and are never written over by another one of the same id", async () => {
    const folder = folderOf();
    const keep = await historyFiles(folder);
    for (const input of ["first", "first", "second", "first", "second"]) await keep(execution("a", { input }));
    expect(readdirSync(folder).sort()).toEqual(["a.ndjson", "a~2.ndjson"]);
    expect(readFileSync(join(folder, "a.ndjson"), "utf8")).toBe(historyText(execution("a", { input: "first" })));
    expect(readFileSync(join(folder, "a~2.ndjson"), "utf8")).toBe(historyText(execution("a", { input: "second" })));
  });

  it("leave nothing half behind, and do not trust what a crash left", async () => {
    const folder = folderOf();
    writeFileSync(join(folder, ".writing-1"), '{"type":"exec');
    const keep = await historyFiles(folder);
    await Promise.all(Array.from({ length: 8 }, () => keep(execution("a"))));
    expect(readdirSync(folder).sort()).toEqual([".writing-1", "a.ndjson"]);
    rmSync(folder, { recursive: true });
    await expect(keep(execution("b"))).rejects.toMatchObject({
      code: "FOLDER_UNUSABLE",
      hint: expect.stringContaining("No execution was deleted without"),
    });
  });

  it("are refused where the folder is a file", async () => {
    const file = join(folderOf(), "file");
    writeFileSync(file, "");
    await expect(historyFiles(file)).rejects.toMatchObject({ code: "FOLDER_UNUSABLE" });
  });
});
