import type { CompiledWorkflow } from "../core/definition/compiled.ts";
import { safeMember } from "../core/errors/safe-member.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { Event } from "../core/snapshot/event.ts";
import { begin } from "../core/transition/begin.ts";
import { closeDraft } from "../core/transition/draft/close-draft.ts";
import type { Draft } from "../core/transition/draft/draft.ts";
import { earliestTime, wakeAt } from "../core/transition/draft/draft-status.ts";
import { evolve } from "../core/transition/evolve.ts";
import { AnnouncedSteps, due, planDraft, type Task } from "../core/transition/plan.ts";
import type { EpochMs } from "../core/values/json.ts";
import { eventOf } from "../engine/attempt/outcome.ts";
import { type Counted, exhausted, settleOutcome } from "../engine/limits.ts";
import type { GuestHost, GuestMessage, GuestResult, GuestStep } from "./host.ts";

/** The result of the start of an execution. */
type Beginning = Extract<GuestResult, { type: "started" }>;

/**
 * Folds the entries of a host's journal into an execution, and asks the host for the next entries. It reads no clock, makes no ids and
 * calls no code of nodes, so that the same journal always leads to the same requests.
 *
 * It works in batches: the steps that are due, at most `concurrency` of them, are performed at the same time, then their outcomes are
 * applied in the order in which they ended. Timers that have become due meanwhile are applied at their places in this order.
 */
export class GuestExecution {
  readonly draft: Draft;
  readonly #host: GuestHost;
  /** The result of the start. Its limits and its concurrency are used in every replay. */
  readonly #beginning: Beginning;
  /** The latest time in the journal so far: the clock of this execution. */
  #now: EpochMs;
  /** The number of journal entries so far; the first one is the start. */
  #entries = 1;
  /** Ids of the messages that were taken. */
  readonly #taken = new Set<string>();

  constructor(host: GuestHost, workflow: CompiledWorkflow, beginning: Beginning) {
    this.#host = host;
    this.#beginning = beginning;
    this.#now = beginning.event.at;
    this.draft = begin(workflow, beginning.event);
  }

  /** Drives the execution to its end. */
  async run(): Promise<void> {
    while (!this.draft.ended) {
      const tasks = this.#plan();
      if (tasks.length > 0) await this.#perform(tasks);
      else await this.#waitUntil(wakeAt(this.draft));
    }
  }

  /** Returns the steps of the next batch. Steps that can be undone are announced first, to record which may have had an effect. */
  #plan(): Task[] {
    const { draft } = this;
    const { concurrency } = this.#beginning;
    const tasks: Task[] = [];
    let room = concurrency;
    const announced = new AnnouncedSteps();
    announced.announce(
      draft,
      this.#now,
      null,
      () => (room-- > 0 ? true : null),
      (event) => this.#fold(event),
    );
    planDraft(draft, this.#now, null, (task, { node }) => {
      if (announced.begin(task, node)) tasks.push(task);
      return tasks.length < concurrency;
    });
    return tasks;
  }

  async #perform(tasks: readonly Task[]): Promise<void> {
    const { limits } = this.#beginning;
    const snapshot = closeDraft(this.draft);
    const settled: { readonly task: Task; readonly outcome: Counted }[] = [];
    const asked: Task[] = [];
    for (const [i, task] of tasks.entries()) {
      const spent = exhausted(limits, this.draft, task, i, this.#now);
      if (spent && spent.type !== "aborted") settled.push({ task, outcome: spent });
      else asked.push(task);
    }
    const steps = asked.map((task): GuestStep => ({ name: this.#name(task.nodeId), type: "attempt", snapshot, task }));
    const results = steps.length > 0 ? await performed(this.#host, steps, ["performed"]) : [];
    for (const [i, { outcome }] of results.entries()) settled.push({ task: asked[i]!, outcome });
    // the sort is stable: outcomes that ended at the same time stay in the order of their paths
    settled.sort((a, b) => a.outcome.endedAt - b.outcome.endedAt);
    for (const { task, outcome } of settled) {
      // timers that became due before this outcome come first
      while (!this.draft.ended && due(this.draft, outcome.endedAt)) await this.#waitUntil(this.#timerAt());
      this.#settle(task, outcome);
    }
  }

  #settle(task: Task, outcome: Counted): void {
    this.#now = Math.max(this.#now, outcome.endedAt);
    if (this.draft.ended) return;
    const settled = settleOutcome(this.#beginning.limits, this.draft, task, outcome);
    const event = eventOf(this.draft, task, settled);
    // the step may have been performed before by a process that died, so it may have had an effect
    this.#fold(event.type === "failed" && task.begun ? { ...event, begun: true } : event);
  }

  /** Returns the time of the first timer of any path, or of the deadline if that comes first. */
  #timerAt(): EpochMs {
    const { paths, timers } = this.draft;
    const never = Number.POSITIVE_INFINITY;
    return Math.min(earliestTime(this.draft, paths) ?? never, timers.first()?.at ?? never);
  }

  /** Waits for the next message and takes it. If none has come by `until`, the timers up to that time are applied. */
  async #waitUntil(until: EpochMs | null): Promise<void> {
    const message = await this.#host.wait(until, { name: this.#name("wait"), snapshot: closeDraft(this.draft) });
    if (message) return this.#takeMessage(message);
    if (until === null) return;
    this.#now = Math.max(this.#now, until);
    for (let event = due(this.draft, until); event && !this.draft.ended; event = due(this.draft, until)) this.#fold(event);
  }

  async #takeMessage(message: GuestMessage): Promise<void> {
    if (this.#taken.has(message.id)) return;
    this.#taken.add(message.id);
    const snapshot = closeDraft(this.draft);
    const [result] = await performed(
      this.#host,
      [{ name: this.#name("command"), type: "command", snapshot, message }],
      ["decided", "refused"],
    );
    // a refused command changes nothing
    if (result?.type === "decided") this.#fold(result.event);
  }

  #fold(event: Event): void {
    this.#now = Math.max(this.#now, event.at);
    // an event that is no longer current changes nothing
    evolve(this.draft, event);
  }

  #name(of: string): string {
    return entryName(this.#entries++, of);
  }
}

/** Returns the name of a journal entry: `3 charge`. */
export function entryName(entry: number, of: string): string {
  return `${entry} ${of}`.slice(0, 250);
}

/**
 * Asks the host to perform steps, and returns their results in order. Each result must have one of the expected types.
 *
 * @throws StepfoldError `OPTION_INVALID` if the host returned something else, which breaks its contract
 */
export async function performed<T extends GuestResult["type"]>(
  host: GuestHost,
  steps: readonly GuestStep[],
  expected: readonly T[],
): Promise<Extract<GuestResult, { type: T }>[]> {
  const results: unknown = await host.perform(steps);
  const invalid = (reason: string): StepfoldError => new StepfoldError("OPTION_INVALID", { option: "host.perform", reason });
  if (!Array.isArray(results) || results.length !== steps.length) throw invalid("must give one result for each step");
  for (const [i, result] of results.entries())
    if (!expected.includes(safeMember(result, "type") as T)) throw invalid(`gave for "${steps[i]!.name}" what guest.perform did not give`);
  return results;
}
