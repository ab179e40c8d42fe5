import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { changesCode } from "./break-code.ts";
import type { Job, JobResult } from "./job.ts";

/**
 * The number of jobs after which a thread ends. Whatever a killed process has waited for stays in the memory of its thread: Node keeps
 * composed abort signals as long as somebody listens, and a killed process never stops listening.
 */
const jobsOfThread = 40;

/**
 * Runs jobs in parallel, as many as there are processors. A job with a mistake in the code gets a thread of its own, which ends with
 * the job.
 */
export async function runJobs(jobs: readonly Job[], onDone: (job: Job, result: JobResult) => void): Promise<void> {
  const left = [...jobs];
  const work = async (): Promise<void> => {
    let shared: Worker | null = null;
    let done = 0;
    for (let job = left.shift(); job; job = left.shift()) {
      const own = job.mutant !== null && changesCode(job.mutant) ? newThread() : null;
      if (!own) shared ??= newThread();
      onDone(job, await resultOf(own ?? shared!, job));
      await own?.terminate();
      if (!own && ++done % jobsOfThread === 0) {
        await shared!.terminate();
        shared = null;
      }
    }
    await shared?.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(jobs.length, availableParallelism()) }, work));
}

function newThread(): Worker {
  return new Worker(new URL("./thread.ts", import.meta.url));
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
