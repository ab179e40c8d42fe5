import { defineNode } from "../../src/engine/node/define-node.ts";
import type { WakeUp, WorkQueue } from "../../src/ports/work-queue.ts";
import type { RuntimeOptions } from "../../src/runtime/context/runtime-options.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";

export const secret = "0123456789abcdef-secret";

/** A queue that only keeps the wake-ups that are sent. */
export function keepingQueue(sent: WakeUp[], send: WorkQueue["send"] = async (wakeUps) => void sent.push(...wakeUps)): WorkQueue {
  const consume = (): Promise<never> => Promise.reject(new TypeError("a function consumes nothing"));
  return { name: "kept", features: { durable: true, multiProcess: true }, send, consume, close: async () => undefined };
}

/** A runtime as in a function of a platform, with a workflow of one step (`note`) and a workflow whose step never ends (`stuck`). */
export function functionRuntime(options: Partial<RuntimeOptions> = {}) {
  const performed: string[] = [];
  const note = defineNode({
    executor: (_data, { workflowId }) => {
      performed.push(workflowId);
      return { data: "noted" };
    },
  });
  const stuck = defineNode({ executor: () => new Promise<never>(() => undefined) });
  const workflows = ["note", "stuck"].map((type) => ({ id: type, nodes: [{ id: "only", type }], edges: [] }));
  const store = options.store ?? memoryStore();
  const runtime = createRuntime({ nodeDefinitions: { note, stuck }, workflows, drive: false, ...options, store });
  return { runtime, store, performed };
}
