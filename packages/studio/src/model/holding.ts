import type { ExecutionView } from "stepfold/client";
import type { EpochMs } from "stepfold/core";
import { shortIdentifier } from "../ui/text/short-identifier.ts";
import { clockText } from "../ui/text/time-text.ts";

/**
 * Who holds an execution. `silent`: the lease of its last holder has ended, and the server has said so. `unsure`: the lease has ended since the
 * server has told of it, so it may have been renewed.
 */
export type Holding =
  | { readonly kind: "held" | "silent" | "unsure"; readonly owner: string; readonly until: EpochMs }
  | { readonly kind: "none" };

/** Nobody holds it. */
export const unheld: Holding = { kind: "none" };

/**
 * Says who holds an execution, for all pages.
 *
 * @param toldAt when the server has told of the lease
 * @param now the time of the server's clock
 */
export function holdingOf(lease: ExecutionView["lease"] | undefined, toldAt: EpochMs, now: EpochMs): Holding {
  if (!lease) return unheld;
  const { owner, until } = lease;
  return { kind: until > now ? "held" : until <= toldAt ? "silent" : "unsure", owner, until };
}

/** Returns the holder; null if nobody is known to hold it. */
export function holderOf(holding: Holding): string | null {
  return holding.kind === "held" ? holding.owner : null;
}

/** Says who holds an execution that is due, in three parts: the second one is the holder. A sentence without its first capital and its full stop. */
export function holdingParts(holding: Holding): readonly [before: string, owner: string, after: string] {
  if (holding.kind === "none") return ["nobody has taken it yet", "", ""];
  const owner = shortIdentifier(holding.owner);
  if (holding.kind === "held") return ["held by ", owner, ""];
  const after = holding.kind === "silent" ? ", and nobody has taken it yet" : "";
  return ["was held by ", owner, ` until ${clockText(holding.until)}${after}`];
}
