import { type EpochMs, type Event, type Snapshot, StepfoldError, type Task } from "stepfold";
import { fold, plan, type StartedEvent } from "stepfold/core";
import { begin } from "../packages/stepfold/src/core/transition/begin.ts";
import { closeDraft } from "../packages/stepfold/src/core/transition/draft/close-draft.ts";
import type { Draft } from "../packages/stepfold/src/core/transition/draft/draft.ts";
import { openDraft } from "../packages/stepfold/src/core/transition/draft/open-draft.ts";
import { evolve, withConsequences } from "../packages/stepfold/src/core/transition/evolve.ts";
import { due } from "../packages/stepfold/src/core/transition/plan.ts";
import { nodeOfTask, scopeOfTask } from "../packages/stepfold/src/core/transition/task-scope.ts";
import { defaultLimits } from "../packages/stepfold/src/core/values/limits.ts";
import { eventOf, type Outcome } from "../packages/stepfold/src/engine/attempt/outcome.ts";
import { perform } from "../packages/stepfold/src/engine/attempt/perform.ts";
import { type Command, decide } from "../packages/stepfold/src/engine/commands/command.ts";
import { type PreparedWorkflow, prepareWorkflow } from "../packages/stepfold/src/engine/workflow/prepared-workflow.ts";
import { Deadlines, systemEnvironment } from "../packages/stepfold/src/environment/system-environment.ts";
import type { Fixture, ScriptStep } from "./fixture.ts";
import { fixtureNodes } from "./run-nodes.ts";

/** An event, and the snapshot after it. */
export interface Happened {
  readonly event: Event;
  readonly snapshot: Snapshot;
}

/**
 * Executes a fixture one transition at a time, in any order. It does with a task what the engine does, but the caller chooses the next
 * transition.
 */
export class Stepper {
  readonly #workflow: PreparedWorkflow;
  readonly #input: Fixture["input"];

  constructor({ workflow, input }: Fixture) {
    this.#workflow = prepareWorkflow(workflow, fixtureNodes);
    this.#input = input;
  }

  start(): Happened {
    const { compiled } = this.#workflow;
    const definition = { id: compiled.definition.id, hash: compiled.hash };
    const nodeId = compiled.starts[0]!;
    const event: StartedEvent = {
      type: "started",
      version: 0,
      at: 0,
      workflowId: "p",
      definition,
      nodeId,
      metadata: {},
      input: this.#input,
    };
    return { event, snapshot: fold(compiled, [event]) };
  }

  tasks(snapshot: Snapshot, now: EpochMs): Task[] {
    return plan(snapshot, now);
  }

  async perform(snapshot: Snapshot, task: Task, now: EpochMs): Promise<Happened> {
    const draft = openDraft(this.#workflow.compiled, snapshot);
    const outcome = await new Promise<Outcome>((resolve) => {
      const around = {
        workflowId: "p",
        globals: undefined,
        now: () => now,
        deadlines: new Deadlines(systemEnvironment),
        limits: defaultLimits,
        stepTimeoutMs: 60_000,
        workflowNamed: () => this.#workflow,
        scrub: (text: string) => text,
        keepStacks: false,
        onFailed: null,
        may: null,
        intercept: null,
        globalNames: null,
        onThrown: null,
        onHeartbeat: null,
      };
      const node = this.#workflow.nodes.get(nodeOfTask(task, scopeOfTask(task, draft)))!;
      const attempt = perform(task, node, scopeOfTask(task, draft), around, now, resolve);
      if (attempt.outcome) resolve(attempt.outcome);
    });
    if (outcome.type === "aborted") throw new RangeError("nothing aborts a task here");
    return this.#after(snapshot, eventOf(openDraft(this.#workflow.compiled, snapshot), task, outcome))!;
  }

  /** Sends a command. Returns null if the execution refuses it. */
  async send(snapshot: Snapshot, { send }: ScriptStep, now: EpochMs): Promise<Happened | null> {
    try {
      return this.#after(snapshot, await decide(this.#workflow, snapshot, send as Command, now, defaultLimits));
    } catch (error) {
      if (StepfoldError.is(error)) return null;
      throw error;
    }
  }

  /** Fires the first timer that is due. Returns null if none is due. */
  timer(snapshot: Snapshot, now: EpochMs): Happened | null {
    const event = due(openDraft(this.#workflow.compiled, snapshot), now);
    return event && this.#after(snapshot, event);
  }

  #after(snapshot: Snapshot, event: Event): Happened | null {
    const draft = openDraft(this.#workflow.compiled, snapshot);
    if (!evolve(draft, event)) return null;
    return { event: withConsequences(draft, event), snapshot: closeDraft(draft) };
  }
}

/** Computes the snapshots of a history, one event after the other. */
export class History {
  readonly #workflow: PreparedWorkflow;
  #draft: Draft | null = null;

  constructor({ workflow }: Fixture) {
    this.#workflow = prepareWorkflow(workflow, fixtureNodes);
  }

  after(event: Event): Snapshot {
    if (event.type === "started") this.#draft = begin(this.#workflow.compiled, event);
    else if (!evolve(this.#draft!, event)) throw new RangeError(`version ${event.version} does not follow`);
    return closeDraft(this.#draft!);
  }
}
