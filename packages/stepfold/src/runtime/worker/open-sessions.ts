import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { TimedClaim } from "../context/timed-claim.ts";

/** A session, as the parts see it that wake it or wait for it. */
export interface OpenSession {
  readonly workflowId: string;
  /** Status of the execution after its last commit. */
  readonly status: Status;
  /** Settles when it has ended. */
  readonly done: Promise<Snapshot>;
  /** Goes on with a new claim of this process. @returns false if the session is ending: then the claim needs a new one */
  adopt(claim: TimedClaim): boolean;
  /** False if the execution has this version or a later one, as far as is known here. */
  isBehind(version: number): boolean;
  /** Another writer has committed: the session reads the execution again. */
  look(): void;
}

/** The executions that run in this process. */
export class OpenSessions {
  readonly #byId = new Map<string, OpenSession>();
  /** Statuses of executions of which a session is about to open. */
  readonly #opening = new Map<string, Status>();
  /** Sessions that were woken: a change may have come after their last look. */
  readonly #woken = new WeakSet<OpenSession>();

  add(session: OpenSession): void {
    this.#byId.set(session.workflowId, session);
    this.#opening.delete(session.workflowId);
  }

  /** An execution with this status is about to run here: until its session is added, or `unexpect` is called. */
  expect(workflowId: string, status: Status): void {
    this.#opening.set(workflowId, status);
  }

  unexpect(workflowId: string): void {
    this.#opening.delete(workflowId);
  }

  /** @returns true if it was woken, so that the execution has to be looked at once more */
  remove(session: OpenSession): boolean {
    if (this.#byId.get(session.workflowId) === session) this.#byId.delete(session.workflowId);
    return this.#woken.has(session);
  }

  get(workflowId: string): OpenSession | null {
    return this.#byId.get(workflowId) ?? null;
  }

  has(workflowId: string): boolean {
    return this.#byId.has(workflowId);
  }

  /** True if the execution runs here, or is about to, and had none of these statuses after its last commit: then a change is still to come. */
  isBefore(workflowId: string, isOneOf: (status: Status) => boolean): boolean {
    const status = this.#byId.get(workflowId)?.status ?? this.#opening.get(workflowId);
    return status !== undefined && !isOneOf(status);
  }

  /** @returns true if the execution runs here: its session looks */
  wake(workflowId: string): boolean {
    const session = this.#byId.get(workflowId);
    if (!session) return false;
    this.#woken.add(session);
    session.look();
    return true;
  }
}
