import { scopedKey } from "../../../core/snapshot/address.ts";
import type { Event } from "../../../core/snapshot/event.ts";
import type { Effect } from "../effects.ts";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import { beginsAt } from "../machines/machine.ts";
import type { Done } from "./check-life.ts";

/** Records all calls of executors and checks them. */
export class EffectLog {
  /** The number of calls that repeated an earlier call of the same attempt more often than `timesWanted`, for instance after a crash. */
  repeated = 0;
  readonly #ledger: Ledger;
  readonly #calls = new Map<string, number>();
  /** When a step was performed last by the holder of its execution, by its idempotency key. */
  readonly #last = new Map<string, number>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  add(effect: Effect): void {
    const { workflowId, pathId, nodeId, attempt, idempotencyKey, resumed } = effect;
    count(this.#calls, `${workflowId} ${pathId} ${nodeId} ${attempt}`);
    const times = count(this.#calls, `${effect.isCompensation} ${idempotencyKey} ${attempt} ${resumed}`);
    const entry = this.#ledger.entries.get(workflowId);
    if (times > 1 && times > timesWanted(entry, effect)) this.repeated++;
    if (entry) this.#checkRetry(entry, effect);
    // a process that has lost the execution may not know yet what others have completed
    if (entry?.holder?.machine !== effect.machine || effect.isCompensation) return;
    this.#last.set(idempotencyKey, this.#ledger.nowMs);
  }

  /** I23: no step is performed again after it was completed, under the same idempotency key. */
  checkDone({ workflowId, committedMs }: LedgerEntry, { key, version }: Done): void {
    const lateMs = (this.#last.get(`${workflowId}/${key}`) ?? 0) - committedMs[version]!;
    // a failover makes what was completed unknown
    if (lateMs > 0 && this.#ledger.failovers === 0)
      this.#ledger.violate("I23", `${key} was performed again ${lateMs} ms after it was completed`, workflowId);
  }

  /** I4: every committed result comes from its own call of the executor. */
  checkCommitted(entry: LedgerEntry): void {
    const committed = new Map<string, number>();
    for (const event of entry.events) {
      if ((event.type !== "completed" && event.type !== "suspended") || event.undoes) continue;
      const name = `${entry.workflowId} ${scopedKey(event.scope ?? "", event.pathId)} ${event.nodeId} ${event.attempt}`;
      if (count(committed, name) > (this.#calls.get(name) ?? 0))
        this.#ledger.violate("I4", `${event.type} ${name} was committed and never performed`, entry.workflowId);
    }
  }

  /** I8: no retry comes too early by the store's clock. */
  #checkRetry({ events, workflowId, holder }: LedgerEntry, effect: Effect): void {
    const { pathId, nodeId, attempt, idempotencyKey, isCompensation, machine } = effect;
    if (attempt === 1 || isCompensation) return;
    const visit = Number(idempotencyKey.slice(idempotencyKey.lastIndexOf("#") + 1));
    // A process that has lost the execution without knowing it repeats an old attempt.
    const isMeant = (event: Event): boolean =>
      event.type === "failed" && event.attempt === attempt - 1 && event.nodeId === nodeId && event.turn >= visit && isOfPath(event, pathId);
    // A process that claimed the execution before a failover still acts on lost events.
    if (this.#ledger.failovers > 0 && holder?.machine !== machine) return;
    const index = events.findIndex(isMeant);
    const failed = events[index];
    if (failed?.type !== "failed" || events.slice(index).some((event) => event.type === "retried" && isOfPath(event, pathId))) return;
    const earlyMs = (failed.retryAt ?? Number.POSITIVE_INFINITY) - beginsAt - this.#ledger.nowMs;
    if (earlyMs > 0) this.#ledger.violate("I8", `attempt ${attempt} of ${nodeId} came ${earlyMs} ms early`, workflowId);
  }
}

/**
 * Returns how many calls may look the same. A step that suspends again after each answer may get the same answer again, and a step that
 * is tried again after an incident or a restart begins with its first attempt. If a child fails, and a scope around it fails too before the steps
 * of the child are undone, that scope goes on to undo them, and the step that was about to be undone is undone again, under the same key.
 */
function timesWanted(entry: LedgerEntry | undefined, { pathId, resumed, idempotencyKey, isCompensation }: Effect): number {
  if (!entry) return 1;
  const events = entry.events.filter((event) => isOfPath(event, pathId));
  const incidents = events.filter((event) => event.type === "failed" && event.incident === true).length;
  const restarts = entry.events.filter(({ type }) => type === "restarted").length;
  if (isCompensation) return incidents + (restarts + 1) * idempotencyKey.split(">").length;
  return incidents + restarts + (resumed === "" ? 1 : events.filter(({ type }) => type === "suspended").length);
}

function isOfPath(event: Event, pathId: string): boolean {
  return "pathId" in event && scopedKey(event.scope ?? "", event.pathId) === pathId;
}

function count(counts: Map<string, number>, name: string): number {
  const times = (counts.get(name) ?? 0) + 1;
  counts.set(name, times);
  return times;
}
