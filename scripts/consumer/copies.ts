// Checks that one entry of the package recognizes the values of other entries, and that two installed copies of the package recognize
// each other's values.
import { defineNode, FatalError, RetryAfterError, StepfoldError, WorkflowEngine } from "stepfold";
import { StepfoldError as errorOfCore } from "stepfold/core";
import { compileExpression, executionScope } from "stepfold/expressions";
import { builtinNodes } from "stepfold/nodes";
import { httpNode } from "stepfold/nodes/http";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";

const second = "stepfold-again";
const other = (await import(second)) as typeof import("stepfold");
const otherExpressions = (await import(`${second}/expressions`)) as typeof import("stepfold/expressions");
const otherNodes = (await import(`${second}/nodes`)) as typeof import("stepfold/nodes");
const otherRuntime = (await import(`${second}/runtime`)) as typeof import("stepfold/runtime");
const otherStores = (await import(`${second}/stores/memory`)) as typeof import("stepfold/stores/memory");

expect(other.StepfoldError === StepfoldError, false);
expect(errorOfCore === StepfoldError, true);
knowErrors(StepfoldError, other.StepfoldError);
knowErrors(other.StepfoldError, StepfoldError);
await stopAtFatalErrors(new FatalError("enough"));
await stopAtFatalErrors(new other.FatalError("enough"));
await waitAsAsked(new RetryAfterError(5_000));
await waitAsAsked(new other.RetryAfterError(5_000));
await stopAtRefusedCalls();
await continueElsewhere(WorkflowEngine, other.WorkflowEngine);
await continueElsewhere(other.WorkflowEngine, WorkflowEngine);
readScopes(executionScope, otherExpressions.compileExpression);
readScopes(otherExpressions.executionScope, compileExpression);
await refuseOnStore(createRuntime, memoryStore, true);
await refuseOnStore(createRuntime, otherStores.memoryStore, false);
await refuseOnStore(otherRuntime.createRuntime, memoryStore, true);

function knowErrors(mine: typeof StepfoldError, theirs: typeof StepfoldError): void {
  const error = new theirs("DEFINITION_UNKNOWN", { workflow: "w", known: [] });
  expect(mine.is(error), true);
  expect(mine.is(error, "DEFINITION_UNKNOWN"), true);
  expect(mine.is(error, "WAIT_GONE"), false);
}

/** Runs a workflow whose only node throws, with a retry after a minute, and returns its status, its attempts and the delay. */
async function failWith(error: Error): Promise<{ readonly status: string; readonly attempts: number; readonly delayMs: number }> {
  let attempts = 0;
  const failing = defineNode({
    retryPolicy: { maxAttempts: 3, interval: 60_000, backoff: "fixed" },
    executor: async () => {
      attempts++;
      throw error;
    },
  });
  const engine = new WorkflowEngine({
    workflow: { id: "w", nodes: [{ id: "a", type: "failing" }], edges: [] },
    nodeDefinitions: { failing },
  });
  const { status, activePaths } = await engine.execute({});
  return { status, attempts, delayMs: (activePaths[0]?.nextRetryAt ?? 0) - Date.now() };
}

async function stopAtFatalErrors(error: Error): Promise<void> {
  const { status, attempts } = await failWith(error);
  expect(status, "failed");
  expect(attempts, 1);
}

async function waitAsAsked(error: Error): Promise<void> {
  const { status, delayMs } = await failWith(error);
  expect(status, "error");
  expect(delayMs <= 5_000, true);
}

/** Checks that the entry `stepfold/nodes/http` throws an error that the engine of `stepfold` recognizes as fatal. */
async function stopAtRefusedCalls(): Promise<void> {
  const call = {
    id: "call",
    type: "http",
    data: { url: "http://127.0.0.1:9/" },
    retryPolicy: { maxAttempts: 3, interval: 60_000, backoff: "fixed" as const },
  };
  const engine = new WorkflowEngine({ workflow: { id: "w", nodes: [call], edges: [] }, nodeDefinitions: { http: httpNode() } });
  expect((await engine.execute({})).status, "failed");
}

/** Checks that the engine of one copy accepts nodes and snapshots of the other copy. */
async function continueElsewhere(Mine: typeof WorkflowEngine, Theirs: typeof WorkflowEngine): Promise<void> {
  const workflow = { id: "w", nodes: [{ id: "ask", type: "approval", data: { title: "Go on?" } }], edges: [] };
  const paused = await new Mine({ workflow, nodeDefinitions: otherNodes.builtinNodes }).execute({});
  expect(paused.status, "paused");
  const done = await new Theirs({ workflow, nodeDefinitions: builtinNodes }).execute({
    snapshot: paused,
    externalPayload: { approved: true },
  });
  expect(done.status, "completed");
}

function readScopes(makeScope: typeof executionScope, compile: typeof compileExpression): void {
  const context = { a: [{ output: 3, version: 1, timestamp: 0, pathId: "0", nextNodeIds: [] }] };
  const scope = makeScope({ context: context as never, since: 1, metadata: {}, at: 0 });
  expect(compile("nodes.a.last.data + 1").evaluate(scope), 4);
  expect(compile("nodes.a.all.length").evaluate(scope), 1);
}

/** Checks that both copies recognize the errors that a runtime and its store throw; within one copy by class. */
async function refuseOnStore(create: typeof createRuntime, makeStore: typeof memoryStore, ofThisCopy: boolean): Promise<void> {
  const store = makeStore();
  const runtime = create({ store, workflows: [], nodeDefinitions: {} });
  const claim = { workflowId: "none", incarnation: "none", owner: "nobody", fence: 1 };
  const fromStore = await store.renew(claim as never).catch((error: unknown) => error);
  const fromRuntime = await runtime.start("none", {}).catch((error: unknown) => error);
  for (const error of [fromStore, fromRuntime]) {
    expect(StepfoldError.is(error), true);
    expect(other.StepfoldError.is(error), true);
  }
  expect(StepfoldError.is(fromRuntime, "DEFINITION_UNKNOWN"), true);
  if (ofThisCopy) expect(fromStore instanceof StepfoldError, true);
  await runtime.close();
  await store.close();
}

function expect(actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new TypeError(`expected ${JSON.stringify(expected)}, not ${JSON.stringify(actual)}`);
}
