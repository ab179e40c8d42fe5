// A process that drives no executions: it starts them, answers their waits, cancels them, and logs what was acknowledged. If the client
// before it was killed, this client repeats that client's unanswered starts. See fleet.ts.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StepfoldError, waits } from "stepfold";
import { createRuntime, type Run } from "stepfold/runtime";
import { codeWorkflows } from "./code-load.ts";
import { codeOf, decisionAbout, loadNames, loadNodes, loadWorkflows, restartedWhenCancelled, restartedWhenFailed } from "./load.ts";
import { openLog, readLog } from "./log.ts";
import { openSetup } from "./open-setup.ts";
import type { ClientOptions } from "./process-options.ts";

const options = JSON.parse(process.argv[2]!) as ClientOptions;
const { folder, name, openAtOnce, after, leaseMs, only = loadNames } = options;
const write = openLog(folder, name, { synced: true });
const { around } = await openSetup(options, write);
const runtime = createRuntime({
  ...around,
  workflows: [...loadWorkflows, ...codeWorkflows(write)],
  nodeDefinitions: loadNodes(write),
  drive: false,
  ...(leaseMs !== undefined && { leaseMs }),
});
/** Codes of errors that are expected, because another client or a timer may have been first, or the store was away. */
const expected = new Set(["WAIT_GONE", "EXECUTION_ENDED", "RESUME_AMBIGUOUS", "STORE_UNAVAILABLE", "OUTCOME_UNKNOWN"]);
/** The kinds of waits that clients answer. */
const answered = new Set<string>(["external", "incident"]);
let starts = true;
let count = 0;

process.on("message", () => {
  starts = false;
});
process.once("disconnect", () => process.exit(3));

async function asked(workflowId: string | null, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (StepfoldError.is(error) && expected.has(error.code)) return;
    write({ what: "problem", workflowId, code: codeOf(error), message: String(error) });
  }
}

async function start(workflow: string, workflowId: string): Promise<void> {
  write({ what: "starting", workflowId, workflow });
  try {
    await runtime.start(workflow, { workflowId, input: { for: workflowId } });
  } catch (error) {
    write({ what: "not started", workflowId, code: codeOf(error) });
    throw error;
  }
  write({ what: "started", workflowId });
}

/** Answers a wait. All clients use the same key and payload for the same wait, so several of them may answer at once. */
async function answer(run: Run, waitId: string, kind: string): Promise<void> {
  const { workflowId } = run;
  const key = `answer-${waitId}`;
  const payload = kind === "incident" ? decisionAbout(workflowId, waitId) : { to: waitId };
  const { applied } = await run.resume({ waitId, payload, idempotencyKey: key });
  write({ what: "resumed", workflowId, waitId, key, applied });
}

/** Restarts an ended execution. Both clients do this with the same key, mostly at the same time, and only one restart may result. */
async function restart(workflowId: string, version: number): Promise<void> {
  const key = `restart-${version}`;
  const { applied, reason } = await (await runtime.get(workflowId)).restart({ idempotencyKey: key });
  if (applied || reason === "repeated") write({ what: "restarted", workflowId, key, applied });
}

async function cancel(run: Run): Promise<void> {
  await run.cancel({ reason: "the client has changed its mind" });
  write({ what: "cancelled", workflowId: run.workflowId });
}

async function look(workflowId: string): Promise<void> {
  const run = await runtime.get(workflowId);
  const snapshot = await run.snapshot();
  if (snapshot.definition.id === "doomed" || Math.random() < 0.02) return cancel(run);
  await Promise.all(
    waits(snapshot).map(({ id, kind }) => (answered.has(kind) ? asked(workflowId, () => answer(run, id, kind)) : undefined)),
  );
}

/** Repeats the starts that the client before this one requested and got no answer to. */
async function repeatStarts(before: string): Promise<void> {
  const path = join(folder, `${before}.jsonl`);
  const lines = existsSync(path) ? readLog(path) : [];
  const heard = new Set(lines.flatMap((line) => (line.what === "started" ? [line.workflowId] : [])));
  for (const line of lines) {
    if (line.what === "starting" && !heard.has(line.workflowId)) await asked(line.workflowId, () => start(line.workflow, line.workflowId));
  }
}

if (after !== null) await repeatStarts(after);
process.send?.("ready");
for (let told = false; ; ) {
  await asked(null, async () => {
    const [paused, moving, ...ended] = await Promise.all([
      around.store.list({ status: ["paused"], limit: openAtOnce }),
      around.store.list({ status: ["active", "error"], limit: openAtOnce }),
      ...restartedWhenFailed.map((definitionId) => around.store.list({ status: ["failed"], definitionId, limit: openAtOnce })),
      ...restartedWhenCancelled.map((definitionId) => around.store.list({ status: ["cancelled"], definitionId, limit: openAtOnce })),
    ]);
    const room = starts ? openAtOnce - paused.items.length - moving.items.length : 0;
    const begun = Array.from({ length: Math.max(0, Math.min(room, 8)) }, () => {
      const number = count++;
      return asked(null, () => start(only[number % only.length]!, `${name}-${number}`));
    });
    const seen = paused.items.map(({ workflowId }) => asked(workflowId, () => look(workflowId)));
    // nothing is opened again while the run waits until everything has ended
    const again = starts ? ended.flatMap(({ items }) => items) : [];
    await Promise.all([...begun, ...seen, ...again.map((one) => asked(one.workflowId, () => restart(one.workflowId, one.version)))]);
  });
  if (!starts && !told) {
    told = true;
    process.send?.("no more starts");
  }
  await sleep(40);
}
