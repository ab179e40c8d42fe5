import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "stepfold/runtime";
import { siteFromUrl } from "stepfold/stores/from-url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tellNotTested } from "../scripts/servers/service-url.ts";
import { nodeDefinitions, racingWorkflow } from "./racing-nodes.ts";
import { racingStores } from "./racing-stores.ts";

const processes = 4;
const handles = 2;
const starters = 100;
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

/** Resolves with the next message of the process. */
function heard(child: ChildProcess): Promise<string[]> {
  return new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message as string[]));
    child.setMaxListeners(0).once("exit", (code) => reject(new TypeError(`a racer ended with code ${code}`)));
  });
}

/** Sends one message to all processes, and returns the results of all handles. */
async function race(message: string): Promise<string[]> {
  const answers = children.map(heard);
  for (const child of children) child.send(message);
  return (await Promise.all(answers)).flat().sort();
}

describe.each(racingStores)("eight handles in four processes on $name", ({ name, rounds, open }) => {
  it(`apply exactly one answer in each of ${rounds} rounds, and start an execution once`, { timeout: 300_000 }, async ({ skip }) => {
    const opened = await open(folder);
    if (!opened) {
      tellNotTested(`NOT TESTED: no server answers for ${name}`);
      skip(`NOT TESTED: no server answers for ${name}`);
      return;
    }
    const log = join(folder, "race.log");
    const site = await siteFromUrl(opened.url);
    const store = await site.open(site.space, { migrate: true });
    const workflows = [racingWorkflow];
    const runtime = createRuntime({ store, nodeDefinitions: nodeDefinitions(log), workflows, pollMs: 50, maxExecutions: 200 });
    const ids = Array.from({ length: rounds }, (_, i) => `round-${i}`);
    for (let i = 0; i < rounds; i += 100) {
      const runs = await Promise.all(ids.slice(i, i + 100).map((workflowId) => runtime.start("race", { workflowId })));
      await Promise.all(runs.map((run) => run.settled()));
    }
    for (let i = 0; i < processes; i++) {
      const args = [opened.url, log, String(handles), `p${i}h`];
      children.push(fork(script, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] }));
    }
    await Promise.all(children.map(heard));

    const odd: unknown[] = [];
    for (const id of ids) {
      const verdicts = await race(`resume ${id}`);
      const late = verdicts.filter((verdict) => verdict === "WAIT_GONE" || verdict === "EXECUTION_ENDED").length;
      if (late !== processes * handles - 1 || !verdicts.includes("applied")) odd.push([id, verdicts]);
    }
    expect(odd).toEqual([]);
    await Promise.all(ids.map(async (id) => (await runtime.get(id)).result()));
    expect(readFileSync(log, "utf8").trim().split("\n").sort()).toEqual(ids.map((id) => `${id} ran`).sort());
    expect((await store.list({ status: ["completed"], limit: 1_000 })).items).toHaveLength(rounds);

    // a repeated start returns the existing execution, so all starts succeed and one execution exists
    const started = await Promise.all(Array.from({ length: Math.ceil(starters / (processes * handles)) }, () => race("start only-one")));
    expect(new Set(started.flat())).toEqual(new Set(["applied"]));
    expect((await store.events("only-one", -1, 10)).filter(({ event }) => event.type === "started")).toHaveLength(1);
    expect((await store.list({ limit: 1_000 })).items.filter(({ workflowId }) => workflowId === "only-one")).toHaveLength(1);

    // the processes end first, because their store is dropped
    for (const child of children.splice(0)) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    }
    await runtime.close();
    await store.close();
    if (site.hasSpaces) await site.drop(site.space);
    await site.close();
    await opened.close();
  });
});
