import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { PendingWakeUp } from "../context/command-result.ts";
import type { TimedClaim } from "../context/timed-claim.ts";

/** The members of a session that are used by code that wakes the session or waits for it. */
export interface OpenSession {
  readonly workflowId: string;
  /** Status of the execution when it was loaded, or after the last commit of the session. */
  readonly status: Status;
  /** Settles when the session has ended. */
  readonly done: Promise<Snapshot>;
  /**
   * True if the session has ended because the execution was restarted since it was claimed, or is not the same any more. A claim that it had
   * adopted before it knew that needs a new session.
   */
  readonly isOutlived: boolean;
  /** Goes on under a new claim of this process. @returns false if the session is ending: then the claim needs a new session */
  adopt(claim: TimedClaim): boolean;
  /** True if the session knows only versions of the execution that are older than this one. */
  isBehind(version: number): boolean;
  /** Reads the execution again, because another writer has committed. */
  look(): void;
}

/** The executions that run in this process. */
export class OpenSessions {
  readonly #byId = new Map<string, OpenSession>();
  /** The statuses of executions whose sessions are about to open. */
  readonly #opening = new Map<string, Status>();
  /** For what sessions were woken. The change may have come after their last look. */
  readonly #woken = new WeakMap<OpenSession, PendingWakeUp>();

  add(session: OpenSession): void {
    this.#byId.set(session.workflowId, session);
    this.#opening.delete(session.workflowId);
  }

  /** Notes that an execution with this status is about to run here. It counts until the session is added or `unexpect` is called. */
  expect(workflowId: string, status: Status): void {
    this.#opening.set(workflowId, status);
  }

  unexpect(workflowId: string): void {
    this.#opening.delete(workflowId);
  }

  /** Removes a session that has ended. @returns for what it was woken, if it has ended without having seen that; else null */
  remove(session: OpenSession): PendingWakeUp | null {
    if (this.#byId.get(session.workflowId) === session) this.#byId.delete(session.workflowId);
    const wakeUp = this.#woken.get(session);
    return wakeUp && (session.isOutlived || session.isBehind(wakeUp.version)) ? wakeUp : null;
  }

  get(workflowId: string): OpenSession | null {
    return this.#byId.get(workflowId) ?? null;
  }

  has(workflowId: string): boolean {
    return this.#byId.has(workflowId);
  }

  /** True if the execution runs here, or is about to, and has none of these statuses yet: then a change is still to come. */
  isBefore(workflowId: string, isOneOf: (status: Status) => boolean): boolean {
    const status = this.#byId.get(workflowId)?.status ?? this.#opening.get(workflowId);
    return status !== undefined && !isOneOf(status);
  }

  /** Makes the session of an execution read it again. @returns false if the execution has no session here */
  wake(wakeUp: PendingWakeUp): boolean {
    const session = this.#byId.get(wakeUp.workflowId);
    if (!session) return false;
    const { workflowId, incarnation, version } = wakeUp;
    // where a change leaves the due time as it was (null), that of an earlier one holds
    const { wakeAt, isAnnounced } = (wakeUp.wakeAt === null && this.#woken.get(session)) || wakeUp;
    this.#woken.set(session, { workflowId, incarnation, version, wakeAt, isAnnounced });
    session.look();
    return true;
  }
}
