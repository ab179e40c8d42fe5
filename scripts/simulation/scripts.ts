import type { ErrorCode } from "../../packages/stepfold/src/core/errors/error-details.ts";
import { StepfoldError } from "../../packages/stepfold/src/core/errors/stepfold-error.ts";
import type { WaitInfo } from "../../packages/stepfold/src/core/explain/waits.ts";
import { waits } from "../../packages/stepfold/src/core/explain/waits.ts";
import { isTerminal, type Snapshot } from "../../packages/stepfold/src/core/snapshot/snapshot.ts";
import type { IncidentAnswer } from "../../packages/stepfold/src/core/transition/paths/incident.ts";
import type { Run } from "../../packages/stepfold/src/runtime/handle/run.ts";
import type { ClientScript, SimulatedClient } from "../../packages/stepfold/src/testing/simulation/scenario.ts";
import { passedOver } from "./model.ts";
import { incidentPlans } from "./program.ts";

/** Errors that are expected, because another client was first. */
const overtaken: readonly ErrorCode[] = [
  "WAIT_GONE",
  "EXECUTION_ENDED",
  "RETRY_NOT_PENDING",
  "WORKFLOW_NOT_FOUND",
  "RESUME_CONFLICT",
  "WAIT_EXPIRED",
  "FORK_REFUSED",
  "START_CONFLICT",
  "EXECUTION_OPEN",
];

/** Starts an execution, sometimes twice, and answers its waits until it has ended. Checks that `result()` gave its result. */
export function owner(workflowId: string, timeout: number | undefined): ClientScript {
  return async (client) => {
    const { runtime } = client;
    const start = (): Promise<Run> => runtime.start(workflowId, { workflowId, input: { name: workflowId }, timeout });
    const [run] = await Promise.all([start(), client.random.chance(0.3) ? start() : null]);
    const told = run.result().then(
      (output) => JSON.stringify(output),
      (error: unknown) => codeOf(error),
    );
    const { status, output } = await answerAll(client, run, "owner");
    const expected = status === "completed" ? JSON.stringify(output) : `EXECUTION_${status.toUpperCase()}`;
    const result = await told;
    // if other people have restarted it, `result()` may have told another one of its ends
    const isOther = result !== expected && (await run.snapshot()).restarts !== undefined;
    // if the runtime is closed while the execution ends, `result()` does not wait for the end
    if (result !== expected && !isOther && result !== "STORE_UNAVAILABLE" && result !== "OUTCOME_UNKNOWN" && result !== "RUNTIME_CLOSED")
      throw new RangeError(`${workflowId} is ${expected}, and result() told ${result}`);
  };
}

/** Answers the waits of an execution that another client has started. */
export function approver(workflowId: string, name: string): ClientScript {
  return async (client) => {
    const run = await found(client, workflowId);
    if (run) await answerAll(client, run, name);
  };
}

/** Cancels an execution after some time. */
export function canceller(workflowId: string, afterMs: number): ClientScript {
  return async (client) => {
    if (client.restarts === 0) await client.sleep(afterMs);
    const run = await found(client, workflowId);
    await unlessOvertaken(async () => run?.cancel({ reason: "no longer wanted" }));
  };
}

/** Retries a failed step at once, now and then, without waiting for its retry time. */
export function hurrier(workflowId: string): ClientScript {
  return async (client) => {
    const run = await found(client, workflowId);
    if (!run) return;
    for (let snapshot = await run.snapshot(); !isTerminal(snapshot.status); snapshot = await run.snapshot()) {
      if (snapshot.status === "error") await unlessOvertaken(() => run.retry());
      await client.sleep(client.random.between(500, 3_000));
    }
  };
}

/** Watches an execution to its end, and checks that no version comes twice, and none is missing but those of trimmed runs. */
export function watcher(workflowId: string): ClientScript {
  return async (client) => {
    let seen = -1;
    const run = await found(client, workflowId);
    if (!run) return;
    for await (const { event, snapshot } of run.watch()) {
      const isNext = event.version === seen + 1 || (event.version > seen && event.type === "continued");
      if (!isNext || snapshot.version !== event.version)
        throw new RangeError(`after version ${seen} of ${workflowId} came ${event.version} with snapshot ${snapshot.version}`);
      seen = event.version;
    }
    const { status, restarts } = await run.snapshot();
    if (!isTerminal(status) && restarts === undefined) throw new RangeError(`watching ${workflowId} ended when it was ${status}`);
  };
}

/**
 * Sends signals that no wait expects. Each call without a key is one signal, whether it is answered or not; all calls with the same key are
 * one, in whichever run it came.
 */
export function bell(workflowId: string): ClientScript {
  return async (client) => {
    const run = await found(client, workflowId);
    if (!run) return;
    for (let rings = 0; rings < 5; rings++) {
      // a large payload lies in the event that brought it, which may be one of an earlier run
      await unlessOvertaken(() => run.signal("bell", { rings, text: "-".repeat(client.random.pick([0, 1_500])) }));
      await unlessOvertaken(() => run.signal("bell", {}, { idempotencyKey: "once" }));
      await client.sleep(client.random.between(50, 500));
    }
  };
}

/** Sends signals before the waits for them exist. */
export function herald(workflowId: string, signals: readonly { readonly name: string; readonly key: string }[]): ClientScript {
  return async (client) => {
    const run = await found(client, workflowId);
    if (!run) return;
    for (const { name, key } of signals) await unlessOvertaken(() => run.signal(name, {}, { key, idempotencyKey: `${name}.${key}` }));
  };
}

/** Forks an execution at a random version, sometimes twice, and answers the waits of the fork. */
export function forker(workflowId: string, afterMs: number): ClientScript {
  return async (client) => {
    if (client.restarts === 0) await client.sleep(afterMs);
    const run = await found(client, workflowId);
    if (!run) return;
    const { version } = await run.snapshot();
    const wanted = client.random.between(0, version);
    const fork = (): Promise<Run | undefined> => unlessOvertaken(() => run.fork({ version: wanted, workflowId: forkOf(workflowId) }));
    const [forked] = await Promise.all([fork(), client.random.chance(0.3) ? fork() : null]);
    // if the fork existed before the client was restarted, the client goes on with that fork
    const goesOn = forked ?? (await unlessOvertaken(() => client.runtime.get(forkOf(workflowId))));
    if (goesOn) await answerAll(client, goesOn, "forker");
  };
}

/** A time after all ends. */
const farAhead = Date.UTC(3000, 0);
/** How many times one person restarts an execution. */
const mostRestarts = 2;

/**
 * Restarts an execution each time that it has failed or was cancelled, sometimes twice at once and sometimes under a key, and answers its
 * waits. Now and then this person restarts its children too, deletes them, or cancels the execution at the same moment.
 */
export function restarter(workflowId: string, who: string): ClientScript {
  return async (client) => {
    const { random } = client;
    const run = await found(client, workflowId);
    if (!run) return;
    for (let times = 0; times < mostRestarts; times++) {
      const children = new Set<string>();
      const { status } = await answerAll(client, run, who, children);
      if (status === "completed") return;
      for (const child of random.chance(0.4) ? children : []) await meddle(client, child, random.chance(0.5));
      const key = random.chance(0.5) ? { idempotencyKey: `${who} ${times}` } : {};
      const restart = async (): Promise<void> => {
        const outcome = await untilDecidedAgain(client, () => run.restart(key));
        if (outcome && outcome.applied !== (outcome.reason === "restarted")) throw new RangeError(`told ${JSON.stringify(outcome)}`);
      };
      const cancel = (): Promise<unknown> => unlessOvertaken(() => run.cancel({ reason: "not again" }));
      await Promise.all([restart(), random.chance(0.3) && restart(), random.chance(0.2) && cancel()]);
    }
    await answerAll(client, run, who);
  };
}

/** Restarts or deletes a child that has ended, before its parent is restarted. */
async function meddle(client: SimulatedClient, workflowId: string, deletes: boolean): Promise<void> {
  const { runtime } = client;
  const child = await unlessOvertaken(() => runtime.get(workflowId));
  if (!child) return;
  const definition = (await unlessOvertaken(() => child.snapshot()))?.definition;
  if (!definition) return;
  if (deletes) await runtime.prune({ before: farAhead, definitionId: definition.id });
  else await untilDecidedAgain(client, () => child.restart({ idempotencyKey: "alone" }));
}

/** The id of the fork of an execution. */
const forkOf = (workflowId: string): string => `${workflowId}-fork`;

/**
 * Returns the handle of an execution. Returns undefined if the execution is missing for a long time: a failover has lost it, and its
 * owner, who had its result before, does not start it again.
 */
export async function found({ runtime, sleep }: SimulatedClient, workflowId: string): Promise<Run | undefined> {
  for (let tries = 0; tries < 600; tries++) {
    const run = await unlessOvertaken(() => runtime.get(workflowId));
    if (run) return run;
    await sleep(200);
  }
  return undefined;
}

/**
 * Answers all waits again and again until the execution has ended, also those of executions that it waits for.
 *
 * @param children gets the ids of these executions
 */
async function answerAll(client: SimulatedClient, run: Run, who: string, children: Set<string> = new Set()): Promise<Snapshot> {
  for (;;) {
    const snapshot = await run.snapshot();
    if (isTerminal(snapshot.status)) return snapshot;
    for (const { workflowId } of waits(snapshot)) if (workflowId !== undefined) children.add(workflowId);
    await answerOnce(client, run, snapshot, who);
    await client.sleep(client.random.between(100, 900));
  }
}

async function answerOnce(client: SimulatedClient, run: Run, snapshot: Snapshot, who: string): Promise<void> {
  // the client retries a parked execution, because the crashes were not its fault
  if (snapshot.status === "parked") await unlessOvertaken(() => run.retry());
  // after a restart, a wait that is open again needs an answer of its own
  const by = `${who}${"!".repeat(snapshot.restarts ?? 0)}`;
  for (const wait of waits(snapshot)) {
    const { kind, id: waitId, signal: name = "", key = "", workflowId, schema } = wait;
    if (kind === "incident") {
      const payload = decisionAbout(snapshot, wait);
      await unlessOvertaken(() => run.resume({ waitId, payload, idempotencyKey: `${waitId} by ${by}` }));
    }
    if (kind === "external") await answer(run, waitId, by, schema !== undefined);
    // a sub-workflow that is retried waits for the same signal again, and needs a new one
    if (kind === "signal") await unlessOvertaken(() => run.signal(name, {}, { key, idempotencyKey: `${name}.${key} to ${waitId}` }));
    const other = kind === "child" ? await unlessOvertaken(() => client.runtime.get(workflowId!)) : undefined;
    const seen = other && (await unlessOvertaken(() => other.snapshot()));
    if (seen) await answerOnce(client, other, seen, who);
  }
}

/**
 * Answers a wait. A quarter of the answers to a wait with a schema is refused by the code: either at once, and then the same key may be
 * used again, or later, and then the wait has a new id.
 */
async function answer(run: Run, waitId: string, who: string, mayBeRefused: boolean): Promise<void> {
  const nth = mayBeRefused ? (Array.from(`${waitId} ${who}`).reduce((sum, char) => sum + char.charCodeAt(0), 0) * 7) % 4 : 1;
  const give = (payload: { readonly by: string; readonly nth: number }): Promise<unknown> =>
    unlessOvertaken(() => run.resume({ waitId, payload, idempotencyKey: `${waitId} by ${who}` }));
  try {
    await give({ by: who, nth });
  } catch (error) {
    if (nth !== 0 || !StepfoldError.is(error, "RESUME_INVALID")) throw error;
    await give({ by: who, nth: 1 });
  }
}

/** Returns the decision about an incident. It depends only on the history of the node, so all clients decide the same. */
function decisionAbout(snapshot: Snapshot, { id, nodeId, payload }: WaitInfo): IncidentAnswer {
  const plan = incidentPlans.find((one) => nodeId.endsWith(one));
  const { attempt } = payload as { readonly attempt: number };
  const scope = id.slice(0, Math.max(0, id.lastIndexOf(">")));
  const context = scope === "" ? snapshot.context : snapshot.childStates![scope]!.context;
  const results = context[nodeId] ?? [];
  const failures = results.length - 1 - results.findLastIndex(({ error }) => error === undefined);
  if (plan === "fail") return { action: "fail" };
  return plan === "retry" && failures <= attempt ? { action: "retry" } : { action: "skip", output: passedOver };
}

/** Makes a call again while the simulated store refuses what was decided before a failover. */
export async function untilDecidedAgain<T>(client: SimulatedClient, work: () => Promise<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await unlessOvertaken(work);
    } catch (error) {
      if (!StepfoldError.is(error, "VERSION_CONFLICT")) throw error;
      await client.sleep(1_000);
    }
  }
}

/** Makes a call that may be refused because another client was first; undefined then. */
export async function unlessOvertaken<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (StepfoldError.is(error) && overtaken.includes(error.code)) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return StepfoldError.is(error) ? error.code : String(error);
}
