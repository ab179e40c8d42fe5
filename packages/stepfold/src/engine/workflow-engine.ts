import type { CompiledWorkflow } from "../core/definition/compiled.ts";
import type { Issue } from "../core/errors/issue.ts";
import { safeMember } from "../core/errors/safe-member.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { readSnapshot } from "../core/reading/read-snapshot.ts";
import { countWaits } from "../core/snapshot/address.ts";
import type { Event } from "../core/snapshot/event.ts";
import { runNumbers } from "../core/snapshot/parts/lineage.ts";
import { isTerminal, type Snapshot } from "../core/snapshot/snapshot.ts";
import type { Target } from "../core/snapshot/target.ts";
import { begin } from "../core/transition/begin.ts";
import { closeDraft } from "../core/transition/draft/close-draft.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import { openDraft } from "../core/transition/draft/open-draft.ts";
import { evolve, withConsequences } from "../core/transition/evolve.ts";
import { openWaits } from "../core/transition/find-wait.ts";
import { due, earliestOf, isAnyDue } from "../core/transition/plan.ts";
import {
  aFlag,
  aList,
  aListOfObjects,
  aListOfTexts,
  anEnvironment,
  anObject,
  anything,
  checkOptions,
  type OptionCheck,
  refuseUnknown,
} from "../core/values/check-arguments.ts";
import type { Limits } from "../core/values/limits.ts";
import { Deadlines, systemEnvironment } from "../environment/system-environment.ts";
import { missingFunctions } from "../expressions/load-functions.ts";
import type { Environment } from "../ports/environment.ts";
import { interceptOf } from "./attempt/intercept.ts";
import type { ResumeCommand } from "./commands/answer-wait.ts";
import { type Command, checkMembers, decide } from "./commands/command.ts";
import { checkTurnOptions, readLimits, readStepTimeout } from "./limits.ts";
import { aLogger, type Logger } from "./logger.ts";
import type { NodeDefinitions } from "./node/node-definition.ts";
import { type GivenGlobals, isTyped, type NeededGlobals } from "./node/typed.ts";
import { openTurn } from "./open-turn.ts";
import { checkPlugins, notifyEvent, type Plugin } from "./plugin.ts";
import { pump } from "./pump.ts";
import { Secrets } from "./secrets/secrets.ts";
import type { TurnSetting } from "./setting.ts";
import type { AttemptRequest } from "./turn-options.ts";
import { libraryOf } from "./workflow/link-workflows.ts";
import { namedWorkflows } from "./workflow/named-workflows.ts";
import { type PreparedWorkflow, prepareWorkflow } from "./workflow/prepared-workflow.ts";
import { type StartOptions, startEvent } from "./workflow/start-event.ts";
import { untyped } from "./workflow/typed-workflows.ts";

/** The options of an engine. */
export interface EngineOptions<D extends NodeDefinitions, W = unknown> {
  /** The workflow: a definition as plain JSON, or what `defineDurable` or `defineWorkflow` has made. */
  readonly workflow: W;
  /** Definitions that nodes of type `workflow` and `map` may name, in addition to the `workflows` of the definition itself. */
  readonly workflows?: readonly W[] | undefined;
  /** The code of the node types. A typed workflow brings that of its own types. */
  readonly nodeDefinitions?: D | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** The longest time of one attempt if its node has no `timeout`, in milliseconds. Default: 10 minutes. */
  readonly stepTimeoutMs?: number | undefined;
  /** The clock, timers and ids. Default: those of this process. */
  readonly environment?: Environment | undefined;
  /** Receives a message about every failed attempt, with the stack of the code that threw, and about every warning. Default: no logger. */
  readonly logger?: Logger | undefined;
  /**
   * Paths into `globals` of texts that are secrets although neither their names nor their looks tell, such as `["stripe", "mail.password"]`. A
   * path to an object or a list means all texts in it. Secrets are removed from messages of errors, logs and hooks, and never from data. A
   * path that leads to no text of at least 6 characters in the `globals` of a call is refused by that call: `OPTION_INVALID`. Default: none.
   */
  readonly secrets?: readonly string[] | undefined;
  /** Also keeps this stack in the error of the snapshot. This is for development, since stacks show where files lie. Default: false. */
  readonly keepStacks?: boolean | undefined;
}

const engineOptionChecks: { readonly [K in keyof EngineOptions<NodeDefinitions>]-?: OptionCheck } = {
  ...{ workflow: anything, workflows: aList, nodeDefinitions: anObject, limits: anObject, stepTimeoutMs: anything },
  ...{ plugins: aListOfObjects, environment: anEnvironment, logger: aLogger, keepStacks: aFlag },
  secrets: aListOfTexts,
};

/** The bounds of one call. */
interface Slice {
  /** The most tasks to perform. If more are due, the snapshot is `active`, and another call can continue. */
  readonly stepLimit?: number | undefined;
  /** The most tasks that run at the same time. Default 16. */
  readonly concurrency?: number | undefined;
  /** Ends the call when it is aborted; attempts that still run do not count. */
  readonly signal?: AbortSignal | undefined;
}

/** A request that begins an execution. */
export interface StartRequest extends StartOptions, Slice {
  readonly snapshot?: undefined;
}

/** A request that continues an execution. */
export interface ContinueRequest extends Slice {
  readonly snapshot: Snapshot | object;
  /** The payload of an answer. If the key is present, even with undefined, the call answers a wait. */
  readonly externalPayload?: unknown;
  /** The wait to answer, if there are several. */
  readonly target?: Target | undefined;
  /** `current`: continues with this engine's definition, although the execution began with another version of it. */
  readonly definition?: "current" | undefined;
}

const sliceKeys = ["snapshot", "globals", "stepLimit", "concurrency", "signal", "externalPayload"] as const;
const startKeys = [...sliceKeys, "initialNodeId", "workflowId", "input", "metadata", "tenant", "by", "timeout", "deadline"];
const continueKeys = [...sliceKeys, "target", "definition"];

/** An event of a stream, with the snapshot after it. */
export interface StreamItem {
  readonly event: Event;
  readonly snapshot: Snapshot;
}

/**
 * Runs one workflow, and stores nothing: every call takes a snapshot and returns the next one.
 *
 * ```ts
 * const engine = new WorkflowEngine({ workflow, nodeDefinitions });
 * let snapshot = await engine.execute({ input: { order: 7 } }); // paused: somebody must approve
 * snapshot = await engine.execute({ snapshot, externalPayload: { approved: true } });
 * snapshot.status; // "completed"
 * ```
 */
export class WorkflowEngine<const D extends NodeDefinitions = NodeDefinitions, W = unknown, Globals = NeededGlobals<D, W>> {
  readonly workflow: CompiledWorkflow;
  /** Warnings about the workflow: it runs, but perhaps not as intended. */
  readonly warnings: readonly Issue[];
  readonly #prepared: PreparedWorkflow;
  readonly #setting: TurnSetting;
  readonly #listedSecrets: readonly string[];
  /** The secrets of globals that calls were given before. */
  readonly #secrets = new WeakMap<object, Secrets>();
  /** Resolves when functions that expressions need are loaded; null if none has to be loaded. */
  readonly #loading: Promise<void> | null;

  /** @throws StepfoldError `DEFINITION_INVALID` with every mistake at once; `OPTION_INVALID`, `OPTION_UNKNOWN` */
  constructor(options: EngineOptions<D, W>) {
    const given = options as unknown as EngineOptions<NodeDefinitions>;
    checkOptions("new WorkflowEngine", given, engineOptionChecks, isTyped(options.workflow) ? [] : ["nodeDefinitions"]);
    checkPlugins(options.plugins ?? []);
    const environment = options.environment ?? systemEnvironment;
    const limits = readLimits(options.limits);
    const stepTimeoutMs = readStepTimeout(options.stepTimeoutMs);
    const { plugins = [], logger = null, keepStacks = false } = options;
    const parts = untyped([options.workflow, ...(options.workflows ?? [])], options.nodeDefinitions);
    const { nodeDefinitions = {} } = parts;
    const [workflow, ...workflows] = parts.workflows;
    const library = libraryOf(workflows);
    const prepare = (definition: unknown): PreparedWorkflow => prepareWorkflow(definition, nodeDefinitions, limits, library);
    this.#prepared = prepare(workflow);
    this.workflow = this.#prepared.compiled;
    this.warnings = this.#prepared.warnings;
    const workflowNamed = namedWorkflows(this.#prepared, workflows, prepare);
    this.#loading = missingFunctions();
    this.#listedSecrets = Object.freeze([...(options.secrets ?? [])]);
    this.#setting = {
      environment,
      deadlines: new Deadlines(environment),
      limits,
      stepTimeoutMs,
      plugins,
      logger,
      keepStacks,
      workflowNamed,
      may: null,
      intercept: interceptOf(environment),
    };
  }

  /**
   * Begins an execution, or continues one from a snapshot, until it ends or nothing more is due.
   *
   * With a snapshot, everything that is due is performed. `externalPayload` or `target` answers a wait. Without them, the only wait of a
   * paused snapshot is answered without a payload (unless it needs one, or a name), and if nothing is due, the earliest retry is made even
   * before its time: you decide when to call. An ended snapshot is returned as it is.
   *
   * @throws StepfoldError `SNAPSHOT_INVALID`, `DEFINITION_CHANGED`, `RESUME_AMBIGUOUS`, `RESUME_INVALID`, `WAIT_GONE`, `WAIT_EXPIRED`,
   * `EXECUTION_ENDED`, `START_AMBIGUOUS`, `INPUT_INVALID`, ...; the snapshot you passed stays as it is. What nodes throw is not thrown
   * here: it is in the snapshot.
   */
  async execute(request: (StartRequest | ContinueRequest) & GivenGlobals<Globals>): Promise<Snapshot> {
    return this.#run(request, null);
  }

  /** Performs one task, and returns the snapshot after it. */
  async executeStep(snapshot: Snapshot | object, externalPayload?: unknown, globals?: Globals): Promise<Snapshot> {
    const payload = externalPayload === undefined ? {} : { externalPayload };
    return this.#run({ snapshot, ...payload, globals, stepLimit: 1 }, null);
  }

  /**
   * Applies a command and performs no task, for example in a web handler that leaves the work to another process.
   *
   * @throws StepfoldError as `execute`, and `RETRY_NOT_PENDING`; `OPTION_INVALID` for an `idempotencyKey`: a snapshot does not show which
   * keys were used, so only a runtime supports such keys
   */
  async send(snapshot: Snapshot | object, command: Command): Promise<Snapshot> {
    const { environment, limits } = this.#setting;
    refuseKey(command);
    checkMembers(command);
    if (this.#loading) await this.#loading;
    const current = this.#read(snapshot, undefined);
    const event = await decide(this.#prepared, current, command, environment.now(), limits);
    const draft = this.#after(current, event);
    this.#tell(withConsequences(draft, event), draft);
    return this.#close(draft);
  }

  /**
   * Does the same as `execute`, event by event, each with the snapshot after it. Leaving the iteration ends the turn at once, also while a
   * step runs (a stream calls `return()` of the iteration when its reader is gone).
   *
   * ```ts
   * for await (const { event } of engine.stream({ input })) console.log(event.type);
   * ```
   */
  stream(request: (StartRequest | ContinueRequest) & GivenGlobals<Globals>): AsyncGenerator<StreamItem, Snapshot, void> {
    return pump<StreamItem, Snapshot>((emit, leaving) => {
      checkTurnOptions(request);
      const signal = request.signal ? AbortSignal.any([request.signal, leaving]) : leaving;
      return this.#run({ ...request, signal }, emit);
    });
  }

  async #run(
    request: (StartRequest | ContinueRequest) & { readonly globals?: unknown },
    onItem: ((item: StreamItem) => void) | null,
  ): Promise<Snapshot> {
    checkTurnOptions(request);
    refuseUnknown("engine.execute", request, request.snapshot === undefined ? startKeys : continueKeys);
    const secrets = this.#secretsOf(request.globals);
    if (this.#loading) await this.#loading;
    const { draft, before, unchanged } =
      request.snapshot === undefined ? this.#begin(request) : await this.#resume(request as ContinueRequest);
    const emit = onItem && ((event: Event, after: Draft) => onItem({ event, snapshot: this.#close(after) }));
    if (before) {
      this.#tell(before, draft);
      emit?.(before, draft);
    }
    if (!draft.ended && !request.signal?.aborted)
      await this.#setting.deadlines.during(() => this.#turn(draft, { ...request, secrets }, emit));
    return unchanged?.version === draft.version ? unchanged : this.#close(draft);
  }

  /** @throws StepfoldError `OPTION_INVALID` */
  #secretsOf(globals: unknown): Secrets {
    const key = typeof globals === "object" && globals !== null ? globals : this;
    const known = this.#secrets.get(key) ?? new Secrets(globals, this.#listedSecrets);
    this.#secrets.set(key, known);
    return known;
  }

  #turn(draft: Draft, request: Slice & AttemptRequest, emit: ((event: Event, after: Draft) => void) | null): Promise<void> {
    const { globals, secrets, concurrency, stepLimit, signal } = request;
    const pending = earliestOf(draft);
    const early = pending !== null && isAnyDue(draft, this.#setting.environment.now(), null) ? null : pending;
    const turn = openTurn(this.#prepared, draft, this.#setting, {
      globals,
      secrets,
      concurrency,
      stepLimit,
      early,
      onEvent: emit,
    });
    if (!signal) return turn.run();
    const stop = (): void => turn.stop(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    return turn.run().finally(() => signal.removeEventListener("abort", stop));
  }

  #begin(request: StartRequest): Opened {
    const event = startEvent(this.#prepared, request, this.#setting.environment, this.#setting.limits);
    const draft = begin(this.workflow, event);
    return { draft, before: withConsequences(draft, event), unchanged: null };
  }

  async #resume(request: ContinueRequest): Promise<Opened> {
    const snapshot = this.#read(request.snapshot, request.definition);
    const event = await this.#resumption(snapshot, request);
    if (event) {
      const draft = this.#after(snapshot, event);
      return { draft, before: withConsequences(draft, event), unchanged: null };
    }
    return { draft: openDraft(this.workflow, snapshot), before: null, unchanged: snapshot };
  }

  async #resumption(snapshot: Snapshot, request: ContinueRequest): Promise<Event | null> {
    const { environment, limits } = this.#setting;
    const now = environment.now();
    const command: ResumeCommand = { type: "resume", target: request.target, payload: request.externalPayload };
    if ("externalPayload" in request || request.target !== undefined) return decide(this.#prepared, snapshot, command, now, limits);
    // `execute({ snapshot })` means for a paused execution: the only thing that it waits for has come
    if (snapshot.status !== "paused" || countWaits(snapshot) !== 1 || openWaits(snapshot).length !== 1) return null;
    // a timer is due, and comes first
    if (due(openDraft(this.workflow, snapshot), now)) return null;
    try {
      return await decide(this.#prepared, snapshot, command, now, limits);
    } catch (error) {
      // the wait has a schema, `responders` or a `quorum`: an answer without payload and name is refused, and the wait stays open
      if (StepfoldError.is(error, "RESUME_INVALID") || StepfoldError.is(error, "RESPONDER_DENIED")) return null;
      throw error;
    }
  }

  #read(value: Snapshot | object, definition: "current" | undefined): Snapshot {
    // a snapshot that this engine has made is frozen, so it needs no second check
    if (this.#made(value)) return value;
    const snapshot = readSnapshot(value, this.workflow, this.#setting.limits);
    const { hash } = this.workflow;
    if (isTerminal(snapshot.status) || snapshot.definition.hash === hash) return snapshot;
    if (definition !== "current")
      throw new StepfoldError("DEFINITION_CHANGED", { workflowId: snapshot.workflowId, expected: hash, actual: snapshot.definition.hash });
    return Object.freeze({ ...snapshot, definition: Object.freeze({ id: this.workflow.definition.id, hash }) });
  }

  #made(value: Snapshot | object): value is Snapshot {
    try {
      return Object.getOwnPropertyDescriptor(value, madeBy)?.value === this;
    } catch {
      // the value is null, or a proxy that throws
      return false;
    }
  }

  #after(snapshot: Snapshot, event: Event): Draft {
    const draft = openDraft(this.workflow, snapshot);
    if (!evolve(draft, event)) throw new StepfoldError("WAIT_GONE", { workflowId: snapshot.workflowId, target: event.type, open: [] });
    return draft;
  }

  #tell(event: Event, draft: Draft): void {
    const { plugins } = this.#setting;
    if (plugins.length > 0) notifyEvent(plugins, event, { workflowId: draft.workflowId, ...runNumbers(draft, event.version) });
  }

  #close(draft: Draft): Snapshot {
    return closeDraft(draft, (snapshot) => Object.defineProperty(snapshot, madeBy, { value: this }));
  }
}

/** @throws StepfoldError `OPTION_INVALID` */
function refuseKey(command: Command): void {
  if (safeMember(command, "idempotencyKey") === undefined) return;
  const reason = "needs a runtime: a snapshot does not show which keys were used. Compare its version before you send the command again";
  throw new StepfoldError("OPTION_INVALID", { option: "idempotencyKey", reason });
}

/** Marks a snapshot with the engine that made it. Not enumerable, so neither JSON nor a copy has it. */
const madeBy: unique symbol = Symbol("stepfold.madeBy");

interface Opened {
  readonly draft: Draft;
  /** The event that the call has applied before the turn; null if there is none. */
  readonly before: Event | null;
  /** The snapshot that the call was given, if no event was applied to it; else null. */
  readonly unchanged: Snapshot | null;
}
