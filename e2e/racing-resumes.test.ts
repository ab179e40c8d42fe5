import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeDefinitions, racingWorkflow } from "./racing-nodes.ts";

const rounds = 1_000;
const script = new URL("./racing-resumes.ts", import.meta.url);

let folder = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepfold-race-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** What the process says next. */
function heard(child: ChildProcess): Promise<string[]> {
  return new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message as string[]));
    child.setMaxListeners(0).once("exit", (code) => reject(new Error(`a racer ended with code ${code}`)));
  });
}

describe("eight handles on one SQLite file that answer one wait at once", () => {
  it.each([
    { processes: 1, handles: 8 },
    { processes: 4, handles: 2 },
  ])("apply exactly one answer in each of 1,000 rounds, with $handles handles in $processes process(es)", async ({
    processes,
    handles,
  }) => {
    const path = join(folder, "race.db");
    const log = join(folder, "race.log");
    const store = sqliteStore(path);
    const runtime = createRuntime({
      store,
      nodeDefinitions: nodeDefinitions(log),
      workflows: [racingWorkflow],
      pollMs: 50,
      maxExecutions: 200,
    });
    const ids = Array.from({ length: rounds }, (_, i) => `round-${i}`);
    for (let i = 0; i < rounds; i += 100) {
      const runs = await Promise.all(ids.slice(i, i + 100).map((workflowId) => runtime.start("race", { workflowId })));
      await Promise.all(runs.map((run) => run.settled()));
    }

    for (let i = 0; i < processes; i++)
      children.push(fork(script, [path, log, String(handles), `p${i}h`], { stdio: ["ignore", "inherit", "inherit", "ipc"] }));
    await Promise.all(children.map(heard));
    const odd: unknown[] = [];
    for (const id of ids) {
      const answers = children.map(heard);
      for (const child of children) child.send(id);
      const verdicts = (await Promise.all(answers)).flat().sort();
      const late = verdicts.filter((verdict) => verdict === "WAIT_GONE" || verdict === "EXECUTION_ENDED").length;
      if (late !== processes * handles - 1 || !verdicts.includes("applied")) odd.push([id, verdicts]);
    }
    await Promise.all(ids.map(async (id) => (await runtime.get(id)).result()));
    await runtime.close();
    expect(odd).toEqual([]);
    expect(readFileSync(log, "utf8").trim().split("\n").sort()).toEqual(ids.map((id) => `${id} ran`).sort());
    expect((await store.list({ status: ["completed"], limit: 1_000 })).items).toHaveLength(rounds);
    await store.close();
  });
});
