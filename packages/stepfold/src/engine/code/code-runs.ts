import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { restUntil } from "../../core/snapshot/rest-until.ts";
import { codePathOf } from "../../core/transition/code/code-path.ts";
import type { Draft, ScopeDraft } from "../../core/transition/draft/draft.ts";
import { scopeAt } from "../../core/transition/draft/open-draft.ts";
import { type Task, taskOf } from "../../core/transition/plan.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { type Deadlines, nextMacrotask } from "../../environment/system-environment.ts";
import type { StepRequest } from "../node/asking.ts";
import type { PreparedNode } from "../workflow/prepared-node.ts";
import { type Ask, CodeRun } from "./code-run.ts";

/** What the runs of code need of their turn. */
export interface CodeRunsHost {
  readonly draft: () => Draft;
  readonly prepare: (request: StepRequest) => PreparedNode;
  readonly deadlines: Deadlines;
  /** The longest time in milliseconds that code may take, without a step that it waits for, before it asks for the next one or ends. */
  readonly silentMs: number;
  readonly isRunning: (step: Pick<Task, "scope" | "pathId">) => boolean;
  /** Called when the turn has to look again what may begin. */
  readonly wake: () => void;
  /**
   * Ends the attempt of code that can do nothing more by itself. If it rests until a step that it waits for goes on, `mayRest` tells whether it still
   * may when that is applied: an answer may have come first.
   */
  readonly leave: (task: Task, mayRest: (() => boolean) | null) => void;
  /** Called if code asks for a step after it was left: it has waited for something that is no step. */
  readonly late: (workflow: string, step: string) => void;
}

/** The code that runs in one turn: at most one run for each scope with code (docs/path-semantics.md, "Code"). */
export class CodeRuns {
  readonly #turn: CodeRunsHost;
  readonly #runs = new Map<string, CodeRun>();
  #hasNews = false;
  #mismatch: string | null = null;

  constructor(turn: CodeRunsHost) {
    this.#turn = turn;
  }

  /** How many runs there are. They take no place among the steps that are performed at once. */
  get size(): number {
    return this.#runs.size;
  }

  /** Whether code has asked for something since the last call, or does not fit what it has done before. */
  takeNews(): boolean {
    const news = this.#hasNews;
    this.#hasNews = false;
    return news;
  }

  /** Begins a run of the code of a scope. */
  begin(scope: ScopeDraft): CodeRun {
    const { key } = scope;
    const { draft, deadlines, silentMs } = this.#turn;
    const prepare = (request: StepRequest): PreparedNode => {
      if (request.undo && !scope.workflow.compensates) throw undeclared(request.name);
      return this.#turn.prepare(request);
    };
    const run = new CodeRun(scope, {
      ...{ draft, prepare, deadlines, silentMs },
      asked: () => {
        this.#hasNews = true;
        this.#turn.wake();
      },
      delivered: () => this.#turn.wake(),
      changed: (changed, message) => {
        if (this.#runs.get(key) === changed) this.#break(message);
      },
      late: (step) => this.#turn.late(scope.workflow.definition.id, step),
    });
    this.#runs.set(key, run);
    return run;
  }

  has(key: string | undefined): boolean {
    return this.#runs.has(key ?? "");
  }

  /** Returns what code has asked for by a task; undefined if no code waits for it. */
  askOf({ scope = "", pathId }: Pick<Task, "scope" | "pathId">): Ask | undefined {
    return this.#runs.get(scope)?.askOf(pathId);
  }

  /**
   * Offers the steps that code has asked for and of which nothing is known yet, in the order of the asking. What is not taken is offered again.
   *
   * @param decide `stop`: no further step is offered, also of other code
   */
  takeFresh(decide: (task: Task, ask: Ask) => "take" | "keep" | "stop"): void {
    for (const run of this.#runs.values()) {
      const kept: Ask[] = [];
      for (const [i, ask] of run.fresh.entries()) {
        const decision = decide(taskOfAsk(run, ask, this.#turn.draft()), ask);
        if (decision === "keep") kept.push(ask);
        if (decision !== "stop") continue;
        run.fresh = [...kept, ...run.fresh.slice(i)];
        return;
      }
      run.fresh = kept;
    }
  }

  /** Ends the run of a task, if the task is one of code. */
  ended({ scope = "", pathId }: Task): void {
    const run = this.#runs.get(scope);
    if (run?.pathId !== pathId) return;
    run.leave();
    this.#runs.delete(scope);
  }

  /** Checks that code which has ended has asked for all that it once asked for. */
  judgeEnd({ scope = "", pathId }: Task): boolean {
    const run = this.#runs.get(scope);
    const mistake = run?.pathId === pathId && run.hasEnded ? run.mistakeAtEnd() : null;
    if (mistake !== null) this.#break(mistake);
    return mistake === null;
  }

  #break(message: string): void {
    const { workflowId } = this.#turn.draft();
    this.#mismatch ??= new StepfoldError("CODE_CHANGED", { workflowId, reason: message }).message;
    this.#hasNews = true;
    this.#turn.wake();
  }

  collect(event: Event, draft: Draft): void {
    for (const run of this.#runs.values()) run.collect(event, draft);
  }

  /** What was collected is committed: the code gets it. */
  release(version: number): void {
    for (const run of this.#runs.values()) run.release(version);
  }

  continueFrom(draft: Draft): void {
    for (const run of this.#runs.values()) run.continueFrom(draft);
  }

  /** Whether code does not fit what it has done before. The execution is parked then, and the turn ends. */
  get isBroken(): boolean {
    return this.#mismatch !== null;
  }

  /** The event that parks an execution whose code does not fit what it has done before. */
  mismatch(at: EpochMs): Event {
    const { version, parked } = this.#turn.draft();
    return { type: "parked", version: version + 1, at, code: "CODE_CHANGED", message: this.#mismatch!, until: restUntil(parked, at) };
  }

  /**
   * Leaves code that can do nothing by itself: it waits for steps that wait, or for steps that this turn may not begin. It is left once the event loop
   * has turned and it still waits.
   */
  leaveIdle(plannedAt: EpochMs, mayBegin: boolean): void {
    for (const run of this.#runs.values()) {
      if (run.isLeft || run.checking === run.stamp || !this.#isIdle(run, plannedAt, mayBegin)) continue;
      const stamp = run.stamp;
      run.checking = stamp;
      void nextMacrotask().then(() => {
        run.checking = null;
        if (run.isLeft || run.stamp !== stamp || this.#runs.get(run.key) !== run || !this.#isIdle(run, plannedAt, mayBegin)) return;
        const scope = scopeAt(this.#turn.draft(), run.key);
        const path = scope && codePathOf(scope);
        if (!path) return;
        const rests = !run.canGoOn(plannedAt);
        run.leave();
        this.#turn.leave(taskOf(path, run.key), rests ? () => run.mayRest() : null);
      });
    }
  }

  #isIdle(run: CodeRun, plannedAt: EpochMs, mayBegin: boolean): boolean {
    const { isRunning } = this.#turn;
    return run.isIdle((pathId) => isRunning({ ...inScope(run.key), pathId })) && !(mayBegin && run.canGoOn(plannedAt));
  }

  /** Nothing of any code counts any more. */
  leaveAll(): void {
    for (const run of this.#runs.values()) run.leave();
    this.#runs.clear();
  }
}

/** The task of a step that has no path yet: its path comes into being with the first event. */
function taskOfAsk({ key, visit }: CodeRun, { pathId, nodeId }: Ask, { version }: Draft): Task {
  return { ...inScope(key), pathId, turn: visit, visit, nodeId, attempt: 1, since: version, stepPath: [] };
}

function undeclared(name: string): StepfoldError {
  const reason = "needs the node type that undoes it among the nodes of the workflow: defineDurable({ nodes: { ... } })";
  return new StepfoldError("OPTION_INVALID", { option: `undo of step "${name}"`, reason });
}

function inScope(key: string): { readonly scope?: string } {
  return key === "" ? {} : { scope: key };
}
