import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Claim } from "../../ports/snapshot-store.ts";
import { persist } from "../context/persist.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { giveBack } from "./give-back.ts";
import type { ClaimedExecution, Room } from "./load-budget.ts";
import type { LocalWork } from "./local-work.ts";

/** A claimed execution in memory. */
export interface LoadedExecution extends ClaimedExecution {
  readonly snapshot: Snapshot;
  readonly room: Room;
}

/** An execution that has not killed its process for so long does not do so by being loaded, or by the beginning of a step. */
const suspectMs = 1_000;

/** A claim that was asked for, or confirmed, so long ago is confirmed before its execution goes on: no failover takes less time. */
const freshMs = 250;

/**
 * Loads a claimed execution once there is room for it. Where there is none in time, its claim is given back: another process may have some.
 *
 * @returns null if it was given back, or is not there any more
 */
export async function loadClaimed(context: RuntimeContext, local: LocalWork, timed: ClaimedExecution): Promise<LoadedExecution | null> {
  const { store, environment } = context;
  const { claim, snapshot, askedAtMs } = timed;
  if (snapshot) return { ...timed, snapshot, room: timed.room ?? local.budget.take(snapshot.sizeBytes) };
  const room = await roomFor(context, local, claim);
  if (!room) {
    // if the store does not answer, the claim ends with its lease
    await giveBack(store, claim, claim.version).catch(() => undefined);
    return null;
  }
  // a store that does not answer once would hold the execution up for a lease
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
      room.free();
      return null;
    }
    // the store may have failed over meanwhile, to a copy that does not know of the claim and gives it to another process too
    if (environment.monotonicMs() - heldAtMs > freshMs) await confirm();
    return { ...timed, snapshot: loaded, room };
  } catch (error) {
    room.free();
    throw error;
  }
}

/** Room for an execution, and its turn if it may kill this process. Null if there was none in time. */
async function roomFor({ pollMs, environment }: RuntimeContext, { budget, suspects }: LocalWork, claim: Claim): Promise<Room | null> {
  // much shorter than the lease, so the claim need not be renewed meanwhile
  const patienceMs = Math.min(pollMs, claim.leaseMs / 4);
  const turn = claim.alone ? await suspects.takeWithin(1, patienceMs) : null;
  if (claim.alone && !turn) return null;
  const room = await budget.takeWithin(claim.sizeBytes, patienceMs);
  if (!turn) return room;
  if (!room) {
    turn.free();
    return null;
  }
  const endTimer = environment.after(suspectMs, () => turn.free());
  const passOn = (): void => {
    endTimer();
    turn.free();
  };
  return {
    // it has committed
    resize(bytes) {
      passOn();
      room.resize(bytes);
    },
    free() {
      passOn();
      room.free();
    },
  };
}
