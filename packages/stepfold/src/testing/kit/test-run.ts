/// <reference lib="esnext.disposable" preserve="true" />
import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { ImportedWorkflow, OnlyImported } from "../../core/definition/imported-workflow.ts";
import type { ErrorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type Explanation, explain } from "../../core/explain/explain.ts";
import { type WaitInfo, waits } from "../../core/explain/waits.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import { aFlag, aFunction, aList, anObject, anything, aText, aTime, checkOptions } from "../../core/values/check-arguments.ts";
import { type Duration, durationMs } from "../../core/values/duration.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import { judgeTimestamp } from "../../core/values/timestamp.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { PayloadTypes, SignalToken, Typed, WaitToken } from "../../engine/node/typed.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { RuntimeOptions } from "../../runtime/context/runtime-options.ts";
import type { CancelOptions, ResumeOptions, Run, SignalOptions } from "../../runtime/handle/run.ts";
import type { StartRunOptions } from "../../runtime/handle/start-run.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { defaultStore } from "./default-store.ts";
import { offerGolden } from "./golden-source.ts";
import { Kit, type StepCall } from "./kit.ts";
import type { MockTable } from "./mocks.ts";
import { stepsIn } from "./steps-in.ts";

/** How a workflow is tested. */
export interface TestRunOptions extends Pick<StartRunOptions, "metadata" | "initialNodeId" | "tenant" | "by" | "timeout" | "deadline"> {
  /** Id of the execution. Default: `test`. */
  readonly workflowId?: string | undefined;
  /**
   * What steps give in place of what performs them. The name of a mock is the address of a step (`bill/charge` in a child, `pack[3]/weigh` or
   * `pack/weigh` in a map), else the id of a node or the name of a step of code, else a node type. A mock is a value, an `Error` that is thrown, a
   * function of the call, or a list of them for successive calls. Steps without a mock are performed. A mock that nothing has used is a mistake, which
   * `close` throws. Default: none.
   */
  readonly mocks?: MockTable | undefined;
  /** The code of nodes, as for `createRuntime`. Types whose nodes are all mocked, or never performed, need none. */
  readonly nodeDefinitions?: NodeDefinitions | undefined;
  /** Further workflows that the workflow runs or starts. */
  readonly workflows?: readonly unknown[] | undefined;
  /** Secrets and services for executors, code and expressions. */
  readonly globals?: unknown;
  /** When the test begins: milliseconds since 1970, ISO 8601, or a `Date`. Default: 2026-01-01T00:00:00Z. */
  readonly startAt?: EpochMs | string | Date | undefined;
  /** Makes the store, which must use this clock. Default: a memory store. The test closes it. */
  readonly store?: ((clock: { readonly now: () => EpochMs }) => SnapshotStore) | undefined;
  /** Whether code is replayed after every commit, to find what is not the same each time. Default: true. */
  readonly replay?: boolean | undefined;
  /**
   * How long a step may take in milliseconds of real time, while nothing else happens, before it counts as one that waits for time to pass. A mock that
   * never ends, to test a timeout, costs this time once. Default: 1,000.
   */
  readonly patienceMs?: number | undefined;
  /** More options of the runtime, such as `limits` and `plugins`. */
  readonly runtime?:
    | Partial<Omit<RuntimeOptions, "store" | "workflows" | "nodeDefinitions" | "globals" | "environment" | "drive" | "queue" | "feed">>
    | undefined;
}

/** The input of a typed workflow, which may be left out if anything will do. */
type InputOption<In> = unknown extends In
  ? { readonly input?: In | undefined }
  : Json extends In
    ? { readonly input?: In | undefined }
    : { readonly input: In };

/** A workflow under test: one execution, a clock that stands still, and a process that can crash. */
export interface TestRun<Out = Json, Waits = PayloadTypes, Signals = PayloadTypes> extends AsyncDisposable {
  readonly workflowId: string;
  readonly status: Status;
  /** The output; null while the execution has not completed. */
  readonly output: Out | null;
  /** Why the execution has failed; null if it has not. */
  readonly error: ErrorInfo | null;
  /** Everything that the execution waits for now. */
  readonly waits: readonly WaitInfo[];
  /**
   * The addresses of the steps that the execution has come to, in the order in which something first happened at them; `undo charge` for a step that
   * undoes one. A retry does not count again, a further visit does.
   */
  readonly way: readonly string[];
  /** The history, without a page. */
  readonly events: readonly Event[];
  readonly snapshot: Snapshot;
  /** What the clock shows, in milliseconds since 1970. */
  readonly now: EpochMs;
  /** The runtime of the process that lives now, for what has no method here. Call `settle` after it. */
  readonly runtime: Runtime;
  /** The calls of a step, by its address, its id or its type; without a name those of all steps. Each attempt is a call. */
  calls(name?: string): readonly StepCall[];
  /** The state of the execution in words, as `run.explain()`. */
  explain(): Explanation;
  /**
   * Moves the clock: by a duration (milliseconds, or text such as `"30d"`), or to a time (`Date`). It stops at every time at which something is due, and
   * lets everything run that follows from it.
   */
  advance(by: Duration | Date): Promise<void>;
  /** Answers a wait. @throws StepfoldError as `run.resume` */
  resume<K extends keyof Waits & string>(
    wait: K | WaitToken<Waits[K]>,
    payload: Waits[K],
    options?: Omit<ResumeOptions, "step" | "payload">,
  ): Promise<void>;
  resume(options: ResumeOptions): Promise<void>;
  /** Sends a signal. @throws StepfoldError as `run.signal` */
  signal<K extends keyof Signals & string>(
    signal: K | SignalToken<Signals[K]>,
    payload: Signals[K],
    options?: SignalOptions,
  ): Promise<void>;
  /** Makes a pending retry at once, or lets a parked execution go on. @throws StepfoldError as `run.retry` */
  retry(step?: string): Promise<void>;
  /** Cancels the execution, or a part of it. @throws StepfoldError as `run.cancel` */
  cancel(options?: CancelOptions): Promise<void>;
  /** The process is gone: steps that it performs do not count, and its timers never fire. Another process goes on at once. */
  crash(): Promise<void>;
  /**
   * Begins another execution of the workflow, which stands at a node. The mocks go on where they are. Not for code.
   *
   * @param options `context`: what earlier nodes have given, by their ids
   */
  from(
    nodeId: string,
    options?: { readonly context?: Readonly<Record<string, unknown>> | undefined; readonly input?: unknown },
  ): Promise<TestRun<Out, Waits, Signals>>;
  /** Lets everything run that needs no time to pass. */
  settle(): Promise<void>;
  /** Ends the test. `await using` calls it. @throws TestFailure `MOCK_UNUSED` */
  close(): Promise<void>;
}

/**
 * Runs a workflow in a test: in memory, on a clock that stands still, with mocks in place of its steps. No test runner is needed. When it resolves, the
 * execution has gone as far as it can without time.
 *
 * ```ts
 * await using t = await testRun(subscription, { input: { customer: "ada" }, mocks: { charge: ({ attempt }) => ({ ok: attempt > 1 }) } });
 * await t.advance("30d");
 * await t.signal("cancel", { reason: "moved" }); // typed by the definition
 * t.output; // { ended: "moved" }
 * t.way; // ["charge", "cancel", "charge", "cancel"]
 * t.calls("charge").length; // 2
 * ```
 *
 * After every commit, code is run again from what is remembered, without performing anything, and under other clocks: if it asks for other steps, the
 * next call throws a `TestFailure` (`CODE_NOT_REPEATABLE`).
 *
 * @throws StepfoldError as `createRuntime` and `runtime.start`; TestFailure
 */
export function testRun<const W extends ImportedWorkflow>(
  workflow: W & OnlyImported<W>,
  options?: TestRunOptions & { readonly input?: unknown },
): Promise<TestRun>;
export function testRun(workflow: WorkflowDefinition, options?: TestRunOptions & { readonly input?: unknown }): Promise<TestRun>;
export function testRun<In, Out, Waits, Signals>(
  workflow: Typed<In, Out, Waits, Signals, never>,
  ...options: Record<never, never> extends InputOption<In>
    ? [options?: TestRunOptions & InputOption<In>]
    : [options: TestRunOptions & InputOption<In>]
): Promise<TestRun<Out, Waits, Signals>>;
export async function testRun<Out, Waits, Signals>(
  workflow: NamedWorkflow,
  options: TestRunOptions & { readonly input?: unknown } = {},
): Promise<TestRun<Out, Waits, Signals>> {
  checkOptions("testRun", options, optionChecks);
  const { workflowId = "test", input, metadata, initialNodeId, tenant, by, timeout, deadline } = options;
  const kit = kitOf(workflow, options);
  const asked = { input, metadata, initialNodeId, tenant, by, timeout, deadline };
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
  try {
    await kit.during((runtime) => runtime.start(workflow.id, { ...given, workflowId }));
  } catch (error) {
    await kit.close().catch(() => undefined);
    throw error;
  }
  return new StartedRun<Out, Waits, Signals>(kit, workflow.id, workflowId);
}

const optionChecks = {
  ...{ workflowId: aText, input: anything, mocks: anObject, nodeDefinitions: anObject, workflows: aList, globals: anObject },
  ...{ startAt: anything, store: aFunction, replay: aFlag, patienceMs: aTime, runtime: anObject },
  ...{ metadata: anObject, initialNodeId: aText, tenant: aText, by: aText, timeout: anything, deadline: anything },
};

function kitOf(workflow: NamedWorkflow, options: TestRunOptions): Kit {
  const { mocks = {}, nodeDefinitions = {}, workflows = [], globals, startAt = Date.UTC(2026, 0, 1) } = options;
  const { store = defaultStore, replay: replays = true, patienceMs = 1_000, runtime = {} } = options;
  return new Kit({
    workflows: [workflow, ...workflows],
    ...{ nodeDefinitions, mocks, globals, store, replays, patienceMs, runtime },
    startAt: timeOf(startAt),
  });
}

function timeOf(at: EpochMs | string | Date): EpochMs {
  const time = judgeTimestamp(at instanceof Date ? at.getTime() : at);
  if (typeof time === "string") throw new StepfoldError("OPTION_INVALID", { option: "startAt", reason: time });
  return time;
}

/** A definition, or a typed workflow. */
interface NamedWorkflow {
  readonly id: string;
}

class StartedRun<Out, Waits, Signals> implements TestRun<Out, Waits, Signals> {
  readonly workflowId: string;
  readonly #kit: Kit;
  readonly #workflow: string;
  readonly #firstCall: number;

  constructor(kit: Kit, workflow: string, workflowId: string, firstCall = 0) {
    this.#kit = kit;
    this.#workflow = workflow;
    this.workflowId = workflowId;
    this.#firstCall = firstCall;
    offerGolden(this, () => {
      const { snapshot, events, way, waits: open } = this;
      return { ...kit.golden(snapshot), snapshot, events, way, waits: open };
    });
  }

  get snapshot(): Snapshot {
    const snapshot = this.#kit.executions.get(this.workflowId)?.replay.snapshot();
    if (!snapshot) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId: this.workflowId });
    return snapshot;
  }

  get status(): Status {
    return this.snapshot.status;
  }

  get output(): Out | null {
    // the type is what the definition says of its output
    return (this.snapshot.output ?? null) as Out | null;
  }

  get error(): ErrorInfo | null {
    return this.snapshot.error ?? null;
  }

  get waits(): readonly WaitInfo[] {
    return waits(this.snapshot);
  }

  get events(): readonly Event[] {
    return this.#kit.executions.get(this.workflowId)?.events ?? [];
  }

  get way(): readonly string[] {
    return stepsIn(this.events, this.#kit.executions.addressesOf(this.workflowId));
  }

  get now(): EpochMs {
    return this.#kit.clock.now;
  }

  get runtime(): Runtime {
    return this.#kit.runtime;
  }

  calls(name?: string): readonly StepCall[] {
    const all = this.#kit.calls.slice(this.#firstCall);
    return name === undefined ? all : all.filter(({ address, nodeId, type }) => [address, nodeId, type].includes(name));
  }

  explain(): Explanation {
    const { snapshot } = this;
    return explain(snapshot, this.#kit.executions.preparedOf(snapshot)?.compiled);
  }

  async advance(by: Duration | Date): Promise<void> {
    await this.#kit.moveTo(by instanceof Date ? by.getTime() : this.now + durationMs(by));
  }

  async resume(
    wait: string | WaitToken | ResumeOptions,
    payload?: unknown,
    options: Omit<ResumeOptions, "step" | "payload"> = {},
  ): Promise<void> {
    const isNamed = typeof wait === "string" || payload !== undefined;
    const asked: ResumeOptions = isNamed ? { ...options, step: nameOf(wait), payload } : (wait as ResumeOptions);
    await this.#command((run) => run.resume(asked));
  }

  async signal(signal: string | SignalToken, payload?: unknown, options: SignalOptions = {}): Promise<void> {
    const name = typeof signal === "string" ? signal : signal.signal;
    await this.#command((run) => run.signal(name, payload, options));
  }

  async retry(step?: string): Promise<void> {
    await this.#command((run) => run.retry(step === undefined ? {} : { step }));
  }

  async cancel(options: CancelOptions = {}): Promise<void> {
    await this.#command((run) => run.cancel(options));
  }

  async crash(): Promise<void> {
    this.#kit.check();
    void this.#kit.crash();
    await this.#kit.settle();
  }

  async from(
    nodeId: string,
    { context = {}, input }: { readonly context?: Readonly<Record<string, unknown>> | undefined; readonly input?: unknown } = {},
  ): Promise<TestRun<Out, Waits, Signals>> {
    const workflowId = `${this.workflowId}-${nodeId}`;
    const results = Object.entries(context).map(([node, output]) => [node, [{ output, timestamp: this.now }]] as const);
    const snapshot = {
      workflowId,
      status: "active",
      currentNodeId: nodeId,
      context: Object.fromEntries(results),
      version: 0,
      metadata: {},
    };
    const { length } = this.#kit.calls;
    await this.#kit.during((runtime) => runtime.adopt(this.#workflow, { ...snapshot, ...(input !== undefined && { input }) }));
    return new StartedRun<Out, Waits, Signals>(this.#kit, this.#workflow, workflowId, length);
  }

  settle(): Promise<void> {
    return this.#kit.settle();
  }

  close(): Promise<void> {
    return this.#kit.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #command(send: (run: Run) => Promise<unknown>): Promise<void> {
    await this.#kit.during(async (runtime) => send(await runtime.get(this.workflowId)));
  }
}

function nameOf(wait: string | WaitToken | ResumeOptions): string {
  return typeof wait === "string" ? wait : (wait.step ?? "");
}
