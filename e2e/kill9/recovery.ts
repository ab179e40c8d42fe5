import type { WrittenLine } from "./log.ts";
import { leaseMs, pollMs } from "./run.ts";
import type { Held } from "./stored.ts";

/** A process that was killed, and the executions that it held. */
export interface Kill {
  readonly at: number;
  readonly name: string;
  readonly held: readonly Held[];
}

/** How long the executions of killed processes stood still. */
export interface Recovery {
  /** The number of takeovers that were measured. */
  readonly count: number;
  readonly medianMs: number;
  readonly longestMs: number;
  /** A description of the execution that stood still longest. */
  readonly longest: string;
}

/** The longest expected time: the lease runs out, a worker polls the store, and commits. */
export const boundMs: number = leaseMs + pollMs + 1_000;

type Line<What extends WrittenLine["what"]> = Extract<WrittenLine, { readonly what: What }>;

/** The kills, claims and commits of one execution, in the order of time. */
interface Life {
  readonly losses: number[];
  readonly claims: Line<"claimed">[];
  readonly commits: Line<"committing">[];
}

/**
 * Measures the time from a kill to the next commit of the holder that took over an execution, or to its claim if it had nothing to
 * commit.
 * If the new holder was killed too, the time counts from that kill.
 */
export function recoveries(lines: readonly WrittenLine[], kills: readonly Kill[]): Recovery {
  const lives = new Map<string, Life>();
  for (const { at, held } of kills) {
    for (const { workflowId } of held) {
      const life = lives.get(workflowId) ?? { losses: [], claims: [], commits: [] };
      life.losses.push(at);
      lives.set(workflowId, life);
    }
  }
  for (const line of [...lines].sort((a, b) => a.at - b.at)) {
    if (line.what === "claimed") lives.get(line.workflowId)?.claims.push(line);
    if (line.what === "committing") lives.get(line.workflowId)?.commits.push(line);
  }
  const times = [...lives].flatMap(([workflowId, life]) => life.losses.flatMap((at) => recovered(workflowId, life, at)));
  times.sort((a, b) => a.tookMs - b.tookMs);
  const [median, longest] = [times[times.length >> 1], times.at(-1)];
  return { count: times.length, medianMs: median?.tookMs ?? 0, longestMs: longest?.tookMs ?? 0, longest: longest?.of ?? "none" };
}

function recovered(workflowId: string, { losses, claims, commits }: Life, at: number): { readonly tookMs: number; readonly of: string }[] {
  const lost = claims.findLast((line) => line.at <= at);
  // a commit of the lost holder had set the number of expired leases to 0
  const before = lost && !commits.some(({ fence }) => fence === lost.fence) ? lost.expired : 0;
  const claim = claims.find((line) => line.at > at);
  // another worker had claimed the execution, and was killed before it logged the claim
  if (claim?.expired !== before + 1) return [];
  const commit = commits.find((line) => line.fence === claim.fence);
  const end = commit ?? claim;
  if (losses.some((other) => other > at && other < end.at)) return [];
  const of = `${workflowId}, claimed after ${claim.at - at} ms by ${claim.by}${commit ? `, committed after ${commit.at - at} ms` : ""}`;
  return [{ tookMs: end.at - at, of }];
}
