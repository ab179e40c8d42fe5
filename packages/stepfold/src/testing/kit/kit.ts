import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Task } from "../../core/transition/plan.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { defaultLimits } from "../../core/values/limits.ts";
import type { InterceptingEnvironment } from "../../engine/attempt/intercept.ts";
import type { NodeDefinition, NodeDefinitions, NodeOutput } from "../../engine/node/node-definition.ts";
import type { StepContext } from "../../engine/node/step-context.ts";
import { libraryOf } from "../../engine/workflow/link-workflows.ts";
import { type PreparedWorkflow, prepareStored } from "../../engine/workflow/prepared-workflow.ts";
import { untyped } from "../../engine/workflow/typed-workflows.ts";
import type { Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { RuntimeOptions } from "../../runtime/context/runtime-options.ts";
import { createRuntime } from "../../runtime/create-runtime.ts";
import { giveBack } from "../../runtime/local/give-back.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { Activity } from "./activity.ts";
import { type Bend, underBend } from "./bent-clock.ts";
import { Executions } from "./executions.ts";
import type { GoldenSource } from "./golden-source.ts";
import { KitClock, type KitProcess } from "./kit-clock.ts";
import { kitStore } from "./kit-store.ts";
import { isStub, withMissingTypes } from "./missing-types.ts";
import { type MockCall, Mocks, type MockTable, mockedOutput } from "./mocks.ts";
import { replayWith } from "./replay-check.ts";
import { TestFailure } from "./test-failure.ts";

/** A step that was performed. */
export type StepCall = Omit<MockCall, "call" | "crash"> & {
  readonly workflowId: string;
  /** Whether a mock has answered. */
  readonly isMocked: boolean;
};

/** What a kit is made of. */
export interface KitOptions {
  readonly workflows: readonly unknown[];
  readonly nodeDefinitions: NodeDefinitions;
  readonly mocks: MockTable;
  readonly globals: unknown;
  readonly startAt: EpochMs;
  readonly store: (clock: { readonly now: () => EpochMs }) => SnapshotStore;
  readonly replays: boolean;
  readonly patienceMs: number;
  readonly runtime: Partial<RuntimeOptions>;
}

const dayMs = 86_400_000;
/**
 * The clocks under which code is replayed. What is decided by whether the clock of the process, a length of time or chance is below or above some value,
 * or even or odd, comes out differently under one of them.
 */
const bends: readonly Bend[] = [
  { startAt: Date.UTC(1975, 0, 1), stepMs: -dayMs - 1, chance: 0 },
  { startAt: Date.UTC(2080, 0, 1) + 1, stepMs: dayMs + 1, chance: 1 - 2 ** -30 },
];

const advice =
  "Only the input, the results of steps, and step.now(), step.random(), step.uuid() and step.changed() may decide what code asks for. So take times " +
  "from step.now() and chance from step.random() or step.uuid(), ask for no step inside the function of another one, and await nothing but steps: " +
  "everything else belongs into a step.run";

interface LiveProcess extends KitProcess {
  readonly runtime: Runtime;
}

/** The clock, the store and the processes of a test: one process at a time. */
export class Kit {
  readonly executions: Executions = new Executions();
  readonly calls: StepCall[] = [];
  readonly clock: KitClock;
  readonly #options: KitOptions;
  readonly #mocks: Mocks;
  readonly #store: SnapshotStore;
  readonly #untyped: { readonly workflows: readonly unknown[]; readonly nodeDefinitions: NodeDefinitions };
  readonly #replay: ReturnType<typeof replayWith>;
  #process: LiveProcess;
  #failure: TestFailure | null = null;
  #isFailureThrown = false;
  /** The due executions for which the last poll was made. */
  #polled = "";
  #isClosed = false;

  constructor(options: KitOptions) {
    this.#options = options;
    this.clock = new KitClock(options.startAt);
    this.#mocks = new Mocks(options.mocks);
    this.#store = options.store({ now: () => this.clock.now });
    const taken = untyped(options.workflows, options.nodeDefinitions);
    this.#untyped = { ...taken, nodeDefinitions: withMissingTypes(taken) };
    this.#replay = replayWith(options.globals);
    this.#process = this.#begin();
  }

  #begin(): LiveProcess {
    const { globals, runtime } = this.#options;
    const process: KitProcess = { isAlive: true, activity: new Activity() };
    const environment: InterceptingEnvironment = {
      ...this.clock.environmentOf(process),
      "~intercept": (definition, task, type) => ({
        ...definition,
        executor: (data: unknown, step: StepContext) => this.#perform(process, { definition, task, type }, data, step),
      }),
    };
    const { logger } = runtime;
    const made = createRuntime<NodeDefinitions>({
      leaseMs: 300_000,
      ...runtime,
      ...this.#untyped,
      ...(globals !== undefined && { globals: globals as Record<string, unknown> }),
      store: kitStore(this.#store, process, {
        executions: this.executions,
        committed: (commit) => this.#committed(commit),
        defined: (hash, definition) => this.#define(hash, definition),
      }),
      environment,
      logger: {
        info: (message, details) => logger?.info(message, details),
        error: (message, details) => logger?.error(message, details),
        warn: (message, details) => {
          if (details && "code" in details && details.code === "CODE_AWAITED_ELSEWHERE")
            this.#fail("CODE_NOT_REPEATABLE", `${message}. ${advice}`);
          return logger?.warn(message, details);
        },
      },
      onProblem: (workflowId, error) => {
        runtime.onProblem?.(workflowId, error);
        if (!StepfoldError.is(error, "EXECUTION_PARKED")) this.#fail("PROBLEM", `The runtime reports a problem: ${String(error)}`, error);
      },
    });
    return Object.assign(process, { runtime: made });
  }

  get runtime(): Runtime {
    return this.#process.runtime;
  }

  #define(hash: string, definition: unknown): void {
    this.executions.define(hash, this.#prepare(definition));
  }

  #prepare(definition: unknown): PreparedWorkflow {
    const { nodeDefinitions, workflows } = this.#untyped;
    return prepareStored(definition, nodeDefinitions, defaultLimits, libraryOf(workflows));
  }

  /** What a golden file needs of the kit. */
  golden(snapshot: Snapshot): Pick<GoldenSource, "prepared" | "prepare" | "replay"> {
    return {
      prepared: this.executions.preparedOf(snapshot) ?? this.#prepare(null),
      prepare: (definition) => this.#prepare(definition),
      replay: this.#replay,
    };
  }

  #fail(reason: TestFailure["reason"], message: string, cause?: unknown): void {
    this.#failure ??= new TestFailure(reason, message, cause);
    this.#process.isAlive = false;
    this.#process.activity.end();
  }

  /** Replays the code of an execution after a commit. */
  async #committed({ workflowId }: Commit): Promise<void> {
    const snapshot = this.executions.get(workflowId)?.replay.snapshot();
    const workflow = snapshot && this.executions.preparedOf(snapshot);
    if (!this.#options.replays || !snapshot || !workflow?.compiled.runsCode) return;
    for (const bend of bends) {
      const difference = await underBend(bend, () => this.#replay(workflow, snapshot));
      if (difference === null) continue;
      const when = `after version ${snapshot.version} of "${workflowId}"`;
      return this.#fail(
        "CODE_NOT_REPEATABLE",
        `The code of "${snapshot.definition.id}" does not ask for the same steps when it is run again ${when}: ${difference}. ${advice}`,
      );
    }
  }

  #perform(
    process: KitProcess,
    { definition, task, type }: { readonly definition: NodeDefinition; readonly task: Task; readonly type: string },
    data: unknown,
    step: StepContext,
  ): NodeOutput | Promise<NodeOutput> {
    if (!process.isAlive) return never;
    const { workflowId, attempt, idempotencyKey, signal, nodeId } = step;
    const addresses = this.executions.addressesOf(workflowId);
    if (definition["~code"]) {
      addresses.noteCode(task);
      return watched(process, signal, () => definition.executor(data, step));
    }
    addresses.note(task, task.visit);
    const about = { address: addresses.of(task), nodeId, type, data, attempt, idempotencyKey, signal };
    const mock = this.#mocks.of(about);
    this.calls.push({ ...about, workflowId, isMocked: mock !== undefined });
    if (!mock && isStub(definition))
      this.#fail("MOCK_MISSING", `"${about.address}" has the type "${type}", of which the test gives neither the code nor a mock`);
    if (!mock) return watched(process, signal, () => definition.executor(data, step));
    return watched(process, signal, () => this.#answer(mock, about) as NodeOutput | Promise<NodeOutput>);
  }

  #answer(mock: Parameters<typeof mockedOutput>[0], about: Omit<MockCall, "call" | "crash">): unknown {
    try {
      return mockedOutput(mock, { ...about, crash: () => this.crash() });
    } catch (error) {
      if (error instanceof TestFailure) this.#fail(error.reason, error.message);
      throw error;
    }
  }

  /** This process is gone: nothing of it counts any more. Another one begins. */
  crash(): Promise<never> {
    const { activity } = this.#process;
    this.#process.isAlive = false;
    const given = Promise.all(this.executions.claims().map((claim) => this.#giveBack(claim)));
    this.#polled = "";
    this.#process = this.#begin();
    const end = this.#process.activity.begin();
    void given.finally(end);
    activity.end();
    return never;
  }

  async #giveBack(claim: Parameters<typeof giveBack>[1]): Promise<void> {
    await giveBack(this.#store, claim, this.executions.get(claim.workflowId)?.replay.version ?? claim.version);
    this.executions.released(claim.workflowId);
  }

  /** Lets everything run that needs no time. @throws TestFailure */
  async settle(): Promise<void> {
    do {
      await this.#quiet();
      this.check();
    } while (this.clock.fire() || this.#poll());
  }

  /** Waits until nothing runs, also if another process takes the place of this one meanwhile. */
  async #quiet(): Promise<void> {
    for (let process: LiveProcess | null = null; process !== this.#process; ) {
      process = this.#process;
      await process.activity.quiet(this.#options.patienceMs);
    }
  }

  /** Lets the process look for executions that are due and that it does not know. False if there are none. */
  #poll(): boolean {
    const due = this.executions.dueAt(this.clock.now);
    if (due === "" || due === this.#polled) return false;
    this.#polled = due;
    this.clock.poll();
    return true;
  }

  /** Moves the clock, from one time at which something is due to the next. @throws TestFailure */
  async moveTo(until: EpochMs): Promise<void> {
    for (;;) {
      await this.settle();
      const at = Math.min(this.clock.nextAt, this.executions.nextAt(this.clock.now));
      if (at > until) break;
      this.clock.now = Math.max(this.clock.now, at);
    }
    this.clock.now = Math.max(this.clock.now, until);
    await this.settle();
  }

  /** Makes a call of the runtime, and lets everything run that follows from it. @throws TestFailure */
  async during<T>(work: (runtime: Runtime) => Promise<T>): Promise<T> {
    this.check();
    const process = this.#process;
    let isAnswered = false;
    const done = work(process.runtime).finally(() => {
      isAnswered = true;
    });
    done.catch(() => undefined);
    await this.settle();
    if (!isAnswered && !process.isAlive) throw new TestFailure("PROBLEM", "The process has crashed before it has answered the call");
    return done;
  }

  /** @throws TestFailure if the test has failed already */
  check(): void {
    if (!this.#failure) return;
    this.#isFailureThrown = true;
    throw this.#failure;
  }

  /** Ends the test. @throws TestFailure if a mock was not used */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#process.isAlive = false;
    this.#process.activity.end();
    await this.#store.close();
    // a failure that no call has thrown yet: code went on after the last one
    if (!this.#isFailureThrown) this.check();
    const unused = this.#failure ? null : this.#mocks.unused(this.calls.map(({ address }) => address));
    if (unused !== null) throw new TestFailure("MOCK_UNUSED", unused);
  }
}

const never: Promise<never> = new Promise(() => undefined);

/** Calls an executor, and counts the call as open until it has ended or is aborted. */
function watched(
  process: KitProcess,
  signal: AbortSignal,
  execute: () => NodeOutput | Promise<NodeOutput>,
): NodeOutput | Promise<NodeOutput> {
  const end = process.activity.begin();
  signal.addEventListener("abort", end, { once: true });
  let isPending = false;
  try {
    const returned = execute();
    if (returned instanceof Promise) {
      isPending = true;
      returned.then(end, end);
    }
    return returned;
  } finally {
    if (!isPending) end();
  }
}
