import { type ChildProcess, fork } from "node:child_process";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import type { ClientOptions, WorkerOptions } from "./process-options.ts";

/** A process of a run. */
export interface Member {
  readonly kind: "worker" | "client";
  readonly name: string;
  readonly child: ChildProcess;
  /** True for every second worker. */
  readonly isSecond: boolean;
  /** The fake clock of the process. Null: the process uses the machine's clock. */
  readonly clock: FakeClock | null;
  /** True when the process has reported that it works. */
  ready: boolean;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

interface Options {
  readonly worker: Omit<WorkerOptions, "name">;
  readonly client: Omit<ClientOptions, "name" | "after">;
  /** The program of the workers. Default: that of the kill -9 runs. */
  readonly script?: URL | undefined;
  /** How every second worker differs from the others. Default: in nothing. */
  readonly secondWorker?: Partial<WorkerOptions> | undefined;
}

const scripts = { worker: new URL("./worker.ts", import.meta.url), client: new URL("./client.ts", import.meta.url) };

/** The processes of a run. Each process that is started has a unique name. */
export class Fleet {
  readonly members = new Set<Member>();
  /** Descriptions of processes that ended without being asked to, or with a wrong exit code. */
  readonly failures: string[] = [];
  readonly #options: Options;
  #started = 0;
  #noMoreStarts = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Starts a worker, of that kind of which fewer are there. */
  worker(more: Partial<WorkerOptions> = {}): Member {
    const { worker, secondWorker } = this.#options;
    const name = `worker-${++this.#started}`;
    const workers = [...this.members].filter(({ kind }) => kind === "worker");
    const isSecond = 2 * workers.filter((member) => member.isSecond).length < workers.length;
    return this.#start("worker", name, { ...worker, ...(isSecond && secondWorker), name, ...more }, isSecond);
  }

  /**
   * Starts a client.
   * @param after the name of the killed client whose starts the new client repeats, or null
   */
  client(after: string | null = null): Member {
    const name = `client-${++this.#started}`;
    return this.#start("client", name, { ...this.#options.client, name, after });
  }

  /** Kills a process and waits until it is gone. */
  async kill(member: Member): Promise<void> {
    this.members.delete(member);
    member.child.kill("SIGKILL");
    await member.ended;
  }

  /** Asks a worker to end (a client is killed), and waits until it has ended. */
  async end(member: Member): Promise<void> {
    this.members.delete(member);
    const isWorker = member.kind === "worker";
    member.child.kill(isWorker ? "SIGTERM" : "SIGKILL");
    const { code, signal } = await member.ended;
    if (isWorker && code !== 0) this.failures.push(`${member.name} ended with ${signal ?? code} when it was asked to`);
  }

  /** Asks all clients to start no more executions; resolves when all have agreed. */
  async endStarts(): Promise<void> {
    const clients = [...this.members].filter(({ kind }) => kind === "client");
    this.#noMoreStarts = 0;
    for (const { child } of clients) child.send("no more starts");
    await until("the clients end their starts", 30_000, async () => this.#noMoreStarts >= clients.length);
  }

  /** Ends all processes. Workers are asked to end, and release their claims. */
  async close(): Promise<void> {
    await Promise.all([...this.members].map((member) => this.end(member)));
  }

  /** Kills all processes, after a failure. */
  abandon(): void {
    for (const { child } of this.members) child.kill("SIGKILL");
    this.members.clear();
  }

  #start(kind: Member["kind"], name: string, options: WorkerOptions | ClientOptions, isSecond = false): Member {
    const clock = options.hasFakeClock ? fakeClock(options.folder, name) : null;
    const env = { ...process.env, ...clock?.env };
    const child = fork((kind === "worker" && this.#options.script) || scripts[kind], [JSON.stringify(options)], {
      execArgv: [],
      env,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    const member: Member = { kind, name, child, clock, isSecond, ready: false, ended };
    child.on("error", () => undefined);
    child.on("message", (message) => {
      if (message === "ready") member.ready = true;
      if (message === "no more starts") this.#noMoreStarts++;
    });
    this.members.add(member);
    void ended.then(({ code, signal }) => {
      clock?.remove(child.pid!);
      // the process is still a member, so it was not asked to end
      if (this.members.delete(member)) this.failures.push(`${name} ended by itself with ${signal ?? code}`);
    });
    return member;
  }
}

/**
 * Polls until `holds` returns true.
 * @throws RangeError after `mostMs` milliseconds, with the text `what`
 */
export async function until(what: string, mostMs: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + mostMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new RangeError(`waited ${mostMs / 1000} s, and still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
