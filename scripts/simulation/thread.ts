// A thread of the simulation. It installs a mistake in the code before it loads any of that code.
import { parentPort } from "node:worker_threads";
import { breakCode } from "./break-code.ts";
import type { Job } from "./job.ts";

// every schedule throws thousands of errors, and their stacks are never read
Error.stackTraceLimit = 0;

parentPort!.on("message", async (job: Job) => {
  if (job.mutant !== null) breakCode(job.mutant);
  if (job.schedulesADay !== undefined) {
    const { runDays } = await import("./days/run-days.ts");
    parentPort!.postMessage(await runDays(job));
    return;
  }
  const { runJob } = await import("./run-job.ts");
  parentPort!.postMessage(await runJob(job));
});
