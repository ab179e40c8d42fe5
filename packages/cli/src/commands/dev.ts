import { type LiveEvents, liveEvents } from "@stepfold/server";
import { StepfoldError } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";
import { cleanup } from "../cleanup.ts";
import { listenAt, readAddress } from "../dev/dev-address.ts";
import { type DevLog, devLog } from "../dev/dev-log.ts";
import type { WorkerProject } from "../dev/dev-messages.ts";
import { devToken } from "../dev/dev-token.ts";
import { developer, openBrowser, pagesServer } from "../dev/pages-server.ts";
import { findProject } from "../dev/project.ts";
import { ProjectChanges } from "../dev/project-changes.ts";
import { isEmptyFolder, isSample, sampleStart, writeSample } from "../dev/sample.ts";
import { servedRuntime } from "../dev/served-runtime.ts";
import type { BegunStep } from "../dev/worker-child.ts";
import { WorkerProcess } from "../dev/worker-process.ts";
import { newExecutionId } from "../execution/new-execution-id.ts";
import { exitCode } from "../exit-code.ts";
import { jsonArgument } from "../json/json-argument.ts";
import { readJsonFile } from "../json/read-json-file.ts";
import { namePath } from "../name-path.ts";
import { listenForInterruption } from "../session/interruption.ts";
import { nodeDefinitionsOf } from "../session/session.ts";
import { chooseDatabase, openQuietly } from "../store/database.ts";

/** Options of `stepfold dev`. */
export interface DevOptions {
  readonly store?: string;
  readonly config?: string;
  readonly port?: string;
  readonly host?: string;
  readonly token?: string;
  readonly input?: string;
  readonly id?: string;
  readonly open?: boolean;
  /** False with `--no-sample`. */
  readonly sample?: boolean;
  readonly json?: boolean;
}

/** `stepfold dev`: serves Studio and the API, and runs the executions in a process that is replaced when the code changes. @returns the exit code */
export async function dev(files: readonly string[], options: DevOptions): Promise<number> {
  const begunAtMs = performance.now();
  const address = readAddress(options);
  const log = devLog(options.json ?? false);
  const asked = await firstStart(files[0], options);
  const isOwn = files.length === 0 && options.sample !== false;
  const written = isOwn && options.config === undefined && isEmptyFolder() ? writeSample() : [];
  const project = findProject(files, options.config);
  const database = chooseDatabase(options.store);
  const closing = cleanup();
  const interruption = listenForInterruption(true);
  closing.add(interruption.stopListening);
  try {
    const store = await openQuietly(database);
    closing.add(() => store.close());
    const { items: known } = await store.list({ limit: 1 });
    const token = devToken(options.token);
    const live = liveEvents();
    live.listen((message) => message.type === "event" && log.event(message.workflowId, message.event));
    const changes = new ProjectChanges(files.length === 0, (changed) => replaceWorker(worker, files, options.config, changed, log));
    closing.add(() => changes.close());
    changes.add([...project.workflows, ...(project.config === null ? [] : [project.config])]);
    const worker = makeWorker({ ...project, good: {}, database: options.store }, live, changes, log);
    closing.add(() => worker.close());
    const own = createRuntime({ store, drive: false, nodeDefinitions: nodeDefinitionsOf({}), pollMs: 200 });
    closing.add(() => own.close());
    const server = pagesServer({ runtime: servedRuntime(own, worker), store, live, notice: () => worker.notice }, { address, token, log });
    const { url, close } = await listenAt(server, address);
    closing.add(close);
    worker.start();
    if (isOwn && project.config === null && project.workflows.length === 0) log.warn(nothingToRun);
    log.starts({ url, token, store: database.name, written, readyMs: performance.now() - begunAtMs });
    if (options.open) openBrowser(`${url}/#t=${token.text}`);
    const start = isOwn && isSample() && known.length === 0 ? sampleStart : asked;
    if (start) void startOnce(worker, start, log);
    await interruption.asked;
    return exitCode.done;
  } finally {
    await closing.run();
  }
}

const nothingToRun =
  "There is nothing to run: no workflows/*.json and no stepfold.config.ts. Add them, or name files of workflows. The sample is written only into an empty folder, so run stepfold dev in a new one to see it";

/** Makes the process that runs the executions. It is not started yet. */
function makeWorker(project: Omit<WorkerProject, "hasEarlier">, live: LiveEvents, changes: ProjectChanges, log: DevLog): WorkerProcess {
  return new WorkerProcess(process.argv[1]!, project, {
    live: live.publish,
    problem: (workflowId, code, message) => log.problem(workflowId, Object.assign(new Error(message), { code })),
    invalid: (file, message) => log.warn(`${namePath(file)} cannot run:\n${message}`),
    doubted: (message) => log.warn(message),
    ready: (isFirst) => isFirst || log.note("the code runs, as it is now"),
    failed: (message, hint, hasEarlier) => log.warn([message, ...(hint === null ? [] : [hint]), untilMended(hasEarlier)].join("\n")),
    blocked: (forMs, last) => log.warn(blockedText(forMs, last)),
    died: (how, againMs) => log.warn(`The process that runs your code has ended (${how}); ${afterEnd(againMs)}`),
    files: (paths) => changes.add(paths),
  });
}

function afterEnd(againMs: number | null): string {
  return againMs === null ? "another one goes on" : `again in ${againMs / 1_000} s`;
}

function untilMended(hasEarlier: boolean): string {
  return hasEarlier ? "The code as it was before goes on until this is mended" : "Nothing runs until this is mended; what is stored stays";
}

function blockedText(forMs: number, last: BegunStep | null): string {
  const step = last === null ? "" : `; the last step that it began is "${last.nodeId}" of ${last.workflowId}`;
  return `The process that runs your code has not answered for ${forMs / 1_000} s${step}. It is replaced. If a step never gives way, mend it or cancel its execution, which is parked if that goes on`;
}

/** Takes up the files as they are now. */
function replaceWorker(
  worker: WorkerProcess,
  named: readonly string[],
  config: string | undefined,
  changed: readonly string[],
  log: DevLog,
): void {
  log.note(`${changed.map((file) => namePath(file)).join(", ")} has changed`);
  try {
    worker.replace(findProject(named, config));
  } catch (error) {
    log.warn(error instanceof Error ? error.message : String(error));
  }
}

/** The execution that `--input` or `--id` asks for. @throws BadInput */
async function firstStart(file: string | undefined, { input, id }: DevOptions): Promise<FirstStart | null> {
  if (input === undefined && id === undefined) return null;
  if (file === undefined) throw new BadInput("USAGE", "--input and --id start an execution, so name the file of its workflow");
  const { id: workflow } = readJsonFile(file, "a workflow").value as { id: string };
  return {
    workflow,
    workflowId: id ?? newExecutionId(workflow),
    input: input === undefined ? undefined : await jsonArgument(input, "--input"),
  };
}

interface FirstStart {
  readonly workflow: string;
  readonly workflowId: string;
  readonly input?: unknown;
}

/** Starts an execution, if it was not started before. */
async function startOnce(worker: WorkerProcess, { workflow, ...options }: FirstStart, log: DevLog): Promise<void> {
  try {
    await worker.call({ caller: { by: developer }, method: "start", of: workflow, args: [options] });
  } catch (error) {
    if (StepfoldError.is(error, "START_CONFLICT")) log.note(`${options.workflowId} was started before, with another input or workflow`);
    else log.problem(options.workflowId, error);
  }
}
