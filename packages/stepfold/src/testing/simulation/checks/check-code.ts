import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { defaultTaskQueue } from "../../../core/values/ids/id.ts";
import type { Claim, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered } from "../../broken/broken-store.ts";
import type { Ledger } from "../ledger.ts";
import { needsAny } from "../other-workers.ts";
import type { OtherWorker } from "../scenario.ts";

/**
 * I25: no process drives an execution whose code it lacks, or gets one by a claim that it asked for after it had found out what it lacks. It
 * gets none of a task queue that it does not take. No execution is parked for that.
 */
export class CodeChecks {
  readonly #ledger: Ledger;
  /** The definitions that were stored, by their hashes. */
  readonly #definitions = new Map<string, unknown>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /**
   * Watches the calls of one process.
   *
   * @param worker what the process has less than others
   */
  watched(store: SnapshotStore, name: string, worker: OtherWorker): WatchedProcess {
    /** Definitions that the process has told that it cannot run, by their hashes. */
    const left = new Set<string>();
    const withoutPermit = new Set<string>();
    const checkGiven = (claim: Claim, known: ReadonlySet<string>): void => {
      const head = this.#headAt(claim);
      if (claim.withoutPermit) withoutPermit.add(claimName(claim));
      if (!head) return;
      if (known.has(head.definition.hash) && !claim.withoutPermit)
        this.#violate(claim, `${name} got it, and had found out before that it cannot run it`);
      this.#checkTaskQueue(claim, head, name, worker);
    };
    const checkDriven = (commit: Commit): void => {
      const [first] = commit.events;
      const isDriven = commit.fence !== undefined && !withoutPermit.has(claimName({ ...commit, fence: commit.fence }));
      if (isDriven && first?.type !== "parked" && this.#lacks(commit.head, worker))
        this.#violate(commit, `${name} drove it, and lacks its code`);
      if (first?.type === "parked" && first.code.startsWith("DEFINITION_") && store.features.taskQueues)
        this.#violate(commit, `${name} parked it, because it lacks its code`);
    };
    const changed = altered(store, {
      async create(commit, options) {
        const claim = await store.create(commit, options);
        if (claim) checkGiven(claim, left);
        return claim;
      },
      commit(commit) {
        checkDriven(commit);
        return store.commit(commit);
      },
      async claim(options) {
        const known = new Set(left);
        const claimed = await store.claim(options);
        for (const claim of claimed) checkGiven(claim, known);
        return claimed;
      },
      putDefinition: (hash, definition, options) => {
        this.#definitions.set(hash, definition);
        return store.putDefinition(hash, definition, options);
      },
    });
    return { store: changed, onProblem: (workflowId, error) => this.#note(left, workflowId, error) };
  }

  /** Notes that a process has told that it leaves all executions of a definition to others. */
  #note(left: Set<string>, workflowId: string | null, error: unknown): void {
    const entry = workflowId === null ? undefined : this.#ledger.entries.get(workflowId);
    // a definition that the store has lost may come back
    if (entry && StepfoldError.is(error, "WORKFLOW_LEFT") && error.details.code === "DEFINITION_INVALID")
      left.add(entry.head.definition.hash);
  }

  /** The head of an execution as it was claimed; null if it has changed since, or a failover has lost it. */
  #headAt({ workflowId, incarnation, version }: Claim): SnapshotHead | null {
    const entry = this.#ledger.entries.get(workflowId);
    return entry?.incarnation === incarnation && entry.version === version ? entry.head : null;
  }

  #checkTaskQueue(claim: Claim, { taskQueue = defaultTaskQueue }: SnapshotHead, name: string, { taskQueues }: OtherWorker): void {
    if (taskQueues && !taskQueues.includes(taskQueue))
      this.#violate(claim, `${name} got it, and does not take its task queue "${taskQueue}"`);
  }

  #lacks({ definition }: SnapshotHead, { lacks = [] }: OtherWorker): boolean {
    return lacks.length > 0 && needsAny(this.#definitions.get(definition.hash), lacks);
  }

  #violate({ workflowId }: { readonly workflowId: string }, message: string): void {
    this.#ledger.violate("I25", message, workflowId);
  }
}

/** The store as a watched process gets it, and what it has to be told. */
interface WatchedProcess {
  readonly store: SnapshotStore;
  readonly onProblem: (workflowId: string | null, error: unknown) => void;
}

function claimName({ workflowId, incarnation, fence }: Pick<Claim, "workflowId" | "incarnation" | "fence">): string {
  return `${workflowId} ${incarnation} ${fence}`;
}
