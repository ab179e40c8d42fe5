// A process that drives nothing: it starts executions, answers their waits and cancels them, and writes down what was
// acknowledged. It asks again for what the client before it had asked for when it was killed. See fleet.ts.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StepfoldError, waits } from "stepfold";
import { createRuntime, type Run } from "stepfold/runtime";
import { breaking, codeOf, decisionAbout, isRestart, loadNames, loadNodes, loadWorkflows } from "./load.ts";
import { openLog, readLog } from "./log.ts";
import { openSetup } from "./open-setup.ts";
import type { ClientOptions } from "./process-options.ts";

const options = JSON.parse(process.argv[2]!) as ClientOptions;
const { folder, name, openAtOnce, after, leaseMs, only = loadNames } = options;
const write = openLog(folder, name, { synced: true });
const { around } = await openSetup(options, write);
const runtime = createRuntime({
  ...around,
  workflows: loadWorkflows,
  nodeDefinitions: loadNodes(write),
  drive: false,
  ...(leaseMs !== undefined && { leaseMs }),
});
/** What others, or time, may have done first. */
const expected = new Set(["WAIT_GONE", "EXECUTION_ENDED", "RESUME_AMBIGUOUS", "STORE_UNAVAILABLE", "OUTCOME_UNKNOWN"]);
/** Kinds of waits that people answer. */
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

/** The same key and payload for the same wait, whoever answers: several may try at once. */
async function answer(run: Run, waitId: string, kind: string): Promise<void> {
  const { workflowId } = run;
  const key = `answer-${waitId}`;
  const payload = kind === "incident" ? decisionAbout(workflowId, waitId) : { to: waitId };
  const { applied } = await run.resume({ waitId, payload, idempotencyKey: key });
  write({ what: "resumed", workflowId, waitId, key, applied });
}

/** Those that were restarted by this process, or by another one as it knows. */
const restarted = new Set<string>();

/** Both clients do, mostly at the same time: it is one restart. */
async function restart(workflowId: string): Promise<void> {
  const { workflowId: as } = await (await runtime.get(workflowId)).restart();
  write({ what: "restarted", workflowId, as });
  restarted.add(workflowId);
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

/** Starts that the client before had asked for, and not heard of. */
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
    const [paused, moving, failed] = await Promise.all([
      around.store.list({ status: ["paused"], limit: openAtOnce }),
      around.store.list({ status: ["active", "error"], limit: openAtOnce }),
      around.store.list({ status: ["failed"], definitionId: breaking, limit: openAtOnce }),
    ]);
    const room = starts ? openAtOnce - paused.items.length - moving.items.length : 0;
    const begun = Array.from({ length: Math.max(0, Math.min(room, 8)) }, () => {
      const number = count++;
      return asked(null, () => start(only[number % only.length]!, `${name}-${number}`));
    });
    const seen = paused.items.map(({ workflowId }) => asked(workflowId, () => look(workflowId)));
    const broken = failed.items.map(({ workflowId }) => workflowId).filter((id) => !isRestart(id) && !restarted.has(id));
    await Promise.all([...begun, ...seen, ...broken.map((workflowId) => asked(workflowId, () => restart(workflowId)))]);
  });
  if (!starts && !told) {
    told = true;
    process.send?.("no more starts");
  }
  await sleep(40);
}
