import { url as inspectorUrl } from "node:inspector";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { liveEvents } from "@stepfold/server";
import { type GlobalsOf, type NodeDefinitions, StepfoldError, type WorkflowDefinition } from "stepfold";
import { createRuntime, type Runtime, type ScopedRuntime } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import { memoryStore } from "stepfold/stores/memory";
import { cleanup } from "../cleanup.ts";
import type { LoadedConfig } from "../config/config.ts";
import { loadConfig } from "../config/load-config.ts";
import { openGlobals } from "../config/open-globals.ts";
import { openPart } from "../config/open-part.ts";
import { openQueue, queueUrl } from "../config/open-queue.ts";
import { exitCode } from "../exit-code.ts";
import { nodeDefinitionsOf } from "../session/session.ts";
import { chooseDatabase, type Database, openQuietly, type Store } from "../store/database.ts";
import type { FromWorker, ToWorker, WorkerCall, WorkerProject, WorkerReply } from "./dev-messages.ts";
import { failureOf } from "./failure-of.ts";
import { usableWorkflows } from "./usable-workflows.ts";

/** The lease is short, so that the next process goes on soon after this one was killed. */
const leaseMs = 2_000;
const pollMs = 100;
const beatMs = 5_000;
/** Each process that an execution ends costs everything else some seconds. */
const maxCrashes = 3;
/** How often it reports that its code gives way. */
const heartbeatMs = 500;
/** How long steps under way may go on when the process is replaced. */
const patienceMs = 2_000;

/** The process of `stepfold dev` that has the user's code and runs the executions. Its parent replaces it when the code changes. */
export async function devWorker(): Promise<number> {
  const closing = cleanup();
  const loaded = new Set<string>();
  noteLoadedFiles(loaded);
  // the parent has ended, or asks to end
  const ended = new Promise<void>((resolve) => {
    process.once("disconnect", resolve);
    process.on("message", (message: ToWorker) => message.type === "stop" && resolve());
  });
  // Ctrl-C reaches all processes of a terminal; the parent decides when this one ends
  process.on("SIGINT", () => undefined);
  const beat = (): void => report({ type: "beat", isDebugged: inspectorUrl() !== undefined });
  beat();
  setInterval(beat, heartbeatMs).unref();
  try {
    const project = await firstMessage();
    const { config, database, store, workflows } = await load(project, closing).finally(() =>
      report({ type: "files", paths: [...loaded] }),
    );
    if (!(await mayOpen(ended))) return exitCode.done;
    const runtime = await open(project, { config, database, store, workflows }, closing);
    report({ type: "files", paths: [...loaded] });
    const work = runtime.work();
    closing.add(() => work.stop({ timeoutMs: patienceMs }));
    process.on("message", (message: ToWorker) => {
      if (message.type === "call")
        void answerCall(runtime, message.call).then((answer) => report({ type: "answer", id: message.id, answer }));
    });
    report({ type: "ready", description: runtime.describe() });
    await ended;
    return exitCode.done;
  } catch (error) {
    report({ type: "failed", ...failureOf(error) });
    return exitCode.badInput;
  } finally {
    await closing.run();
  }
}

function report(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}

function firstMessage(): Promise<WorkerProject> {
  return new Promise((resolve) => {
    process.on("message", (message: ToWorker) => message.type === "begin" && resolve(message.project));
    process.send?.({ type: "files", paths: [] } satisfies FromWorker);
  });
}

/** Resolves when the process may open what its code needs, to true; to false when it has to end. */
function mayOpen(ended: Promise<void>): Promise<boolean> {
  const told = new Promise<boolean>((resolve) => {
    process.on("message", (message: ToWorker) => message.type === "open" && resolve(true));
  });
  return Promise.race([told, ended.then(() => false)]);
}

/** What was loaded, and has been found fit to run. */
interface LoadedProject {
  readonly config: LoadedConfig;
  readonly database: Database;
  readonly store: Store;
  readonly workflows: readonly WorkflowDefinition[];
}

/** Loads the code and the workflows, and checks them. Nothing of what the code needs is opened: the process before may hold it. */
async function load(project: WorkerProject, closing: ReturnType<typeof cleanup>): Promise<LoadedProject> {
  const config = await loadConfig(project.config);
  const database = chooseDatabase(project.database);
  const store = await openQuietly(database);
  closing.add(() => store.close());
  await store.list({ limit: 1 });
  const { used, workflows } = usableWorkflows(project, config, report);
  await rehearse(config, workflows);
  report({ type: "loaded", workflows: used });
  return { config, database, store, workflows };
}

/** Makes a runtime of the code on a store that is thrown away: what cannot run is refused here. */
async function rehearse(config: LoadedConfig, workflows: LoadedProject["workflows"]): Promise<void> {
  const runtime = createRuntime<NodeDefinitions>({
    ...{ store: memoryStore(), workflows, nodeDefinitions: nodeDefinitionsOf(config), globals: {} as GlobalsOf<NodeDefinitions> },
    ...{ ...(config.limits && { limits: config.limits }), schedules: schedules(config.schedules) },
  });
  await runtime.close({ timeoutMs: 0 });
}

/** Opens what the code needs, and makes its runtime. */
async function open(
  project: WorkerProject,
  { config, database, store, workflows }: LoadedProject,
  closing: ReturnType<typeof cleanup>,
): Promise<Runtime> {
  const globals = await openGlobals({ config, configPath: project.config, database, cleanup: closing });
  const queue = await openQueue(queueUrl(undefined), config, project.config, closing);
  const feed = await openPart("feed", config, project.config, closing);
  const live = liveEvents();
  closing.add(live.listen((message) => report({ type: "live", message })));
  const runtime = createRuntime<NodeDefinitions>({
    ...{ store, workflows },
    nodeDefinitions: nodeDefinitionsOf(config),
    globals: globals as GlobalsOf<NodeDefinitions>,
    ...(config.secrets && { secrets: config.secrets }),
    ...(config.limits && { limits: config.limits }),
    ...{ drive: false, leaseMs, pollMs, beatMs, maxCrashes },
    ...(queue && { queue }),
    ...(feed && { feed }),
    schedules: schedules(config.schedules),
    plugins: [live.plugin],
    onProblem: (workflowId, error) => report({ type: "problem", workflowId, ...failureOf(error) }),
  });
  closing.add(() => runtime.close({ timeoutMs: patienceMs }));
  return runtime;
}

/** Makes a call as the process that serves would, but with the code of the nodes. */
async function answerCall(runtime: Runtime, { caller, method, of, args }: WorkerCall): Promise<WorkerReply> {
  try {
    return { value: await called(runtime.scoped(caller), method, of, args) };
  } catch (error) {
    const details = StepfoldError.is(error) ? (error.details as object) : null;
    return { error: { ...failureOf(error), details } };
  }
}

async function called(runtime: ScopedRuntime, method: WorkerCall["method"], of: string, args: readonly unknown[]): Promise<unknown> {
  if (method === "start") {
    const { workflowId, isNew } = await runtime.start(of, ...(args as [object]));
    return { workflowId, isNew };
  }
  const run = await runtime.get(of);
  return (run[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
}

/** Notes the files of the user whose code is loaded, so that they can be watched. */
function noteLoadedFiles(loaded: Set<string>): void {
  registerHooks({
    load(url, context, next) {
      if (url.startsWith("file:") && !url.includes("/node_modules/")) loaded.add(fileURLToPath(url.split("?")[0]!));
      return next(url, context);
    },
  });
}
