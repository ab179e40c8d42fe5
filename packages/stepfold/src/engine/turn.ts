import type { CompiledNode, CompiledWorkflow } from "../core/definition/compiled.ts";
import { scopedKey } from "../core/snapshot/address.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import { nextTimerAt } from "../core/transition/draft/draft-status.ts";
import { openDraft, scopeAt } from "../core/transition/draft/open-draft.ts";
import { evolve, withConsequences } from "../core/transition/evolve.ts";
import { AnnouncedSteps, due, hasTimer, isAnyDue, planDraft, type Task } from "../core/transition/plan.ts";
import { scopeOfTask } from "../core/transition/task-scope.ts";
import type { EpochMs } from "../core/values/json.ts";
import { Breaks } from "../environment/system-environment.ts";
import { eventOf, type Outcome } from "./attempt/outcome.ts";
import { type Attempt, perform } from "./attempt/perform.ts";
import { exhausted, settleOutcome } from "./limits.ts";
import { OutboxSender } from "./outbox-sender.ts";
import type { TurnOptions } from "./turn-options.ts";

interface Settled {
  readonly task: Task;
  readonly outcome: Outcome;
}

interface Running {
  readonly task: Task;
  readonly attempt: Attempt;
}

/**
 * One turn of an execution: plan, perform, apply and (with a store) commit, until nothing is due.
 *
 * The turn owns its draft. Several paths that are ready are performed at the same time. If a task follows from an event, the task is
 * performed only after that event is committed.
 */
export class Turn {
  draft: Draft;
  readonly #options: TurnOptions;
  /** Tasks that were begun and whose outcomes are not applied yet, by path: a path has one at a time. */
  readonly #running = new Map<string, Running>();
  /** Outcomes that are not applied yet. */
  #settled: Settled[] = [];
  /** Ends the wait for news; null while the turn does not wait. */
  #wake: (() => void) | null = null;
  /** A snapshot that was committed outside of this turn, and from which the turn has to continue; null if there is none. */
  #stored: Snapshot | null = null;
  /** Null if the turn does not deliver messages: they stay in the snapshot. */
  readonly #outboxSender: OutboxSender | null;
  #stopped = false;
  #draining = false;
  #performed = 0;
  /** The definition whose nodes the turn can perform. */
  readonly #workflow: CompiledWorkflow;
  /** The steps with a `compensate` whose beginning is stored before their executors are called. */
  readonly #announced = new AnnouncedSteps();
  /** When tasks were last planned. */
  #plannedAt: EpochMs = 0;
  /**
   * The time of the latest outcome, used as the start time of the next step; null after anything else was waited for, and always null with
   * `commit` or `onEvent`, which take time. It saves a reading of the clock, which takes a twentieth of the time of a short step.
   */
  #freshNow: EpochMs | null = null;
  readonly #breaks: Breaks;
  /** The value of `draft.endedPathCount` when the running steps were last compared with the draft. */
  #endedPathCount = 0;

  constructor(draft: Draft, options: TurnOptions) {
    this.draft = draft;
    this.#workflow = draft.workflow;
    this.#options = options;
    this.#breaks = new Breaks(() => options.environment.monotonicMs());
    this.#outboxSender = options.deliver && new OutboxSender(options.deliver, () => this.#wake?.());
  }

  /** Ends the turn at once: the signals of running executors are aborted, and their attempts do not count. */
  stop(reason: unknown): void {
    this.#stopped = true;
    for (const { attempt } of this.#running.values()) attempt.abort(reason);
    this.#wake?.();
  }

  /** Begins no more tasks. The turn ends when those in progress have ended. */
  drain(): void {
    this.#draining = true;
    this.#wake?.();
  }

  /** Gives the turn a snapshot that was committed outside of this turn. The turn continues from it. */
  refresh(stored: Snapshot): void {
    this.#stored = stored;
    this.#wake?.();
  }

  /** Makes the turn look again what is due, because the clock has moved further than the timer of the turn knows. */
  checkTimers(): void {
    this.#wake?.();
  }

  /** Runs until nothing is due or in progress. Ends earlier at the step limit, after `drain` or `stop`, and when the execution ends. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const others = this.#breaks.next();
        if (others) {
          await others;
          this.#freshNow = null;
        }
        const outcomes = this.#settled;
        if (outcomes.length > 0) this.#settled = [];
        const events = this.#applyNews(outcomes);
        const announcedAt = this.#announce(events);
        if (events.length > 0) await this.#commit(events, outcomes);
        if (this.#stopped || this.draft.ended) break;
        this.#outboxSender?.check();
        if (this.draft.endedPathCount !== this.#endedPathCount) this.#abortUnwanted();
        // the commit took time: timers that became due meanwhile are applied before new tasks begin
        if (events.length > 0 && !this.#draining && this.#due()) continue;
        if (!this.#draining) {
          this.#begin(announcedAt);
          this.#outboxSender?.send(this.draft);
        }
        // a turn that is drained announces nothing more, so it does not look again for that
        const isLacking = this.#announced.isLacking && !this.#draining;
        if (this.#settled.length > 0 || this.#stored || isLacking || this.#outboxSender?.hasNews) continue;
        if (this.#running.size === 0 && !this.#outboxSender?.isUnderWay) break;
        await this.#waitForNews();
        this.#wake = null;
      }
    } finally {
      for (const { attempt } of this.#running.values()) attempt.abort(new DOMException("The turn ended", "AbortError"));
    }
  }

  /**
   * Waits until a step settles, a retry or wait of another path is due, messages are delivered, or a method of the turn ends the wait. Not
   * an async function: that would make every step wait for one more promise.
   */
  #waitForNews(): Promise<void> {
    const at = this.#draining ? null : nextTimerAt(this.draft, this.#plannedAt);
    return new Promise((resolve) => {
      this.#wake = at === null ? resolve : this.#wakeAt(at, resolve);
    });
  }

  /** Calls `wake` at a time. The returned function calls `wake` at once instead. */
  #wakeAt(at: EpochMs, wake: () => void): () => void {
    const { environment, now } = this.#options;
    const disarm = environment.after(Math.max(0, at - now()), wake);
    return () => {
      disarm();
      wake();
    };
  }

  /**
   * Continues from a snapshot that was committed elsewhere, if there is a newer one. Then applies the outcomes, the delivery of messages,
   * and the timers that are due. Returns the events that have to be committed: none without `commit`.
   */
  #applyNews(outcomes: readonly Settled[]): Event[] {
    const stored = this.#stored;
    this.#stored = null;
    if (stored && stored.version > this.draft.version) this.#continueFrom(stored);
    const events: Event[] = [];
    for (const settled of outcomes) this.#apply(settled, events);
    const ids = this.#outboxSender?.arrived();
    if (ids) this.#accept({ type: "delivered", version: this.draft.version + 1, at: this.#options.now(), ids }, events);
    for (let event = this.#due(); event && !this.#stopped && !this.#draining; event = this.#due()) this.#accept(event, events);
    return events;
  }

  /** Returns the event of a timer that is due; null if none is. The clock is only read if the draft has a timer. */
  #due(): Event | null {
    if (this.draft.ended || !hasTimer(this.draft)) return null;
    return due(this.draft, this.#options.now());
  }

  #apply({ task, outcome }: Settled, events: Event[]): void {
    const name = nameOf(task);
    if (this.#running.get(name)?.task.turn === task.turn) this.#running.delete(name);
    if (outcome.type === "aborted") return;
    const allowed = settleOutcome(this.#options.performing.limits, this.draft, task, outcome);
    const event = eventOf(this.draft, task, allowed);
    const begun = event.type === "failed" && this.#announced.mayHaveActed(task, !("uncalled" in allowed));
    const workflow = allowed.type === "completed" ? allowed.nextRun?.workflow : undefined;
    this.#accept(begun ? { ...event, begun } : event, events, workflow);
  }

  #accept(event: Event, events: Event[], workflow?: CompiledWorkflow): void {
    if (!evolve(this.draft, event, workflow)) return;
    const whole = withConsequences(this.draft, event);
    if (this.#options.onWarning) for (const warning of this.draft.warnings) this.#options.onWarning(warning);
    if (this.#options.commit) events.push(whole);
    else this.#options.onEvent?.(whole, this.draft);
  }

  /** Commits. If another commit was first, continues from its snapshot, and tries again with the outcomes that are still current. */
  async #commit(events: readonly Event[], outcomes: readonly Settled[]): Promise<void> {
    const { commit, onEvent } = this.#options;
    let pending = events;
    while (pending.length > 0) {
      const last = this.#isLast();
      const stored = await commit!(pending, this.draft, last);
      if (!stored) {
        if (onEvent) for (const event of pending) onEvent(event, this.draft);
        this.#stopped ||= last;
        return;
      }
      this.#continueFrom(stored);
      const again: Event[] = [];
      for (const settled of outcomes) this.#apply(settled, again);
      pending = again;
    }
  }

  /**
   * Whether the next commit is the last one of the turn: nothing is in progress, and nothing more is due or may begin; or the next run
   * follows another definition, so that the execution must be loaded anew.
   */
  #isLast(): boolean {
    if (this.draft.ended || this.draft.workflow !== this.#workflow) return true;
    const { now, early } = this.#options;
    if (this.#running.size > 0 || this.#stored || this.#outboxSender?.isUnderWay) return false;
    if (this.#draining) return true;
    // messages are no steps: a turn that may not perform any more steps still delivers them
    if (this.#outboxSender !== null && this.draft.outbox.length > 0) return false;
    return this.#performed >= this.#options.stepLimit || !(isAnyDue(this.draft, now(), early) || this.#due());
  }

  /** Continues from a stored snapshot. */
  #continueFrom(stored: Snapshot): void {
    this.draft = openDraft(this.#workflow, stored);
    this.#abortUnwanted();
  }

  /** Aborts the steps whose paths have ended or moved on without them. */
  #abortUnwanted(): void {
    this.#endedPathCount = this.draft.endedPathCount;
    for (const [name, { task, attempt }] of this.#running) {
      const path = scopeAt(this.draft, task.scope)?.paths.find(({ id }) => id === task.pathId);
      if (path?.turn === task.turn) continue;
      this.#running.delete(name);
      attempt.abort(new DOMException("The step is no longer wanted", "AbortError"));
    }
  }

  /**
   * Announces the steps that are about to begin and that can be undone. Returns the time for which they were planned; null if the workflow
   * has no step that can be undone, or nothing may begin.
   */
  #announce(events: Event[]): EpochMs | null {
    const { workflow, ended } = this.draft;
    if (!workflow.compensates || ended || this.#stopped || this.#draining) return null;
    const { concurrency, stepLimit, early, now } = this.#options;
    const at = now();
    let begun = 0;
    const mayBegin = (task: Task): boolean | null => {
      if (this.#running.size + begun >= concurrency || this.#performed + begun >= stepLimit) return null;
      const isNew = !this.#running.has(nameOf(task));
      begun += Number(isNew);
      return isNew;
    };
    this.#announced.announce(this.draft, at, early, mayBegin, (event) => this.#accept(event, events));
    return at;
  }

  /**
   * Begins the tasks that are due.
   *
   * @param announcedAt the time for which steps were announced. A task that became due after it must not take the place of an announced one
   */
  #begin(announcedAt: EpochMs | null): void {
    const { concurrency, stepLimit, early, onTask } = this.#options;
    const now = this.#freshNow ?? this.#options.now();
    this.#freshNow = null;
    this.#announced.isLacking = false;
    this.#plannedAt = announcedAt ?? now;
    planDraft(this.draft, this.#plannedAt, early, (task, { node }) => {
      if (this.#running.size >= concurrency || this.#performed >= stepLimit) return false;
      if (this.#running.has(nameOf(task))) return true;
      if (!this.#announced.begin(task, node)) return true;
      this.#performed++;
      const performed = task.undoes ? node.compensation! : node;
      onTask?.(task, performed.node.type);
      this.#perform(task, performed, now);
      return true;
    });
  }

  #perform(task: Task, node: CompiledNode, now: EpochMs): void {
    const { performing, prepared, commit, onEvent } = this.#options;
    const name = nameOf(task);
    const scope = scopeOfTask(task, this.draft);
    const spent = exhausted(performing.limits, this.draft, task, this.#running.size, now);
    const attempt: Attempt = spent
      ? { outcome: spent, abort: () => undefined }
      : perform(task, prepared.get(node)!, scope, performing, now, (outcome) => {
          // a task that is no longer current was removed from `#running`, so its late outcome is ignored
          if (this.#running.get(name)?.attempt !== attempt) return;
          this.#settle(task, node.node.type, outcome);
          this.#freshNow = commit || onEvent ? null : outcome.endedAt;
          this.#wake?.();
        });
    this.#running.set(name, { task, attempt });
    if (attempt.outcome) this.#settle(task, node.node.type, attempt.outcome);
    this.#freshNow = attempt.outcome && !commit && !onEvent ? attempt.outcome.endedAt : null;
  }

  #settle(task: Task, type: string, outcome: Outcome): void {
    this.#options.onOutcome?.(task, type, outcome);
    this.#settled.push({ task, outcome });
  }
}

/** Names a task by its path, because a path has one task at a time. */
function nameOf({ scope, pathId }: Task): string {
  return scope === undefined ? pathId : scopedKey(scope, pathId);
}
