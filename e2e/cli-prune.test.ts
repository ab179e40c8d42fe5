import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "stepfold/stores/sqlite";
import { startCommit } from "stepfold/testing";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder, type Place, startCli } from "./cli.ts";

const done = '{"id":"done","nodes":[{"id":"only","type":"set","data":{"a":1}}],"edges":[]}';
const loop = JSON.stringify({
  id: "loop",
  nodes: [
    { id: "enough", type: "if", data: { condition: "{{ input.round >= 3 }}" } },
    { id: "ask", type: "approval" },
    { id: "again", type: "end", data: { continueAs: { input: { round: "{{ input.round + 1 }}" } } } },
  ],
  edges: [
    { source: "enough", target: "ask", sourceHandle: "true" },
    { source: "enough", target: "again", sourceHandle: "false" },
  ],
});
const waiting = '{"id":"waiting","nodes":[{"id":"ask","type":"approval"}],"edges":[]}';

/** Makes a folder with a database in which the executions `ids` have ended and the execution `open` waits. */
async function folderWith(...ids: readonly string[]): Promise<Place> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "done.json"), done);
  writeFileSync(join(cwd, "waiting.json"), waiting);
  for (const id of ids) expect(await cli(["run", "done.json", "--id", id], { cwd })).toMatchObject({ code: 0 });
  await cli(["run", "waiting.json", "--id", "open"], { cwd });
  return { cwd };
}

async function idsIn(place: Place): Promise<string[]> {
  const [page] = jsonLines((await cli(["ls", "--json"], place)).stdout);
  return (page!.items as { workflowId: string }[]).map(({ workflowId }) => workflowId).sort();
}

describe("stepfold prune", () => {
  it("counts, then deletes what has ended, and leaves the rest", async () => {
    const place = await folderWith("a", "b");
    const count = await cli(["prune", "--before", "0ms", "--dry-run"], place);
    expect(count).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/^2 executions with \d+ events would be deleted from /),
    });
    expect(await cli(["prune", "--before", "30d"], place)).toMatchObject({ code: 0, stdout: "No such executions in .stepfold/dev.db\n" });
    expect(await idsIn(place)).toEqual(["a", "b", "open"]);
    const pruned = await cli(["prune", "--before", "0ms"], place);
    expect(pruned).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✔ 2 executions with \d+ events deleted from .stepfold\/dev.db\n$/),
    });
    expect(await idsIn(place)).toEqual(["open"]);
  });

  it("keeps each history in a file of its own before it deletes it", async () => {
    const place = await folderWith("../a", "A");
    const shown = jsonLines((await cli(["show", "A", "--events", "--json"], place)).stdout)[0]!;
    const pruned = await cli(["prune", "--before", "0ms", "--keep-events", "kept/here"], place);
    expect(pruned).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/^✔ 2 executions .*; their histories are in kept\/here\n$/),
    });
    const folder = join(place.cwd, "kept", "here");
    expect(readdirSync(folder).sort()).toEqual(["%2e%2e%2fa.ndjson", "%41.ndjson"]);
    const [head, ...events] = jsonLines(readFileSync(join(folder, "%41.ndjson"), "utf8"));
    expect(head).toMatchObject({
      type: "execution",
      workflowId: "A",
      definition: shown.definition,
      status: "completed",
      version: shown.version,
    });
    expect(events).toEqual(shown.events);
    expect(await idsIn(place)).toEqual(["open"]);
  });

  it("deletes nothing whose history cannot be kept", async () => {
    const place = await folderWith("a");
    writeFileSync(join(place.cwd, "file"), "");
    const refused = await cli(["prune", "--before", "0ms", "--keep-events", "file"], place);
    expect(refused).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^error FOLDER_UNUSABLE: Histories cannot be kept in file: /),
    });
    expect(await idsIn(place)).toEqual(["a", "open"]);
  });

  it("killed at any moment, loses no history, and the next one keeps none twice", async () => {
    const cwd = newFolder();
    const path = join(cwd, "app.db");
    const store = sqliteStore(path, { synchronous: "NORMAL" });
    const all = Array.from({ length: 60 }, (_, index) => `id-${index}`);
    for (const id of all) await store.create(startCommit(id, { status: "completed" }));
    const args = ["prune", "--before", "0ms", "--store", "app.db", "--keep-events", "kept"];
    const folder = join(cwd, "kept");
    const files = () => (existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".")) : []);
    for (let round = 1; round <= 3; round++) {
      const running = startCli(args, { cwd });
      while (files().length < round * 10 && running.child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
      running.child.kill("SIGKILL");
      await running.ended;
      const left = (await store.list({ limit: 1000 })).items.map(({ workflowId }) => workflowId);
      expect([...new Set([...left, ...files().map((name) => name.replace(".ndjson", ""))])].sort()).toEqual(all.toSorted());
    }
    expect(await cli(args, { cwd })).toMatchObject({ code: 0 });
    expect(files().sort()).toEqual(all.map((id) => `${id}.ndjson`).sort());
    expect((await store.list()).items).toEqual([]);
    await store.close();
  });

  it("goes by workflow and status, and tells it as JSON", async () => {
    const place = await folderWith("a");
    await cli(["cancel", "open"], place);
    const told = async (...args: readonly string[]) =>
      jsonLines((await cli(["prune", "--before", "0ms", "--json", ...args], place)).stdout);
    expect(await told("--workflow", "other")).toEqual([
      { type: "pruned", store: ".stepfold/dev.db", executions: 0, events: 0, earlierRuns: { executions: 0, events: 0 }, dryRun: false },
    ]);
    expect(await told("--status", "failed,cancelled", "--dry-run")).toMatchObject([{ executions: 1, dryRun: true }]);
    expect(await told("--status", "cancelled", "failed")).toMatchObject([{ executions: 1, dryRun: false }]);
    expect(await idsIn(place)).toEqual(["a"]);
    expect(await told("--workflow", "done", "--status", "completed")).toMatchObject([{ executions: 1 }]);
    expect(await idsIn(place)).toEqual([]);
  });

  it("deletes the events of earlier runs of an execution that goes on, and keeps them in a file", async () => {
    const place = { cwd: newFolder() };
    writeFileSync(join(place.cwd, "loop.json"), loop);
    expect(await cli(["run", "loop.json", "--id", "loop", "--input", '{"round":1}'], place)).toMatchObject({ stderr: "" });
    const shown = async () => jsonLines((await cli(["show", "loop", "--events", "--json"], place)).stdout)[0]!;
    const before = await shown();
    const counted = await cli(["prune", "--before", "0ms", "--dry-run"], place);
    expect(counted.stdout).toMatch(/^[0-9]+ events of earlier runs of 1 execution would be deleted from /);
    expect(await shown()).toEqual(before);
    const pruned = await cli(["prune", "--before", "0ms", "--keep-events", "kept"], place);
    expect(pruned.stdout).toMatch(/^✔ [0-9]+ events of earlier runs of 1 execution deleted from .*; its history is in kept\n$/);
    const { events, ...after } = await shown();
    expect({ ...after, events: before.events }).toEqual(before);
    const [head, ...kept] = jsonLines(readFileSync(join(place.cwd, "kept", "loop.ndjson"), "utf8"));
    expect(head).toMatchObject({ type: "execution", workflowId: "loop", beforeRun: 3 });
    expect([...kept, ...(events as object[]).slice(1)]).toEqual(before.events);
    expect((await cli(["prune", "--before", "0ms"], place)).stdout).toBe("No such executions in .stepfold/dev.db\n");
    expect((await cli(["doctor", "--quick"], place)).code).toBe(0);
  });

  it("says what it was not given", async () => {
    const place = { cwd: newFolder() };
    for (const [args, says] of [
      [[], /^error USAGE: .*--before/],
      [["--before", "yesterday"], /^error USAGE: --before must be how long ago, such as 30d/],
      [["--before", "30"], /^error USAGE: --before "30" has no unit/],
      [
        ["--before", "30d", "--status", "active"],
        /^error USAGE: "active" is not a status of an ended execution\nOne or more of: completed/,
      ],
      [["--before", "30d"], /^error DATABASE_NOT_FOUND/],
    ] as const) {
      const { code, stderr } = await cli(["prune", ...args], place);
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringMatching(says) });
    }
    expect(existsSync(join(place.cwd, ".stepfold"))).toBe(false);
  });
});
