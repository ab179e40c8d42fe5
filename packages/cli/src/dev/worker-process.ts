import type { LiveMessage } from "@stepfold/server";
import { StepfoldError } from "stepfold";
import type { RuntimeDescription } from "stepfold/runtime";
import type { WorkerCall, WorkerProject } from "./dev-messages.ts";
import { type BegunStep, type ChildEvents, WorkerChild } from "./worker-child.ts";

/** A process that has died is started again after this time, then twice as long each time, until one has lived for `steadyMs`. */
const firstAgainMs = 200;
const maxAgainMs = 5_000;
const steadyMs = 10_000;
/** How long a call waits for a process that is just being started. */
const readyMs = 10_000;

type Message = Parameters<ChildEvents["message"]>[0];

/** What is told of the process that runs the executions. */
export interface WorkerEvents {
  live(message: LiveMessage): void;
  problem(workflowId: string | null, code: string, message: string): void;
  /** A workflow in a file cannot run. */
  invalid(file: string, message: string): void;
  /** Something in a workflow is probably a mistake. */
  doubted(message: string): void;
  /** It runs what is due. @param isFirst false: it has taken the place of another one */
  ready(isFirst: boolean): void;
  /** Code cannot run: it has to change first. @param hasEarlier the code before it goes on running */
  failed(message: string, hint: string | null, hasEarlier: boolean): void;
  /** It does not answer, because its code does not give way, and is replaced. @param last the last step that it has begun */
  blocked(forMs: number, last: BegunStep | null): void;
  /** It has died. @param againMs after which time it is started again; null: another one is there */
  died(how: string, againMs: number | null): void;
  /** The files whose code it has loaded. */
  files(paths: readonly string[]): void;
}

/**
 * The process that has the user's code and runs the executions, whichever it is at the moment. When the code changes, another process loads
 * it, while the one before goes on. Only when that has worked, the one before ends, and then the other one opens what the code needs.
 */
export class WorkerProcess {
  readonly #script: string;
  readonly #events: WorkerEvents;
  #project: Omit<WorkerProject, "hasEarlier">;
  /** It runs the executions, or is about to. */
  #current: WorkerChild | null = null;
  /** It loads the code. */
  #next: WorkerChild | null = null;
  /** What it was told of this at its start. */
  #nextHasEarlier = false;
  #description: RuntimeDescription | null = null;
  #isReady = false;
  #waiting: (() => void)[] = [];
  #isEnding = false;
  #wasReady = false;
  #hasFailed = false;
  /** The present code has not loaded, and the code before it runs. */
  #isOutdated = false;
  #againMs = firstAgainMs;
  #timer: NodeJS.Timeout | null = null;

  /** @param script the script of the command line */
  constructor(script: string, project: Omit<WorkerProject, "hasEarlier">, events: WorkerEvents) {
    this.#script = script;
    this.#project = project;
    this.#events = events;
  }

  /** What the code can start and knows; null while none runs. */
  get description(): RuntimeDescription | null {
    return this.#description;
  }

  /** True if it takes calls. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** True if it takes calls, and nothing shows that its code does not give way. */
  get isAnswering(): boolean {
    return this.#isReady && !this.#current?.isDoubtful;
  }

  /** What people should know who do not see the terminal; null: the code runs as it is. */
  get notice(): string | null {
    if (this.#hasFailed) return "No code runs: see the terminal of stepfold dev";
    return this.#isOutdated ? "Changed code does not load, so the code before it runs: see the terminal of stepfold dev" : null;
  }

  start(): void {
    this.#timer = null;
    const hasEarlier = this.#current !== null;
    if (!hasEarlier) this.#hasFailed = false;
    const child: WorkerChild = new WorkerChild(
      this.#script,
      { ...this.#project, hasEarlier },
      {
        message: (message) => this.#take(child, message),
        blocked: (forMs, last) => this.#blocked(child, forMs, last),
        ended: (how, livedMs) => this.#ended(child, how, livedMs),
      },
    );
    this.#next = child;
    this.#nextHasEarlier = hasEarlier;
  }

  /** Replaces the process by one with the present code, and perhaps other workflows, once this code has loaded. */
  replace(project: Partial<WorkerProject> = {}): void {
    this.#project = { ...this.#project, ...project };
    if (this.#isEnding) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#againMs = firstAgainMs;
    void this.#next?.stop();
    this.start();
  }

  /** Ends the process for good. */
  async close(): Promise<void> {
    this.#isEnding = true;
    if (this.#timer) clearTimeout(this.#timer);
    await Promise.all([this.#next?.stop(), this.#current?.stop()]);
    this.#release();
  }

  /** Makes a call in the process, once there is one. @throws StepfoldError those of the call; `OUTCOME_UNKNOWN` if the process dies meanwhile */
  async call(call: WorkerCall): Promise<unknown> {
    await this.#ready();
    const child = this.#current;
    if (!child || !this.#isReady)
      throw new StepfoldError("RUNTIME_CLOSED", {
        action: `${call.method}: your code does not run (the terminal of stepfold dev says why)`,
      });
    const answer = await child.call(call);
    if (!answer) throw unknown(call, child.isBlocked ? "your code did not give way, and its process was ended" : "the process has ended");
    if ("value" in answer) return answer.value;
    const { code, details, message } = answer.error;
    if (details === null) throw new TypeError(message);
    throw new StepfoldError(code as "OPTION_INVALID", details as { option: string; reason: string });
  }

  /** Resolves once a process is ready, or there will be none, or after some time. */
  async #ready(): Promise<void> {
    if (this.#isReady || this.#hasFailed || this.#isEnding) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, readyMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #take(child: WorkerChild, message: Message): void {
    const { type } = message;
    // one that is ending still tells what it does
    if (type === "live") this.#events.live(message.message);
    else if (type === "problem") this.#events.problem(message.workflowId, message.code, message.message);
    else if (child !== this.#next && child !== this.#current) return;
    else if (type === "invalid") this.#events.invalid(message.file, message.message);
    else if (type === "doubted") this.#events.doubted(message.message);
    else if (type === "files") this.#events.files(message.paths);
    else if (type === "loaded") void this.#promote(child, message.workflows);
    else if (type === "ready") this.#begun(message.description);
    else this.#failed(child, message.message, message.hint);
  }

  /** Lets the process whose code has loaded take the place of the one before. */
  async #promote(next: WorkerChild, good: WorkerProject["good"]): Promise<void> {
    this.#isReady = false;
    await this.#current?.stop();
    if (this.#isEnding) return;
    if (this.#next !== next) {
      // the code has changed again meanwhile, or the process has ended
      if (!this.#isServed) this.#startAgain();
      return;
    }
    this.#next = null;
    this.#current = next;
    this.#isOutdated = false;
    this.#project = { ...this.#project, good };
    next.send({ type: "open" });
  }

  #begun(description: RuntimeDescription): void {
    this.#isReady = true;
    this.#description = description;
    this.#events.ready(!this.#wasReady);
    this.#wasReady = true;
    this.#release();
  }

  /** Its code cannot run. It ends by itself. */
  #failed(child: WorkerChild, message: string, hint: string | null): void {
    const wasNext = child === this.#next;
    if (wasNext) this.#next = null;
    else this.#current = null;
    // it counted on another process, which has ended meanwhile: it may be able to run without some of the workflows
    if (wasNext && this.#nextHasEarlier && !this.#current) {
      this.start();
      return;
    }
    this.#events.failed(message, hint, this.#current !== null);
    this.#isOutdated = this.#current !== null;
    if (this.#current) return;
    this.#hasFailed = true;
    this.#isReady = false;
    this.#description = null;
    this.#release();
  }

  #blocked(child: WorkerChild, forMs: number, last: BegunStep | null): void {
    if (child === this.#next) this.#failed(child, `Your code has not given way for ${forMs / 1_000} s while it was loaded`, null);
    else this.#events.blocked(forMs, last);
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #ended(child: WorkerChild, how: string, livedMs: number): void {
    if (child === this.#next) this.#next = null;
    else if (child === this.#current) {
      this.#current = null;
      this.#isReady = false;
    } else return;
    if (this.#isEnding || child.isStopping) return;
    if (livedMs > steadyMs) this.#againMs = firstAgainMs;
    if (!child.isBlocked) this.#events.died(how, this.#isServed ? null : this.#againMs);
    if (!this.#isServed) this.#startAgain();
  }

  /** True if a process runs, or loads the code. */
  get #isServed(): boolean {
    return this.#next !== null || this.#current !== null;
  }

  #startAgain(): void {
    this.#description = null;
    this.#timer = setTimeout(() => this.start(), this.#againMs);
    this.#againMs = Math.min(maxAgainMs, this.#againMs * 2);
  }
}

/** The error for a call of which nobody knows whether it was made. */
function unknown({ method, of, args }: WorkerCall, reason: string): StepfoldError<"OUTCOME_UNKNOWN"> {
  const workflowId = method === "start" ? (args[0] as { readonly workflowId: string }).workflowId : of;
  return new StepfoldError("OUTCOME_UNKNOWN", { workflowId, action: method, reason });
}
