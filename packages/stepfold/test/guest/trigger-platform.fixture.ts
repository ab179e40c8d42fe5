import { AsyncLocalStorage } from "node:async_hooks";
import type { TriggerWait } from "../../src/guest/trigger/trigger-client.ts";
import type { Environment } from "../../src/ports/environment.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { viaJson } from "../engine/engine.fixture.ts";
import { Killed, type Misfortune } from "./journal-host.fixture.ts";

interface Token {
  readonly id: string;
  readonly timeoutAt: number;
  status: "WAITING" | "COMPLETED" | "TIMED_OUT";
  output: unknown;
  /** The callbacks of the runs that wait for this token. */
  readonly waiters: (() => void)[];
}

type RunResult = { readonly ok: true; readonly output: never } | { readonly ok: false; readonly error: unknown };

interface Attempt {
  readonly runId: string;
  /** True once the process of the run was killed. */
  isDead: boolean;
  /** True while the run waits for something. */
  isWaiting: boolean;
}

interface TaskConfig {
  readonly id: string;
  readonly retry?: { readonly maxAttempts?: number };
  readonly run: (payload: never, parameters: never) => Promise<unknown>;
}

interface Item {
  readonly payload: unknown;
  readonly options?: { readonly idempotencyKey?: string };
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A simulation of Trigger.dev in memory, on a virtual clock: tasks, keys and tokens as its documentation and SDK describe them. It proves
 * nothing about the real platform. A run can die at each call that it makes and is then repeated. A run that waits for two things at once
 * fails.
 */
export class TriggerPlatform {
  readonly clock: VirtualEnvironment = virtualEnvironment();
  readonly tokens = new Map<string, Token>();
  /** `wait` of the SDK. Its tokens have idempotency keys. */
  readonly wait: TriggerWait;
  /** The number of calls so far at which a run could be killed. */
  points = 0;
  /** The number of kills so far. */
  kills = 0;
  /** The number of runs that have begun. */
  runs = 0;
  readonly #tasks = new Map<string, TaskConfig>();
  /** The runs that were begun with a key, by task, calling run and key. */
  readonly #kept = new Map<string, Promise<RunResult>>();
  readonly #attempt = new AsyncLocalStorage<Attempt>();
  readonly #misfortune: Misfortune;
  readonly #environment: Environment;

  /** @param environment the real clock, if it is used in place of the virtual one */
  constructor(misfortune: Misfortune = {}, environment?: Environment) {
    this.#misfortune = misfortune;
    this.#environment = environment ?? this.clock;
    this.wait = this.#waiting();
  }

  /** `task` of the SDK. */
  readonly task = (config: TaskConfig): { readonly id: string; readonly [method: string]: unknown } => {
    this.#tasks.set(config.id, config);
    const one = ({ payload, options }: Item): Promise<RunResult> => this.#keptRun(config.id, payload, options?.idempotencyKey);
    return {
      id: config.id,
      trigger: async (payload: unknown, options?: Item["options"]) => void one({ payload, ...(options && { options }) }),
      triggerAndWait: (payload: unknown, options?: Item["options"]) =>
        this.#call(() => this.#blocked(() => one({ payload, ...(options && { options }) }))),
      batchTriggerAndWait: (items: readonly Item[]) =>
        this.#call(() => this.#blocked(async () => ({ runs: await Promise.all(items.map(one)) }))),
    };
  };

  /** Runs a task that no other run calls, and moves the virtual clock until the task has ended. */
  async run(id: string, payload: unknown): Promise<RunResult> {
    const working = this.#keptRun(id, payload, undefined);
    if (this.#environment !== this.clock) return working;
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    working.then(end, end);
    await this.clock.settle();
    while (!isOver) await this.clock.advance(60_000);
    return working;
  }

  /**
   * Begins a run, or returns the run that has the same key. As in version 4.3.1 and later, a key belongs to the calling run. The key of a
   * run that failed can be used again.
   */
  #keptRun(id: string, payload: unknown, key: string | undefined): Promise<RunResult> {
    const name = JSON.stringify([id, this.#attempt.getStore()?.runId, key]);
    const known = key === undefined ? undefined : this.#kept.get(name);
    if (known) return known;
    const run = this.#attempt.exit(() => this.#attempts(id, viaJson(payload)));
    if (key !== undefined) this.#kept.set(name, run);
    void run.then(({ ok }) => !ok && this.#kept.delete(name));
    return run;
  }

  async #attempts(id: string, payload: unknown): Promise<RunResult> {
    const { run, retry } = this.#tasks.get(id)!;
    const runId = `run_${++this.runs}`;
    for (let number = 1; ; number++) {
      const attempt: Attempt = { runId, isDead: false, isWaiting: false };
      try {
        const work = (): Promise<unknown> => run(viaJson(payload) as never, { ctx: { run: { id: runId }, attempt: { number } } } as never);
        const output = await this.#attempt.run(attempt, async () => {
          const first = await this.#call(() => this.#twice(work));
          this.#mayDie();
          return first;
        });
        return { ok: true, output: (output === undefined ? undefined : viaJson(output)) as never };
      } catch (error) {
        if (number >= (retry?.maxAttempts ?? 1)) return { ok: false, error };
      }
    }
  }

  /** Runs a step twice if `doubles` is set. The first run, which is the handler, runs once because it waits. */
  async #twice(work: () => Promise<unknown>): Promise<unknown> {
    const isStep = this.#misfortune.doubles && this.#attempt.getStore()!.runId !== "run_1";
    if (!isStep) return work();
    const [first] = await Promise.all([work(), work()]);
    return first;
  }

  #waiting(): TriggerWait {
    const completed = <T>(token: Token): T => {
      const { status, output } = token;
      if (status === "COMPLETED") return { ok: true, output: output === undefined ? undefined : viaJson(output) } as T;
      return { ok: false, error: new Error("the token timed out") } as T;
    };
    const tokenById = (id: string): Token => [...this.tokens.values()].find((token) => token.id === id)!;
    return {
      createToken: (options) => this.#call(async () => ({ id: this.#tokenOf(options).id })),
      retrieveToken: <T>(id: string) =>
        this.#call(async () => {
          const { status, timeoutAt, output } = tokenById(id);
          return { status, timeoutAt: new Date(timeoutAt), output: output as T | undefined };
        }),
      completeToken: (id, data) => this.#call(async () => this.#complete(tokenById(id), "COMPLETED", viaJson(data))),
      forToken: (id) =>
        this.#call(() =>
          this.#blocked(async () => {
            const token = tokenById(id);
            if (token.status === "WAITING") await new Promise<void>((resolve) => token.waiters.push(resolve));
            return completed(token);
          }),
        ),
      until: ({ date }) =>
        this.#call(() =>
          this.#blocked(
            () => new Promise<void>((resolve) => this.#environment.after(Math.max(0, date.getTime() - this.#environment.now()), resolve)),
          ),
        ),
    };
  }

  #tokenOf({ idempotencyKey, timeout }: { idempotencyKey: string; timeout: string }): Token {
    const known = this.tokens.get(idempotencyKey);
    if (known) return known;
    const [, amount, unit] = /^(\d+)([smhd])$/.exec(timeout)!;
    const afterMs = Number(amount) * unitsMs[unit!]!;
    const timeoutAt = this.#environment.now() + afterMs;
    const token: Token = { id: `waitpoint_${this.tokens.size}`, timeoutAt, status: "WAITING", output: undefined, waiters: [] };
    this.tokens.set(idempotencyKey, token);
    this.#environment.after(afterMs, () => this.#complete(token, "TIMED_OUT", undefined), { background: true });
    return token;
  }

  /** Completes a token. As on Trigger.dev, a token that has ended stays as it is, and the caller gets no error. */
  #complete(token: Token, status: Token["status"], output: unknown): void {
    if (token.status !== "WAITING") return;
    token.status = status;
    token.output = output;
    for (const wake of token.waiters.splice(0)) wake();
  }

  /** Refuses a second wait of a run that waits already, as Trigger.dev does. */
  async #blocked<T>(work: () => Promise<T>): Promise<T> {
    const attempt = this.#attempt.getStore()!;
    if (attempt.isWaiting) throw new Error("Parallel waits are not supported");
    attempt.isWaiting = true;
    const result = await work();
    attempt.isWaiting = false;
    return result;
  }

  /** Makes a call of the platform, from a run or from outside. A run may die at its call, and the calls of a dead run never end. */
  async #call<T>(work: () => Promise<T>): Promise<T> {
    const attempt = this.#attempt.getStore();
    if (attempt?.isDead) return never();
    if (attempt) this.#mayDie();
    const result = await work();
    return attempt?.isDead ? never() : result;
  }

  #mayDie(): void {
    const point = this.points++;
    if (!this.#misfortune.killsAt?.has(point)) return;
    this.kills++;
    this.#attempt.getStore()!.isDead = true;
    throw new Killed();
  }
}

/** The result of a call in a dead process: it never comes. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
