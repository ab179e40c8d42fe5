import type { Event, GlobalsOf, NodeDefinitions } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import { BadInput } from "../bad-input.ts";
import { cleanup } from "../cleanup.ts";
import { findConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { openGlobals } from "../config/open-globals.ts";
import { openPart } from "../config/open-part.ts";
import { openQueue, queueUrl } from "../config/open-queue.ts";
import { exitCode } from "../exit-code.ts";
import { listenForInterruption } from "../session/interruption.ts";
import { nodeDefinitionsOf, readLeaseMs } from "../session/session.ts";
import { workLog } from "../session/work-log.ts";
import { chooseDatabase, openQuietly } from "../store/database.ts";

/** Options of `stepfold worker`. */
export interface WorkerOptions {
  readonly store?: string;
  readonly queue?: string;
  readonly config?: string;
  readonly concurrency?: string;
  readonly taskQueue?: readonly string[];
  readonly json?: boolean;
}

const defaultConcurrency = 100;
/** The interval at which a worker reports to the store that it is alive, for `stepfold workers`. */
const beatMs = 30_000;
/** How long steps in progress may go on after the worker was asked to stop. Later, their leases end and other workers take over. */
const patienceMs = 30_000;

/** `stepfold worker`: runs all executions that are due, until it is asked to stop (Ctrl-C or SIGTERM). @returns the exit code */
export async function worker(options: WorkerOptions): Promise<number> {
  const configPath = findConfig(options.config);
  const config = await loadConfig(configPath);
  const concurrency = readConcurrency(options.concurrency);
  const leaseMs = readLeaseMs(process.env.STEPFOLD_LEASE_MS, 30_000);
  const database = chooseDatabase(options.store);
  const closing = cleanup();
  const interruption = listenForInterruption(options.json ?? false);
  closing.add(interruption.stopListening);
  try {
    const store = await openQuietly(database);
    closing.add(() => store.close());
    // this call fails if tables are missing, so that the worker reports them once, at its start
    await store.list({ limit: 1 });
    const globals = await openGlobals({ config, configPath, database, cleanup: closing });
    const queue = await openQueue(queueUrl(options.queue), config, configPath, closing);
    const feed = await openPart("feed", config, configPath, closing);
    const log = workLog(options.json ?? false);
    const runtime = createRuntime<NodeDefinitions>({
      store,
      workflows: config.workflows ?? [],
      nodeDefinitions: nodeDefinitionsOf(config),
      globals: globals as GlobalsOf<NodeDefinitions>,
      ...(config.secrets && { secrets: config.secrets }),
      ...(options.taskQueue && { taskQueues: options.taskQueue }),
      drive: false,
      leaseMs,
      beatMs,
      ...(queue && { queue }),
      ...(feed && { feed }),
      schedules: schedules(config.schedules),
      ...(config.limits && { limits: config.limits }),
      plugins: [{ onEvent: (event: Event, { workflowId }) => log.event(workflowId, event) }],
      onProblem: log.problem,
    });
    closing.add(() => runtime.close());
    const work = runtime.work({ concurrency });
    log.begins(database.name, queue?.name ?? null, concurrency);
    await interruption.asked;
    await work.stop({ timeoutMs: patienceMs });
    log.ends();
    return exitCode.done;
  } finally {
    await closing.run();
  }
}

function readConcurrency(text: string | undefined): number {
  if (text === undefined) return defaultConcurrency;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new BadInput("USAGE", `--concurrency must be a whole number from 1 on, not "${text}"`);
}
