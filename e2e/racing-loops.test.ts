import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { StepfoldError } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { siteFromUrl } from "stepfold/stores/from-url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tellNotTested } from "../scripts/servers/service-url.ts";
import { effort } from "../scripts/test/effort.ts";
import { seeded } from "./kill9/seeded.ts";
import { loopingWorkflows } from "./racing-loops-workflows.ts";
import { racingStores } from "./racing-stores.ts";

const processes = 2;
/** The number of loops of each way that run at the same time. */
const atOnce = 2;
/** The longest time that a loop has before it is cancelled. */
const mostMs = 700;
const script = new URL("./racing-loops.ts", import.meta.url);
const seed = Number(process.env.STEPFOLD_KILL_SEED ?? 20_260);

let folder = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepfold-loops-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A way to end a loop. `child` and `parent` are ids; `ms` is the moment at which it has to end. */
interface Way {
  readonly name: string;
  /** How the execution that was started ends. */
  readonly ends: "cancelled" | "failed";
  /** True if the loop is the child of that execution. */
  readonly isChild: boolean;
  readonly begin: (runtime: Runtime, id: string, ms: number) => Promise<void>;
}

const cancelAfter = async (runtime: Runtime, id: string, ms: number): Promise<void> => {
  await after(ms);
  await (await runtime.get(id)).cancel();
};
const startParent = async (runtime: Runtime, workflow: string, id: string, ms: number, timeout?: number): Promise<void> =>
  void (await runtime.start(workflow, { workflowId: id, input: { child: `${id}-child`, ms }, ...(timeout && { timeout }) }));

const ways: readonly Way[] = [
  {
    ...{ name: "cancel", ends: "cancelled", isChild: false },
    async begin(runtime, id, ms) {
      await runtime.start("loop", { workflowId: id });
      await cancelAfter(runtime, id, ms);
    },
  },
  {
    ...{ name: "bulk", ends: "cancelled", isChild: false },
    async begin(runtime, id, ms) {
      await runtime.start("loop", { workflowId: id, metadata: { bulk: id } });
      await after(ms);
      for await (const { outcome } of runtime.bulk({ action: "cancel" }, { where: { metadata: { bulk: id } } }))
        expect(outcome).toBe("done");
    },
  },
  {
    ...{ name: "deadline", ends: "failed", isChild: false },
    begin: async (runtime, id, ms) => void (await runtime.start("loop", { workflowId: id, timeout: ms + 1 })),
  },
  {
    ...{ name: "parent-cancel", ends: "cancelled", isChild: true },
    async begin(runtime, id, ms) {
      await startParent(runtime, "parent", id, ms);
      await cancelAfter(runtime, id, ms);
    },
  },
  {
    ...{ name: "parent-deadline", ends: "failed", isChild: true },
    begin: (runtime, id, ms) => startParent(runtime, "parent", id, ms, ms + 1),
  },
  {
    ...{ name: "parent-timeout", ends: "failed", isChild: true },
    begin: (runtime, id, ms) => startParent(runtime, "hasty", id, ms + 1),
  },
];

/** Waits until an execution has ended, and returns how. Null: it was never started. */
async function endOf(
  runtime: Runtime,
  id: string,
): Promise<{ readonly status: string; readonly version: number; readonly why: string } | null> {
  try {
    const { status, version, error } = await (await runtime.get(id)).waitFor(["completed", "failed", "cancelled"], { timeoutMs: 60_000 });
    return { status, version, why: error?.message ?? "" };
  } catch (error) {
    if (StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) return null;
    throw error;
  }
}

describe.each(racingStores.filter(({ name }) => name === "sqlite" || name === "postgres"))("two processes on $name", ({ name, open }) => {
  const rounds = Math.max(1, Math.round(effort.loops / ways.length / atOnce));
  const what = `end ${rounds * ways.length * atOnce} loops without a pause at any moment, each in one of ${ways.length} ways, and none runs on`;
  it(what, { timeout: 3_600_000 }, async ({ skip }) => {
    const opened = await open(folder);
    if (!opened) {
      tellNotTested(`NOT TESTED: no server answers for ${name}`);
      skip(`NOT TESTED: no server answers for ${name}`);
      return;
    }
    const site = await siteFromUrl(opened.url);
    const store = await site.open(site.space, { migrate: true });
    const runtime = createRuntime({ store, nodeDefinitions: builtinNodes, workflows: loopingWorkflows, pollMs: 50, drive: false });
    for (let i = 0; i < processes; i++) {
      const child = fork(script, [opened.url], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      children.push(child);
      await once(child, "message");
    }
    const random = seeded(seed);
    const ended = new Map<string, number>();
    const one = async (way: Way, id: string, ms: number): Promise<void> => {
      await way.begin(runtime, id, ms);
      const end = await endOf(runtime, id);
      expect([id, end?.status], end?.why).toEqual([id, way.ends]);
      ended.set(id, end!.version);
      const child = way.isChild ? await endOf(runtime, `${id}-child`) : null;
      if (!child) return;
      expect([id, child.status], child.why).toEqual([id, "cancelled"]);
      ended.set(`${id}-child`, child.version);
    };
    for (let round = 0; round < rounds; round++)
      await Promise.all(
        ways.flatMap((way) =>
          Array.from({ length: atOnce }, (_, nth) => one(way, `${way.name}-${round}.${nth}`, Math.floor(random() * mostMs))),
        ),
      );

    const rows = new Map<string, number>();
    let runs = 0;
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await store.list({ limit: 500, ...(cursor !== undefined && { cursor }) });
      for (const { workflowId, version, run = 1 } of page.items) {
        rows.set(workflowId, version);
        runs += run;
      }
      cursor = page.nextCursor;
    }
    // no execution is there but these, and none has changed since its end
    expect(rows).toEqual(ended);
    expect(runs).toBeGreaterThan(ended.size);
    console.log(`${name}: ${ended.size} executions with ${runs} runs have ended`);

    for (const child of children.splice(0)) {
      const gone = once(child, "exit");
      child.send("stop");
      await gone;
    }
    await runtime.close();
    await store.close();
    if (site.hasSpaces) await site.drop(site.space);
    await site.close();
    await opened.close();
  });
});
