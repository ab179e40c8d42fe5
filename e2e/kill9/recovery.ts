import type { WrittenLine } from "./log.ts";
import { leaseMs, pollMs } from "./run.ts";
import type { Held } from "./stored.ts";

/** A process that was killed, and what it held. */
export interface Kill {
  readonly at: number;
  readonly name: string;
  readonly held: readonly Held[];
}

/** How long executions of killed processes stood still. */
export interface Recovery {
  readonly count: number;
  readonly medianMs: number;
  readonly longestMs: number;
  /** Which that was. */
  readonly longest: string;
}

/** How long it should take at most: the lease runs out, somebody looks into the store, and commits. */
export const boundMs: number = leaseMs + pollMs + 1_000;

type Line<What extends WrittenLine["what"]> = Extract<WrittenLine, { readonly what: What }>;

/** What became of one execution, by time. */
interface Life {
  readonly losses: number[];
  readonly claims: Line<"claimed">[];
  readonly commits: Line<"committing">[];
}

/**
 * From a kill to the next commit of whoever took over what the killed one held, or to its claim if there was nothing to commit.
 * One whose new holder was killed too counts from that kill.
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
  // a commit of its holder sets them to 0
  const before = lost && !commits.some(({ fence }) => fence === lost.fence) ? lost.expired : 0;
  const claim = claims.find((line) => line.at > at);
  // somebody else has claimed it, and was killed before it could say so
  if (claim?.expired !== before + 1) return [];
  const commit = commits.find((line) => line.fence === claim.fence);
  const end = commit ?? claim;
  if (losses.some((other) => other > at && other < end.at)) return [];
  const of = `${workflowId}, claimed after ${claim.at - at} ms by ${claim.by}${commit ? `, committed after ${commit.at - at} ms` : ""}`;
  return [{ tookMs: end.at - at, of }];
}
