import { type ChildProcess, fork } from "node:child_process";
import type { FromWorker, ToWorker, WorkerCall, WorkerProject, WorkerReply } from "./dev-messages.ts";
import { isInspected } from "./inspected.ts";
import { Silence } from "./silence.ts";

/** A process that was asked to end and does not is ended. */
const patienceMs = 5_000;
/** A process that tells nothing for this time is blocked: it beats twice a second. */
const silentMs = 8_000;
/** After this time without a beat it is probably blocked. */
const doubtfulMs = 2_000;

/** A step that a process has begun. */
export interface BegunStep {
  readonly workflowId: string;
  readonly nodeId: string;
}

/** What is told of one process. */
export interface ChildEvents {
  message(message: Exclude<FromWorker, { readonly type: "answer" | "beat" }>): void;
  /** It does not answer any more, and is ended. @param last the last step that it has begun */
  blocked(forMs: number, last: BegunStep | null): void;
  /** It has ended. */
  ended(how: string, livedMs: number): void;
}

/** One process with the user's code. */
export class WorkerChild {
  readonly #child: ChildProcess;
  readonly #events: ChildEvents;
  readonly #calls = new Map<number, (answer: WorkerReply | null) => void>();
  readonly #silence: Silence;
  readonly #isWatched = !isInspected();
  #lastCall = 0;
  #lastStep: BegunStep | null = null;
  #stopping: Promise<void> | null = null;
  #isBlocked = false;

  /** Starts it. @param script the script of the command line */
  constructor(script: string, project: WorkerProject, events: ChildEvents) {
    this.#events = events;
    this.#silence = new Silence(silentMs, () => this.#endBlocked());
    const begunAt = performance.now();
    // the arguments are not for other users of the machine to see, so the project travels as a message
    const child = fork(script, ["dev-worker"], { serialization: "advanced", stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#child = child;
    child.on("message", (message: FromWorker) => this.#take(message));
    child.on("error", () => undefined);
    child.on("exit", (code, signal) => {
      this.#silence.end();
      for (const resolve of this.#calls.values()) resolve(null);
      this.#calls.clear();
      events.ended(signal ?? `code ${code}`, performance.now() - begunAt);
    });
    this.send({ type: "begin", project });
  }

  /** True if nothing was heard of it for a while: it probably runs code that does not give way. */
  get isDoubtful(): boolean {
    return this.#silence.forMs >= doubtfulMs;
  }

  /** True if it was ended because it did not answer. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** True if it was asked to end. */
  get isStopping(): boolean {
    return this.#stopping !== null;
  }

  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** Makes a call in the process. Null: it has ended meanwhile. */
  call(call: WorkerCall): Promise<WorkerReply | null> {
    const id = ++this.#lastCall;
    return new Promise((resolve) => {
      this.#calls.set(id, resolve);
      this.send({ type: "call", id, call });
    });
  }

  /** Asks it to end. Resolves once it has ended, which takes some seconds at most. */
  stop(): Promise<void> {
    const child = this.#child;
    this.#silence.end();
    this.#stopping ??= new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      const force = setTimeout(() => child.kill("SIGKILL"), patienceMs);
      child.once("exit", () => {
        clearTimeout(force);
        resolve();
      });
      this.send({ type: "stop" });
    });
    return this.#stopping;
  }

  #take(message: FromWorker): void {
    this.#silence.heard();
    if (message.type === "beat") this.#watch(message.isDebugged);
    else if (message.type === "answer") this.#answered(message.id, message.answer);
    else {
      if (message.type === "live" && message.message.type === "progress" && message.message.progress === undefined)
        this.#lastStep = message.message;
      this.#events.message(message);
    }
  }

  #answered(id: number, answer: WorkerReply): void {
    this.#calls.get(id)?.(answer);
    this.#calls.delete(id);
  }

  /** Watches it from its first beat on, while no debugger can stop it. */
  #watch(isDebugged: boolean): void {
    if (isDebugged || !this.#isWatched || this.#stopping) this.#silence.end();
    else this.#silence.begin();
  }

  #endBlocked(): void {
    this.#isBlocked = true;
    this.#events.blocked(silentMs, this.#lastStep);
    // code that does not give way takes no request to end
    this.#child.kill("SIGKILL");
  }
}
