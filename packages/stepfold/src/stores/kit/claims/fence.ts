/**
 * Of a step from one fence to the next. Large, so that two claims that begin at the same fence never get the same one; and small
 * enough for some hundred million claims of one execution below the numbers that JavaScript tells apart.
 */
const maxFenceStep = 2 ** 24;

/**
 * What the fence of an execution rises by with a claim: random, because a database that falls back to an older state (a failover that
 * loses the last second, a restored copy) forgets claims. Counted one by one, the next claim would get the fence of a forgotten one,
 * and both holders could commit.
 */
export function fenceStep(): number {
  return 1 + Math.floor(Math.random() * maxFenceStep);
}
