import { expect } from "vitest";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";

const workflow = {
  id: "parcel",
  nodes: [
    { id: "pack", type: "note" },
    { id: "rest", type: "rest" },
    { id: "send", type: "note" },
  ],
  edges: [
    { id: "1", source: "pack", target: "rest" },
    { id: "2", source: "rest", target: "send" },
  ],
};

/**
 * Starts executions in a process that drives none, and drives them in two workers that poll the store only once a minute. The executions
 * end within seconds only if the queue delivers their messages. Each execution waits once, so that it needs a second message later.
 */
export async function runOver(
  open: () => Promise<{ readonly store: SnapshotStore; readonly queue: WorkQueue }>,
  count: number,
): Promise<void> {
  const notes: string[] = [];
  const problems: unknown[] = [];
  const nodeDefinitions = {
    note: defineNode({
      executor: (_data, step) => {
        notes.push(`${step.workflowId} ${step.nodeId}`);
        return { data: null };
      },
    }),
    rest: defineNode({
      executor: (_data, step) => (step.resumed ? { data: null } : { __pause: true, resumeAt: Date.now() + 400 }),
    }),
  };
  const process = async (drive: boolean) => {
    const { store, queue } = await open();
    const onProblem = (_: string | null, error: unknown) => problems.push(error);
    const runtime = createRuntime({ store, queue, workflows: [workflow], nodeDefinitions, drive, pollMs: 60_000, onProblem });
    return { runtime, queue };
  };
  const client = await process(false);
  const workers = [await process(true), await process(true)];
  const ids = Array.from({ length: count }, (_, index) => `parcel-${index}`);
  const runs = await Promise.all(ids.map((workflowId) => client.runtime.start("parcel", { workflowId })));
  const statuses = async () => (await Promise.all(runs.map((run) => run.snapshot()))).map(({ status }) => status);
  await expect.poll(statuses, { timeout: 30_000, interval: 200 }).toEqual(ids.map(() => "completed"));
  expect(notes.toSorted()).toEqual(ids.flatMap((id) => [`${id} pack`, `${id} send`]).toSorted());
  expect(problems).toEqual([]);
  for (const { runtime, queue } of [client, ...workers]) {
    await runtime.close();
    await queue.close();
  }
}
