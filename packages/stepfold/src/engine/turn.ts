import type { CompiledNode, CompiledWorkflow } from "../core/definition/compiled.ts";
import type { Event } from "../core/snapshot/event.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import { codePathOf, isOfCode } from "../core/transition/code/code-path.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import { nextTimerAt } from "../core/transition/draft/draft-status.ts";
import { openDraft, scopeAt } from "../core/transition/draft/open-draft.ts";
import { evolve, withConsequences } from "../core/transition/evolve.ts";
import { AnnouncedSteps, due, hasTimer, isAnyDue, planDraft, type Task, taskOf } from "../core/transition/plan.ts";
import { scopeOfTask } from "../core/transition/task-scope.ts";
import type { EpochMs } from "../core/values/json.ts";
import { Breaks, News } from "../environment/system-environment.ts";
import { eventOf, type Outcome } from "./attempt/outcome.ts";
import { type Attempt, perform } from "./attempt/perform.ts";
import type { CodeRuns } from "./code/code-runs.ts";
import { exhausted, settleOutcome } from "./limits.ts";
import { OutboxSender } from "./outbox-sender.ts";
import { RunningTasks } from "./running-tasks.ts";
import type { TurnOptions } from "./turn-options.ts";
import type { PreparedNode } from "./workflow/prepared-node.ts";

interface Settled {
  readonly task: Task;
  readonly outcome: Outcome;
  /** Whether the outcome counts when it is applied. Absent: it does. */
  readonly isValid?: () => boolean;
}

const none: readonly Settled[] = [];

/**
 * One turn of an execution: plan, perform, apply and (with a store) commit, until nothing is due.
 *
 * The turn owns its draft. Several paths that are ready are performed at the same time. If a task follows from an event, the task is
 * performed only after that event is committed.
 */
export class Turn {
  draft: Draft;
  readonly #options: TurnOptions;
  readonly #running = new RunningTasks();
  /** Outcomes that are not applied yet. */
  #settled: Settled[] = [];
  readonly #news: News;
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
  /** The code that runs, of workflows with code; null if there are none. */
  readonly #codes: CodeRuns | null;

  constructor(draft: Draft, options: TurnOptions) {
    this.draft = draft;
    this.#workflow = draft.workflow;
    this.#options = options;
    this.#news = new News(options.environment, options.now);
    this.#breaks = new Breaks(() => options.environment.monotonicMs());
    this.#outboxSender = options.deliver && new OutboxSender(options.deliver, () => this.#news.wake());
    this.#codes = this.#codeRuns();
  }

  #codeRuns(): CodeRuns | null {
    const { performing, codeRuns } = this.#options;
    if (!codeRuns) return null;
    return codeRuns({
      draft: () => this.draft,
      deadlines: performing.deadlines,
      silentMs: performing.stepTimeoutMs,
      isRunning: (step) => this.#running.has(step),
      wake: () => this.#news.wake(),
      leave: (task, mayRest) => this.#leave(task, mayRest),
    });
  }

  /** Ends the turn at once: the signals of running executors are aborted, and their attempts do not count. */
  stop(reason: unknown): void {
    this.#stopped = true;
    this.#running.abortAll(reason);
    this.#news.wake();
  }

  /** Begins no more tasks. The turn ends when those in progress have ended. */
  drain(): void {
    this.#draining = true;
    this.#news.wake();
  }

  /** Gives the turn a snapshot that was committed outside of this turn. The turn continues from it. */
  refresh(stored: Snapshot): void {
    this.#stored = stored;
    this.#news.wake();
  }

  /** Makes the turn look again what is due, because the clock has moved further than the timer of the turn knows. */
  checkTimers(): void {
    this.#news.wake();
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
        // taken out, also if there are none yet: what comes during the commit would else be applied twice
        const outcomes = this.#settled.length > 0 ? this.#settled : none;
        if (outcomes !== none) this.#settled = [];
        const events = this.#applyNews(outcomes);
        const announcedAt = this.#announce(events);
        if (events.length > 0) await this.#commit(events, outcomes);
        this.#codes?.release(this.draft.version);
        if (this.#stopped || this.draft.ended || this.#codes?.isBroken) break;
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
        if (this.#settled.length > 0 || this.#stored || isLacking || this.#outboxSender?.hasNews || this.#codes?.takeNews()) continue;
        if (this.#running.size === 0 && !this.#outboxSender?.isUnderWay) break;
        this.#codes?.leaveIdle(this.#plannedAt, !this.#draining && this.#performed < this.#options.stepLimit);
        // a step settles, a retry or wait of another path is due, messages are delivered, or a method of the turn ends the wait
        await this.#news.wait(this.#draining ? null : nextTimerAt(this.draft, this.#plannedAt));
      }
    } finally {
      if (this.#running.size > 0) this.#running.abortAll(new DOMException("The turn ended", "AbortError"));
      this.#codes?.leaveAll();
    }
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
    this.#applyAll(outcomes, events);
    const ids = this.#outboxSender?.arrived();
    if (ids) this.#accept({ type: "delivered", version: this.draft.version + 1, at: this.#options.now(), ids }, events);
    for (let event = this.#due(); event && !this.#stopped && !this.#draining; event = this.#due()) this.#accept(event, events);
    return events;
  }

  /** Applies outcomes, and parks the execution if its code does not fit what it has done before. */
  #applyAll(outcomes: readonly Settled[], events: Event[]): void {
    for (const settled of outcomes) this.#apply(settled, events);
    const parked = this.#codes?.isBroken ? this.#codes.mismatch(this.#options.now()) : null;
    if (parked) this.#accept(parked, events);
  }

  /** Returns the event of a timer that is due; null if none is. The clock is only read if the draft has a timer. */
  #due(): Event | null {
    if (this.draft.ended || !hasTimer(this.draft)) return null;
    return due(this.draft, this.#options.now());
  }

  #apply({ task, outcome, isValid }: Settled, events: Event[]): void {
    if (this.#running.get(task)?.task.turn === task.turn) this.#running.delete(task);
    this.#codes?.ended(task);
    if (outcome.type === "aborted" || isValid?.() === false) return;
    const allowed = settleOutcome(this.#options.performing.limits, this.draft, task, outcome);
    const event = eventOf(this.draft, task, allowed);
    const begun = event.type === "failed" && this.#announced.mayHaveActed(task, !("uncalled" in allowed));
    const workflow = allowed.type === "completed" ? allowed.nextRun?.workflow : undefined;
    this.#accept(begun ? { ...event, begun } : event, events, workflow);
  }

  #accept(event: Event, events: Event[], workflow?: CompiledWorkflow): void {
    if (!evolve(this.draft, event, workflow)) return;
    const whole = withConsequences(this.draft, event);
    this.#codes?.collect(event, this.draft);
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
      this.#applyAll(outcomes, again);
      pending = again;
    }
  }

  /**
   * Whether the next commit is the last one of the turn: nothing is in progress, and nothing more is due or may begin; or the next run
   * follows another definition, so that the execution must be loaded anew.
   */
  #isLast(): boolean {
    if (this.draft.ended || this.draft.workflow !== this.#workflow || this.#codes?.isBroken) return true;
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
    this.#codes?.continueFrom(this.draft);
    this.#abortUnwanted();
  }

  /** Aborts the steps whose paths have ended or moved on without them. */
  #abortUnwanted(): void {
    this.#endedPathCount = this.draft.endedPathCount;
    this.#running.abortUnwanted(this.draft, this.#codes);
  }

  /** Leaves code that can do nothing more by itself. If it rests, its path is suspended until one of its steps goes on; see `CodeRunsHost`. */
  #leave(task: Task, mayRest: (() => boolean) | null): void {
    const running = this.#running.get(task);
    if (running && mayRest) {
      const at = this.#options.now();
      const outcome: Outcome = { type: "suspended", startedAt: at, endedAt: at, waits: [], sizeBytes: 0 };
      // it counts as running until this is applied: else the code, whose path is still ready, would begin once more
      this.#running.add(task, { outcome, abort: () => undefined });
      this.#settled.push({ task, outcome, isValid: mayRest });
    } else {
      this.#codes!.ended(task);
      this.#running.delete(task);
    }
    running?.attempt.abort(new DOMException("The code waits", "AbortError"));
    this.#news.wake();
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
    const taken = this.#codes?.size ?? 0;
    let begun = 0;
    const mayBegin = (task: Task): boolean | null => {
      if (this.#running.size - taken + begun >= concurrency || this.#performed + begun >= stepLimit) return null;
      const isNew = !this.#running.has(task);
      begun += Number(isNew);
      return isNew;
    };
    const accept = (event: Event): void => this.#accept(event, events);
    this.#announced.announce(this.draft, at, early, mayBegin, accept);
    this.#codes?.takeFresh((task, { prepared: { compiled } }) => {
      if (mayBegin(task) === null) return "stop";
      if (!compiled.compensation) return "keep";
      this.#announced.announceAsked(this.draft, at, task, compiled.compensation, accept);
      return "take";
    });
    return at;
  }

  /**
   * Begins the tasks that are due.
   *
   * @param announcedAt the time for which steps were announced. A task that became due after it must not take the place of an announced one
   */
  #begin(announcedAt: EpochMs | null): void {
    const { early } = this.#options;
    const now = this.#freshNow ?? this.#options.now();
    this.#freshNow = null;
    this.#announced.isLacking = false;
    this.#plannedAt = announcedAt ?? now;
    /** The scopes whose code has to run before a step of it that is due can be performed. */
    const waiting = this.#codes && new Set<string>();
    planDraft(this.draft, this.#plannedAt, early, (task, { node }) => {
      if (!this.#hasRoom()) return false;
      if (this.#running.has(task)) return true;
      const prepared = this.#prepared(task, node);
      if (!prepared) waiting?.add(task.scope ?? "");
      else if (this.#announced.begin(task, node)) this.#perform(task, prepared, now);
      return true;
    });
    if (waiting) this.#beginCode(waiting, now);
  }

  /** Whether one more step may begin. Code takes no place itself: else items of a map with code would leave none for their own steps. */
  #hasRoom(): boolean {
    const { concurrency, stepLimit } = this.#options;
    return this.#running.size - (this.#codes?.size ?? 0) < concurrency && this.#performed < stepLimit;
  }

  /** Returns what performs a task; null if it is a step for which the code has not asked yet in this turn. */
  #prepared(task: Task, node: CompiledNode): PreparedNode | null {
    const { prepared, prepareUndo } = this.#options;
    const compiled = task.undoes ? node.compensation! : node;
    const known = prepared.get(compiled);
    if (known) return known;
    return task.undoes ? prepareUndo(compiled) : (this.#codes?.askOf(task)?.prepared ?? null);
  }

  /** Begins the code of scopes, and the steps that code has asked for and that have no path yet. */
  #beginCode(waiting: ReadonlySet<string>, now: EpochMs): void {
    const codes = this.#codes!;
    for (const key of waiting) {
      const scope = scopeAt(this.draft, key);
      const path = scope && codePathOf(scope);
      if (path && !codes.has(key)) this.#perform(taskOf(path, key), this.#options.prepared.get(path.node)!, now);
    }
    codes.takeFresh((task, { prepared }) => {
      if (!this.#hasRoom()) return "stop";
      if (!this.#announced.begin(task, prepared.compiled)) return "keep";
      this.#perform(task, prepared, now);
      return "take";
    });
  }

  #perform(task: Task, node: PreparedNode, now: EpochMs): void {
    const { performing, commit, onEvent, onTask } = this.#options;
    const { type } = node.compiled.node;
    const scope = scopeOfTask(task, this.draft);
    const isCode = this.#codes !== null && isOfCode(scope, task);
    if (!isCode) this.#performed++;
    onTask?.(task, type);
    const context = isCode ? { ...performing, asking: this.#codes.begin(scope), stepTimeoutMs: Number.POSITIVE_INFINITY } : performing;
    const spent = exhausted(performing.limits, this.draft, task, this.#running.size, now);
    const attempt: Attempt = spent
      ? { outcome: spent, abort: () => undefined }
      : perform(task, node, scope, context, now, (outcome) => {
          // a task that is no longer current was removed from `#running`, so its late outcome is ignored
          if (this.#running.get(task)?.attempt !== attempt) return;
          this.#settle(task, type, outcome);
          this.#freshNow = commit || onEvent ? null : outcome.endedAt;
          this.#news.wake();
        });
    this.#running.add(task, attempt);
    if (attempt.outcome) this.#settle(task, type, attempt.outcome);
    this.#freshNow = attempt.outcome && !commit && !onEvent ? attempt.outcome.endedAt : null;
  }

  #settle(task: Task, type: string, outcome: Outcome): void {
    if (this.#codes?.judgeEnd(task) === false) return;
    this.#options.onOutcome?.(task, type, outcome);
    this.#settled.push({ task, outcome });
  }
}
