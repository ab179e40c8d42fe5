import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Job, JobResult } from "./job.ts";

/** Runs jobs, as many at once as there are processors. Jobs with a mistake get a thread of their own, which ends with them. */
export async function runJobs(jobs: readonly Job[], onDone: (job: Job, result: JobResult) => void): Promise<void> {
  const left = [...jobs];
  const work = async (): Promise<void> => {
    let thread: Worker | null = null;
    for (let job = left.shift(); job; job = left.shift()) {
      thread ??= new Worker(new URL("./thread.ts", import.meta.url));
      onDone(job, await resultOf(thread, job));
      if (job.mutant === null) continue;
      await thread.terminate();
      thread = null;
    }
    await thread?.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(jobs.length, availableParallelism()) }, work));
}

function resultOf(thread: Worker, job: Job): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    thread.removeAllListeners();
    thread.on("message", resolve);
    thread.on("error", reject);
    thread.on("exit", () => reject(new RangeError("a thread ended before its job was done")));
    thread.postMessage(job);
  });
}
