import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { codePathOf, numberOfStep, stepPathId } from "../../core/transition/code/code-path.ts";
import { type Draft, type ScopeDraft, seedOf } from "../../core/transition/draft/draft.ts";
import { scopeAt } from "../../core/transition/draft/open-draft.ts";
import { isId } from "../../core/values/ids/id.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { type Deadline, type Deadlines, nextMacrotask, onRest } from "../../environment/system-environment.ts";
import type { Asking, StepRequest } from "../node/asking.ts";
import type { PreparedNode } from "../workflow/prepared-node.ts";
import { givenBy, isPerformedAgain, journalOf, type Remembered } from "./journal.ts";
import { type ReadResult, readResult } from "./read-result.ts";

/** A step that the code has asked for and has not got yet. */
export interface Ask {
  readonly number: number;
  readonly pathId: string;
  readonly nodeId: string;
  readonly prepared: PreparedNode;
  readonly receive: StepRequest["receive"];
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** What a run of code needs of its turn. */
export interface CodeHost {
  readonly draft: () => Draft;
  readonly prepare: (request: StepRequest) => PreparedNode;
  readonly deadlines: Deadlines;
  /** See `CodeRunsHost`. */
  readonly silentMs: number;
  /** Called when the code has asked for something. */
  readonly asked: () => void;
  /** Called when the code has got all that there is, and has asked for nothing since: perhaps it can only wait. */
  readonly delivered: () => void;
  /** Called when the code does not fit what is remembered. */
  readonly changed: (run: CodeRun, message: string) => void;
  /** Called once if the code asks for a step after it was left. */
  readonly late: (step: string) => void;
}

/** How often the event loop has to turn before it is certain that code which waits will ask for nothing more. */
export const loopsToRest = 3;

/** One run of the code of a scope, in this process: until the code ends, or until it can only wait (docs/path-semantics.md, "Code"). */
export class CodeRun implements Asking {
  /** The key of its scope; empty for the execution itself. */
  readonly key: string;
  /** The id, the node and the visit of the path of the code. */
  readonly pathId: string;
  readonly nodeId: string;
  readonly visit: number;
  /** Steps of which nothing is known yet, in the order in which the code has asked for them: the turn has to begin them. */
  fresh: Ask[] = [];
  /** Rises with everything that happens to the run. If it has not risen while the event loop has turned, the code waits. */
  stamp = 0;
  /** The stamp for which it is being checked whether the code rests; null if it is not. */
  checking: number | null = null;
  /** True once nothing of the run counts any more. */
  isLeft = false;
  /** True once the code has returned or has thrown. */
  hasEnded = false;
  readonly #host: CodeHost;
  readonly #asks = new Map<string, Ask>();
  /** The names of the steps that are remembered or open, by the number of the asking. */
  readonly #names = new Map<number, string>();
  #highest = 0;
  #next = 1;
  /** Results that are committed and that the code has not got yet, in the order of their events. */
  #queue: Remembered[] = [];
  /** Results that are not committed yet. */
  #uncommitted: Remembered[] = [];
  /** Results up to this version are in the queue, or the code has got them. */
  #version: number;
  /** True once no promise is ready since the code last began to run: it has asked for all that it could. */
  #hasRested = false;
  /** True while a schema reads the result that the code gets next. */
  isReading = false;
  /** The stamp for which all results in the queue were passed over, until a step has a result that is performed again; null if none was. */
  #passedOver: number | null = null;
  #now: EpochMs;
  #seeds = 0;
  #isLate = false;
  /** The time by which the code has to ask for a step or to end; null while a step is open that it may wait for. */
  #silence: Deadline | null = null;
  readonly givenUp: Promise<never>;
  #giveUp: (reason: unknown) => void = () => undefined;

  constructor(scope: ScopeDraft, host: CodeHost) {
    const { id, nodeId, visit } = codePathOf(scope)!;
    const { root } = scope;
    this.key = scope.key;
    this.pathId = id;
    this.nodeId = nodeId;
    this.visit = visit;
    this.#host = host;
    this.#queue = journalOf(scope, id, Number.NEGATIVE_INFINITY);
    this.#version = root.version;
    this.#now = root.run?.at ?? root.from?.replay?.at ?? root.createdAt ?? 0;
    for (const { number, nodeId: name } of this.#queue) this.#note(number, name);
    for (const path of scope.paths) this.#note(numberOfStep(id, path.id) ?? 0, path.nodeId);
    this.givenUp = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    this.givenUp.catch(() => undefined);
    this.#listen();
    this.#goOn();
  }

  /** Begins to wait for the next thing that the code asks for, if there is nothing that the code could wait for. */
  #listen(): void {
    this.#silence?.cancel();
    this.#silence = null;
    if (this.isLeft || this.hasEnded || this.#asks.size > 0) return;
    const { nodeId } = this;
    const { deadlines, silentMs: timeoutMs } = this.#host;
    this.#silence = deadlines.add(timeoutMs, () => this.#giveUp(new StepfoldError("STEP_TIMEOUT", { nodeId, timeoutMs })));
  }

  /** Nothing of the run counts any more. */
  leave(): void {
    this.isLeft = true;
    this.#listen();
  }

  #note(number: number, name: string): void {
    if (number === 0) return;
    this.#names.set(number, name);
    this.#highest = Math.max(this.#highest, number);
  }

  askOf(pathId: string): Ask | undefined {
    return this.#asks.get(pathId);
  }

  ask(request: StepRequest): Promise<unknown> {
    if (this.isLeft) return this.#ignored(request.name);
    let prepared: PreparedNode;
    try {
      this.#checkName(request.name);
      prepared = this.#host.prepare(request);
    } catch (refused) {
      return Promise.reject(refused);
    }
    const { name: nodeId, receive } = request;
    const number = this.#next;
    const before = this.#names.get(number);
    if (before !== undefined && before !== nodeId) {
      this.#host.changed(this, `${this.#told(number)}, and the code now asks for "${nodeId}"`);
      return never;
    }
    this.#next++;
    this.stamp++;
    const pathId = stepPathId(this.pathId, number);
    const asked = new Promise<unknown>((resolve, reject) => {
      const ask: Ask = { number, pathId, nodeId, prepared, receive, resolve, reject };
      this.#asks.set(pathId, ask);
      if (before === undefined) this.fresh.push(ask);
    });
    // code may ask for a step and await it much later: until then its failure is not one that nobody handles
    asked.catch(() => undefined);
    if (this.#asks.size === 1) this.#listen();
    if (this.#queue.length > 0) this.#deliver();
    this.#host.asked();
    return asked;
  }

  changed(name: string): boolean {
    if (this.isLeft) return true;
    this.#checkName(name);
    if (this.#names.get(this.#next) !== name && this.#highest >= this.#next) return false;
    void this.ask({ name, by: mark });
    return true;
  }

  now(): EpochMs {
    return this.#now;
  }

  seed(): string {
    const root = this.#host.draft();
    return `${root.from?.replay?.seed ?? seedOf(root)} ${this.key}>${this.pathId} ${this.#seeds++}`;
  }

  end(): void {
    this.hasEnded = true;
    this.stamp++;
    this.#listen();
  }

  /** Why the end of the code does not fit what is remembered; null if it does. */
  mistakeAtEnd(): string | null {
    // with another result of a step that was performed again, the code need not ask for what it then asked for
    if (this.#highest >= this.#next && this.#passedOver === null)
      return `the code has ended, and has not asked for all that it once asked for: ${this.#told(this.#next)}`;
    const path = this.#scope()?.paths.find(({ id }) => id === this.pathId);
    return path?.status === "suspended" ? "the code has ended, although nothing has happened that it waits for" : null;
  }

  /** Why code that waits does not fit what is remembered, if it is run only to compare: then nothing more will happen by itself. Null if it does. */
  mistakeAtRest(): string | null {
    if (this.#asks.size === 0)
      return `the code waits for something that is no step, ${this.#next === 1 ? "before its first step" : `after step ${this.#next - 1}, "${this.#names.get(this.#next - 1)}"`}`;
    if (this.#highest < this.#next || this.#passedOver !== null) return null;
    return `${this.#told(this.#next)}, and the code waits without having asked for it`;
  }

  /** Takes the results of an event that was applied to the draft. The code gets them once they are committed. */
  collect(event: Event, draft: Draft): void {
    const scope = this.#scope();
    if (scope) this.#uncommitted.push(...givenBy(event, draft, scope, this.pathId));
  }

  /** What was collected is committed. */
  release(version: number): void {
    this.#version = version;
    if (this.#uncommitted.length === 0) return;
    this.#enqueue(this.#uncommitted);
    this.#uncommitted = [];
  }

  /** Another process has committed first: what was collected is void, and what is stored counts. */
  continueFrom(draft: Draft): void {
    this.#uncommitted = [];
    const scope = this.#scope();
    if (scope) this.#enqueue(journalOf(scope, this.pathId, this.#version));
    this.#version = draft.version;
  }

  #enqueue(given: readonly Remembered[]): void {
    if (given.length === 0) return;
    this.#queue.push(...given);
    this.stamp++;
    this.#deliver();
  }

  /** Whether the code can do nothing before a step of it goes on. @param isRunning whether the step of a path is being performed */
  isIdle(isRunning: (pathId: string) => boolean): boolean {
    if (
      (this.#queue.length > 0 && this.#passedOver !== this.stamp) ||
      this.#uncommitted.length > 0 ||
      this.#asks.size === 0 ||
      this.hasEnded
    )
      return false;
    for (const pathId of this.#asks.keys()) if (isRunning(pathId)) return false;
    return true;
  }

  /** Whether a step that the code waits for can be performed now. */
  canGoOn(now: EpochMs): boolean {
    if (this.fresh.length > 0) return true;
    for (const { id, status, nextRetryAt = 0 } of this.#scope()?.paths ?? [])
      if (this.#asks.has(id) && (status === "ready" || (status === "retrying" && nextRetryAt <= now))) return true;
    return false;
  }

  /** Whether everything that the code waits for is still open. */
  mayRest(): boolean {
    const open = new Set(this.#scope()?.paths.map(({ id }) => id));
    for (const pathId of this.#asks.keys()) if (!open.has(pathId)) return false;
    return true;
  }

  #scope(): ScopeDraft | null {
    return scopeAt(this.#host.draft(), this.key);
  }

  /** The code runs, until it can go no further: then it gets its next result, or perhaps it can only wait. */
  #goOn(): void {
    const { stamp } = this;
    this.#hasRested = false;
    onRest(() => {
      this.#hasRested = true;
      if (this.#queue.length > 0) this.#deliver();
      else if (this.stamp === stamp && !this.isLeft) this.#host.delivered();
    });
  }

  /**
   * Gives the code its next result, in the order of their events. If it has not come to rest since it last began to run, it gets it later: else what
   * it asks for next would depend on the speed of this process.
   */
  #deliver(): void {
    const [next] = this.#queue;
    if (!next || !this.#hasRested || this.isReading || this.isLeft) return;
    const ask = this.#asks.get(stepPathId(this.pathId, next.number));
    if (!ask) {
      void this.#expect(next);
      return;
    }
    const received = readResult(ask, next);
    if (!(received instanceof Promise)) {
      this.#hand(ask, next, received);
      return;
    }
    this.isReading = true;
    void received.then((given) => {
      this.isReading = false;
      if (!this.isLeft) this.#hand(ask, next, given);
    });
  }

  #hand({ pathId, resolve, reject }: Ask, { result }: Remembered, given: ReadResult): void {
    this.#queue.shift();
    this.#asks.delete(pathId);
    if (this.#asks.size === 0) this.#listen();
    this.#now = result.timestamp;
    this.stamp++;
    this.#goOn();
    if ("error" in given) reject(given.error);
    else resolve(given.value);
  }

  /** If the code waits for other steps, and has not asked for the one that has given the next result, it is not the code that ran before. */
  async #expect({ number }: Remembered): Promise<void> {
    const { stamp } = this;
    for (let i = 0; i < loopsToRest; i++) await nextMacrotask();
    if (this.isLeft || this.hasEnded || this.stamp !== stamp || this.#asks.size === 0 || this.#queue[0]?.number !== number) return;
    if (!this.#passOver()) this.#host.changed(this, `${this.#told(number)}, and the code waits without having asked for it`);
  }

  /** If the code waits for a step that a restart has opened again, what it will ask for then may be remembered already. Returns whether it does. */
  #passOver(): boolean {
    const scope = this.#scope();
    if (!scope || ![...this.#asks.values()].some((ask) => isPerformedAgain(scope, ask))) return false;
    const index = this.#queue.findIndex(({ number }) => this.#asks.has(stepPathId(this.pathId, number)));
    this.#passedOver = this.stamp;
    if (index < 0) {
      // whether the code is idle is judged anew
      this.#host.asked();
      return true;
    }
    this.#queue.unshift(...this.#queue.splice(index, 1));
    this.#deliver();
    return true;
  }

  /** Says what is remembered of the asking with a number. */
  #told(number: number): string {
    const name = this.#names.get(number)!;
    const pathId = stepPathId(this.pathId, number);
    const results = this.#scope()?.context[name] ?? [];
    const last = results.findLast((result) => result.pathId === pathId);
    const how = last ? `${last.error === undefined ? "completed" : "failed"}, version ${last.version}` : "open";
    return `step ${number} was "${name}" (${how})`;
  }

  #checkName(name: unknown): void {
    if (!isId(name)) throw invalid(`must be 1 to 128 letters, digits, "_" or "-"`);
    if (name === this.nodeId) throw invalid(`"${name}" is the name of the code itself: give the step another one`);
  }

  #ignored(step: string): Promise<never> {
    if (!this.#isLate) this.#host.late(step);
    this.#isLate = true;
    return never;
  }
}

/** The promise of what nothing comes of any more. */
const never: Promise<never> = new Promise(() => undefined);

const mark: StepRequest["by"] = { type: "changed", definition: { executor: () => ({ data: null }) } };

function invalid(reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option: "name of a step", reason });
}
