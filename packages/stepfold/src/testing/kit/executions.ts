import type { CompiledWorkflow } from "../../core/definition/compiled.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { Replay } from "../../core/transition/replay.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { Claim, Commit } from "../../ports/snapshot-store.ts";
import { AddressBook } from "./address-book.ts";

/** An execution as its commits have made it. */
export interface FollowedExecution {
  readonly workflowId: string;
  readonly events: Event[];
  readonly replay: Replay;
  wakeAt: EpochMs | null;
  claim: Claim | null;
}

/** Follows all executions of a test by their commits, without a call of the store. */
export class Executions {
  readonly #prepared = new Map<string, PreparedWorkflow>();
  readonly #followed = new Map<string, FollowedExecution>();
  readonly #addresses = new Map<string, AddressBook>();

  /** Notes the definition that executions are pinned to by its hash. */
  define(hash: string, workflow: PreparedWorkflow): void {
    this.#prepared.set(hash, workflow);
  }

  preparedOf({ definition }: Snapshot): PreparedWorkflow | undefined {
    return this.#prepared.get(definition.hash);
  }

  /** Follows a commit. */
  add({ workflowId, events, wakeAt, release }: Commit): FollowedExecution {
    const execution = this.#followed.get(workflowId) ?? this.#begin(workflowId, events[0]!);
    for (const event of events) execution.replay.add(event);
    execution.events.push(...events);
    execution.wakeAt = wakeAt;
    if (release) execution.claim = null;
    return execution;
  }

  #begin(workflowId: string, event: Event): FollowedExecution {
    const hash = event.type === "started" ? event.definition.hash : "";
    const execution = { workflowId, events: [], replay: new Replay(this.#compiled(hash), null, (other) => this.#compiled(other)) };
    const followed: FollowedExecution = { ...execution, wakeAt: null, claim: null };
    this.#followed.set(workflowId, followed);
    return followed;
  }

  #compiled(hash: string): CompiledWorkflow {
    const prepared = this.#prepared.get(hash);
    if (!prepared) throw new StepfoldError("DEFINITION_MISSING", { workflowId: "", hash });
    return prepared.compiled;
  }

  get(workflowId: string): FollowedExecution | undefined {
    return this.#followed.get(workflowId);
  }

  claimed(claims: readonly Claim[]): void {
    for (const claim of claims) {
      const execution = this.#followed.get(claim.workflowId);
      if (execution) execution.claim = claim;
    }
  }

  released(workflowId: string): void {
    const execution = this.#followed.get(workflowId);
    if (execution) execution.claim = null;
  }

  /** The claims that processes hold. */
  claims(): Claim[] {
    return [...this.#followed.values()].flatMap(({ claim }) => claim ?? []);
  }

  /** Names the executions that are due and that nobody holds; empty if none is. The name changes with what has happened to them. */
  dueAt(now: EpochMs): string {
    const due = [...this.#followed.values()].filter(({ wakeAt, claim }) => claim === null && wakeAt !== null && wakeAt <= now);
    return due.map(({ workflowId, replay }) => `${workflowId}@${replay.version}`).join(" ");
  }

  /** When the next execution becomes due after a time. */
  nextAt(now: EpochMs): EpochMs {
    let next = Number.POSITIVE_INFINITY;
    for (const { wakeAt, claim } of this.#followed.values())
      if (claim === null && wakeAt !== null && wakeAt > now) next = Math.min(next, wakeAt);
    return next;
  }

  addressesOf(workflowId: string): AddressBook {
    const known = this.#addresses.get(workflowId);
    if (known) return known;
    const book = new AddressBook();
    this.#addresses.set(workflowId, book);
    return book;
  }
}
