import type { Claimed } from "../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../kit/checked-store.ts";
import { shareRoom } from "./share-room.ts";

type Claim = (options: CheckedClaim) => Promise<readonly Claimed[]>;

/**
 * Claims so that what has a time comes to be claimed however much is due at once, which stands before it: timers, retries, and
 * what a process that died has left. Where the others took all the room, the next claim gives half of it to those.
 */
export function fairClaim(claimDue: Claim): Claim {
  const rota = { isOwed: false };
  return async (options) => {
    if (options.workflowId !== undefined || options.permit !== undefined) return claimDue(options);
    const any = (limit: number): ReturnType<Claim> => claimDue({ ...options, limit });
    // with room left there are none
    const timed = async (limit: number): ReturnType<Claim> => (rota.isOwed ? claimDue({ ...options, limit, timedOnly: true }) : []);
    return shareRoom(rota, options.limit, any, timed);
  };
}
