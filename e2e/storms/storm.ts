import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type SnapshotStore, StepfoldError, waits } from "stepfold";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { checkRun, type Verdict } from "../kill9/check-run.ts";
import { Fleet, until } from "../kill9/fleet.ts";
import { codeOf, loadNodes } from "../kill9/load.ts";
import { type LogLine, openLog, readLogs } from "../kill9/log.ts";
import { openSetup } from "../kill9/open-setup.ts";
import type { Stored, Target } from "../kill9/stored.ts";
import { idOf, type Kind, type Shape, stormWorkflows } from "./storm-workflows.ts";

/** What a storm is made of. */
export interface StormOptions {
  readonly target: Target;
  /** The folder for the logs. */
  readonly folder: string;
  readonly shape: Shape;
  readonly kind: Kind;
  readonly executions: number;
}

/** What a storm has left behind, and what the checker says of it. */
export interface EndedStorm extends Verdict {
  readonly stored: Stored;
  /** How many of the answers were told to have been given before. */
  readonly repeated: number;
  readonly failures: readonly string[];
}

const leaseMs = 1_000;
const pollMs = 100;
/** How many executions are open at once. */
const openAtOnce = 100;
const longestMs = 600_000;

/** Lets two workers drive many executions in which much happens at once, and kills one of the workers in the middle. */
export async function storm({ target, folder, shape, kind, executions }: StormOptions): Promise<EndedStorm> {
  const logs = join(folder, "logs");
  mkdirSync(logs, { recursive: true });
  const common = { url: target.url, folder: logs };
  const fleet = new Fleet({
    script: new URL("./worker.ts", import.meta.url),
    worker: { ...common, leaseMs, pollMs },
    client: { ...common, openAtOnce },
  });
  const clients = await Promise.all(["client-a", "client-b"].map((name) => openClient({ ...common, name })));
  let repeated = 0;
  try {
    const victim = fleet.worker();
    fleet.worker();
    const allWork = (): Promise<void> => until("all workers work", 60_000, async () => [...fleet.members].every(({ ready }) => ready));
    await allWork();
    const started = startAll(clients[0]!, idOf(shape, kind), executions, target);
    const killed = killOne(fleet, victim, clients[0]!.store, executions);
    const answered = shape === "answers" ? answerAll(clients, target, started) : Promise.resolve(0);
    await Promise.all([started, killed]);
    repeated = await answered;
    await until("every execution has ended", longestMs, async () => (await target.countOpen()) === 0);
    // the one that replaced the killed one may still be starting
    await allWork();
    await fleet.close();
  } finally {
    fleet.abandon();
    for (const { close } of clients) await close();
  }
  const stored = await target.readAll();
  return { ...checkRun(stored, readLogs(logs)), stored, repeated, failures: fleet.failures };
}

/** A process that starts and answers, and drives nothing. Here two of them are in the process of the test. */
interface Client {
  readonly runtime: Runtime;
  readonly store: SnapshotStore;
  readonly write: (line: LogLine) => void;
  readonly close: () => Promise<void>;
}

async function openClient(options: { readonly url: string; readonly folder: string; readonly name: string }): Promise<Client> {
  const write = openLog(options.folder, options.name);
  const { around, close } = await openSetup(options, write);
  const runtime = createRuntime({ ...around, workflows: stormWorkflows(write), nodeDefinitions: loadNodes(write), drive: false });
  return {
    runtime,
    store: around.store,
    write,
    async close() {
      await runtime.close();
      await close();
    },
  };
}

async function startAll({ runtime, write }: Client, workflow: string, executions: number, target: Target): Promise<void> {
  for (let begun = 0; begun < executions; ) {
    const room = Math.min(openAtOnce - (await target.countOpen()), executions - begun);
    await Promise.all(
      Array.from({ length: Math.max(0, room) }, async () => {
        const workflowId = `${workflow}-${begun++}`;
        write({ what: "starting", workflowId, workflow });
        await runtime.start(workflow, { workflowId });
        write({ what: "started", workflowId });
      }),
    );
    await sleep(20);
  }
}

/** Kills a worker once a third of the executions has ended, and puts another one in its place. */
async function killOne(fleet: Fleet, victim: ReturnType<Fleet["worker"]>, store: SnapshotStore, executions: number): Promise<void> {
  await until("a third of the executions has ended", longestMs, async () => {
    const { items } = await store.list({ status: ["completed"], limit: Math.ceil(executions / 3) });
    return items.length >= Math.ceil(executions / 3);
  });
  await fleet.kill(victim);
  fleet.worker();
}

/** Answers every wait twice at the same time, with one key, from two clients. Returns how many answers were told to be repeated. */
async function answerAll(clients: readonly Client[], target: Target, started: Promise<void>): Promise<number> {
  const [{ store }] = clients as [Client];
  let repeated = 0;
  let isOver = false;
  const answer = async ({ runtime, write }: Client, workflowId: string, waitId: string): Promise<void> => {
    const key = `answer-${waitId}`;
    try {
      const { applied } = await (await runtime.get(workflowId)).resume({ waitId, payload: { to: waitId }, idempotencyKey: key });
      if (!applied) repeated++;
      write({ what: "resumed", workflowId, waitId, key, applied });
    } catch (error) {
      const isExpected =
        StepfoldError.is(error) && ["WAIT_GONE", "EXECUTION_ENDED", "STORE_UNAVAILABLE", "OUTCOME_UNKNOWN"].includes(error.code);
      if (!isExpected) write({ what: "problem", workflowId, code: codeOf(error), message: String(error) });
    }
  };
  void started.finally(() => {
    isOver = true;
  });
  while (!isOver || (await target.countOpen()) > 0) {
    const { items } = await store.list({ status: ["paused"], limit: openAtOnce });
    await Promise.all(
      items.map(async ({ workflowId }) => {
        const snapshot = await store.load(workflowId);
        if (!snapshot) return;
        const open = waits(snapshot).filter(({ kind }) => kind === "external");
        await Promise.all(open.flatMap(({ id }) => clients.map((client) => answer(client, workflowId, id))));
      }),
    );
    await sleep(20);
  }
  return repeated;
}
