import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The settings that a worker process gets at its start. */
export interface WorkerSetting {
  /** URL of the store, with its schema. */
  readonly store: string;
  /** The URL of Redis, and the name of the BullMQ queue in it. Absent: workers poll the store. */
  readonly queue?: { readonly redis: string; readonly name: string };
  readonly concurrency: number;
}

/** The marks that workers reported: the execution that reached its node `mark`, and the time in epoch milliseconds. */
type Marks = readonly (readonly [workflowId: string, atMs: number])[];

/** Worker processes that drive executions. */
export interface Fleet {
  /** Resolves when at least `count` marks have arrived since the fleet started. */
  marked(count: number): Promise<Marks>;
  stop(): Promise<void>;
}

/** Starts `workers` worker processes; resolves when all of them are ready. */
export async function startFleet(workers: number, setting: WorkerSetting): Promise<Fleet> {
  const marks: [string, number][] = [];
  let told = (): void => undefined;
  const children = await Promise.all(
    Array.from({ length: workers }, async (): Promise<ChildProcess> => {
      const child = fork(fileURLToPath(new URL("fleet-worker.ts", import.meta.url)), [JSON.stringify(setting)]);
      await new Promise<void>((resolve, reject) => {
        child.on("message", (message: "ready" | [string, number][]) => {
          if (message === "ready") return resolve();
          marks.push(...message);
          told();
        });
        child.on("exit", (code) => reject(new TypeError(`A worker has ended with ${code}`)));
      });
      return child;
    }),
  );
  return {
    async marked(count) {
      while (marks.length < count) {
        await new Promise<void>((resolve) => {
          told = resolve;
        });
      }
      return marks;
    },
    async stop() {
      const ended = children.map((child) => new Promise((resolve) => child.once("exit", resolve)));
      for (const child of children) child.send("stop");
      await Promise.all(ended);
    },
  };
}
