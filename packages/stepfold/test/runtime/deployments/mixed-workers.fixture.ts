import { describe, expect, it } from "vitest";
import type { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { isTerminal } from "../../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { ClaimOptions, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { WorkQueue } from "../../../src/ports/work-queue.ts";
import type { RuntimeOptions } from "../../../src/runtime/context/runtime-options.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import { benches, type OpenStore } from "../identity/identity.fixture.ts";

// Two kinds of code on one store: a deployment that is under way, or two services. What only one of them can run is left to that one.

const render = defineNode({ executor: (data) => ({ data: data ?? null }) });
const web = { ...builtinNodes };
const gpu = { ...builtinNodes, render };
const picture = { id: "picture", nodes: [{ id: "draw", type: "render", data: { of: "{{ input }}" } }], edges: [] };
const mail = { id: "mail", nodes: [{ id: "send", type: "set", data: { sent: true } }], edges: [] };
/** A parent whose nodes both kinds have, and whose detached child only one of them knows. It lies in a workflow inside it, too. */
const album = { id: "album", nodes: [{ id: "make", type: "workflow", data: { workflow: "picture", detached: true } }], edges: [] };
const shelf = { id: "shelf", nodes: [{ id: "put", type: "workflow", data: { workflow: "album" } }], edges: [], workflows: { album } };

/** Which executions claims got. */
interface Noted {
  readonly store: SnapshotStore;
  readonly claimed: string[];
  /** Those of claims that were asked for after the host was told that some are left to others. */
  readonly claimedLater: string[];
}

/** A store that notes which executions claims got. */
function noting(store: SnapshotStore, told: readonly string[]): Noted {
  const claimed: string[] = [];
  const claimedLater: string[] = [];
  const claim = async (options: ClaimOptions) => {
    const isLater = told.length > 0;
    const claims = await store.claim(options);
    const ids = claims.map(({ workflowId }) => workflowId);
    claimed.push(...ids);
    if (isLater) claimedLater.push(...ids);
    return claims;
  };
  return { store: new Proxy(store, { get: (target, key) => (key === "claim" ? claim : bound(target, key)) }), claimed, claimedLater };
}

function bound(target: SnapshotStore, key: string | symbol): unknown {
  const value: unknown = Reflect.get(target, key);
  return typeof value === "function" ? value.bind(target) : value;
}

async function allEnded(runtime: Runtime, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map(async (id) => void (await (await runtime.get(id)).result({ timeoutMs: 60_000 }))));
}

/** The ids `PREFIX-0`, `PREFIX-1`, ... */
const idsOf = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Tests of processes with different code on one store. @param openQueue opens a queue that all processes of a test share */
export function mixedWorkers(name: string, openStore: OpenStore, openQueue: (() => Promise<WorkQueue>) | null = null): void {
  describe(`two kinds of workers on ${name}${openQueue ? ", with a queue" : ""}`, () => {
    const bench = benches(openStore);
    const started = async (more: Partial<RuntimeOptions> = {}) => {
      const problems: string[] = [];
      const one = await bench([picture, mail, album, shelf], { drive: false, nodeDefinitions: gpu, leaseMs: 30_000 });
      const noted = noting(one.store, problems);
      const queue = openQueue ? { queue: await openQueue() } : {};
      const onProblem = (workflowId: string | null, error: unknown): void =>
        void problems.push(`${workflowId} ${(error as StepfoldError).code}`);
      const lame = (): Runtime =>
        one.elsewhere({ drive: true, store: noted.store, workflows: [mail], nodeDefinitions: web, onProblem, ...queue, ...more });
      const able = (): Runtime => one.elsewhere({ drive: true, ...queue });
      const { claimed, claimedLater } = noted;
      return { ...one, starter: one.elsewhere({ drive: false, ...queue }), claimed, claimedLater, problems, lame, able };
    };

    it("leave to the others what they cannot run: nothing is parked, nothing claimed any more, and the host told once", async () => {
      const { starter, lame, able, claimed, claimedLater, problems, store } = await started();
      const ids = idsOf("p", 30);
      lame();
      for (const workflowId of ids.slice(0, 15)) await starter.start("picture", { workflowId, input: workflowId });
      able();
      for (const workflowId of ids.slice(15)) await starter.start("picture", { workflowId, input: workflowId });
      await allEnded(starter, ids);
      for (const id of ids) expect(await store.load(id)).toMatchObject({ status: "completed", output: { of: id } });
      const events = (await Promise.all(ids.map((id) => store.events(id, -1, 100)))).flat();
      expect(events.filter(({ event }) => event.type === "parked")).toEqual([]);
      expect(claimedLater).toEqual([]);
      // several may be claimed at once, and any of them may be the first to be looked at
      expect(problems).toHaveLength(Math.min(1, claimed.length));
      for (const problem of problems) expect(claimed.map((id) => `${id} WORKFLOW_LEFT`)).toContain(problem);
    });

    it.each(["album", "shelf"])("leave to the others a parent whose detached child they do not know: %s", async (workflow) => {
      const { starter, lame, able, problems, store, claimedLater } = await started({ workflows: [mail, album] });
      await starter.start(workflow, { workflowId: "a" });
      lame();
      await expect.poll(() => problems).toEqual(["a WORKFLOW_LEFT"]);
      able();
      await allEnded(starter, ["a"]);
      expect(await store.load("a")).toMatchObject({ status: "completed", output: {} });
      expect(claimedLater).toEqual([]);
    });

    it("are not delayed by what they cannot run, and run it when its worker comes", async () => {
      const { starter, lame, able, claimed, claimedLater, problems, store } = await started();
      const [pictures, mails] = [idsOf("p", 200), idsOf("m", 20)];
      for (const workflowId of pictures) await starter.start("picture", { workflowId });
      for (const workflowId of mails) await starter.start("mail", { workflowId });
      lame();
      await allEnded(starter, mails);
      // no more than one claim takes at once, before its first execution is looked at
      expect(claimed.filter((id) => id.startsWith("p-")).length).toBeLessThanOrEqual(100);
      expect(claimedLater.filter((id) => id.startsWith("p-"))).toEqual([]);
      expect(problems).toHaveLength(1);
      for (const id of pictures) expect(isTerminal((await store.loadHead(id))!.status)).toBe(false);
      able();
      await allEnded(starter, pictures);
    });

    it("take the task queues that they name", async () => {
      const { starter, able, lame, claimed } = await started({ nodeDefinitions: gpu, workflows: [], taskQueues: ["gpu"] });
      await starter.start("mail", { workflowId: "a" });
      await starter.start("mail", { workflowId: "b", taskQueue: "gpu" });
      lame();
      await allEnded(starter, ["b"]);
      expect(claimed).toEqual(["b"]);
      expect((await (await starter.get("a")).snapshot()).status).toBe("active");
      able();
      await allEnded(starter, ["a"]);
    });
  });
}
