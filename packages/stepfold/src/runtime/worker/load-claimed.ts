import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Claim } from "../../ports/snapshot-store.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { persist } from "../context/store/persist.ts";
import { giveBack } from "../local/give-back.ts";
import type { ClaimedExecution, Reservation } from "../local/load-budget.ts";
import type { LocalWork } from "../local/local-work.ts";

/** A claimed execution whose snapshot is in memory. */
export interface LoadedExecution extends ClaimedExecution {
  readonly snapshot: Snapshot;
  readonly reservation: Reservation;
}

/**
 * The time after which an execution that may kill the process (`Claim.alone`) counts as harmless: its load and its first steps have not
 * done so, and the next such execution may be loaded.
 */
const suspectMs = 1_000;

/** A claim that is older than this is confirmed before its execution runs. No failover of a database takes less time. */
const freshMs = 250;

/**
 * Loads a claimed execution once there is room for it. If there is no room in time, the claim is given back: another process may have some.
 *
 * @returns null if the claim was given back, or if the execution was deleted (another one may have its id)
 */
export async function loadClaimed(context: RuntimeContext, local: LocalWork, timed: ClaimedExecution): Promise<LoadedExecution | null> {
  const { store, environment } = context;
  const { claim, snapshot, askedAtMs } = timed;
  if (snapshot) return { ...timed, snapshot, reservation: timed.reservation ?? local.budget.reserve(snapshot.sizeBytes) };
  const reservation = await reservationFor(context, local, claim);
  if (!reservation) {
    // if the store does not answer, the claim ends with its lease
    await giveBack(store, claim, claim.version).catch(() => undefined);
    return null;
  }
  // calls are repeated: otherwise one missing answer would hold the execution up until its lease ends
  const persistently = <T>(call: () => Promise<T>): Promise<T> => persist(environment, () => askedAtMs + claim.leaseMs, call);
  let heldAtMs = askedAtMs;
  const confirm = async (): Promise<void> => {
    heldAtMs = environment.monotonicMs();
    await persistently(() => store.renew(claim));
  };
  try {
    if (claim.alone) await confirm();
    const loaded = await persistently(() => store.load(claim.workflowId));
    if (loaded?.incarnation !== claim.incarnation) {
      reservation.free();
      return null;
    }
    // the store may have failed over to a copy that does not know the claim, and that gives the execution to another process too
    if (environment.monotonicMs() - heldAtMs > freshMs) await confirm();
    return { ...timed, snapshot: loaded, reservation };
  } catch (error) {
    reservation.free();
    throw error;
  }
}

/**
 * Waits for room for an execution. If the execution may kill this process (`claim.alone`), also waits until no other such execution is
 * being loaded here. Null if there is no room in time.
 */
async function reservationFor(
  { pollMs, environment }: RuntimeContext,
  { budget, aloneBudget }: LocalWork,
  claim: Claim,
): Promise<Reservation | null> {
  // much shorter than the lease, so the claim need not be renewed meanwhile
  const patienceMs = Math.min(pollMs, claim.leaseMs / 4);
  const turn = claim.alone ? await aloneBudget.reserveWithin(1, patienceMs) : null;
  if (claim.alone && !turn) return null;
  const reservation = await budget.reserveWithin(claim.sizeBytes, patienceMs);
  if (!turn) return reservation;
  if (!reservation) {
    turn.free();
    return null;
  }
  const endTimer = environment.after(suspectMs, () => turn.free());
  const passOn = (): void => {
    endTimer();
    turn.free();
  };
  return {
    // the session calls this after a commit, so the execution has not killed the process
    resize(bytes) {
      passOn();
      reservation.resize(bytes);
    },
    free() {
      passOn();
      reservation.free();
    },
  };
}
