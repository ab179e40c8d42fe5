// One thread of the simulation. A mistake in the code goes in before any of it is loaded.
import { parentPort } from "node:worker_threads";
import { breakCode } from "./break-code.ts";
import type { Job } from "./job.ts";

// thousands of errors are part of every schedule, and nobody looks at where they come from
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
