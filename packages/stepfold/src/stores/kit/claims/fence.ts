/**
 * The largest step from one fence to the next one. It is large, so that two claims made from the same fence hardly ever get the same next
 * fence, and small enough for some hundred million claims of one execution below 2 ** 53, the largest safe integer.
 */
const maxFenceStep = 2 ** 24;

/**
 * Returns the random number that a claim adds to the fence of an execution. A claim that is made with the creation of an execution has the
 * fence 1 instead. The step is random because a database that falls back to an older
 * state (a failover that loses the last second, a restored backup) forgets claims. With steps of 1, the next claim would get the fence of
 * a forgotten claim, and both holders could commit.
 */
export function fenceStep(): number {
  return 1 + Math.floor(Math.random() * maxFenceStep);
}
