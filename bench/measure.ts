/** The figures that one process measured of one case, by name. */
export type Sample = Readonly<Record<string, number>>;

/** Something to measure, in a process of its own. */
export interface Case {
  /** The figure is the same in every round, so it is measured once. */
  readonly once?: true;
  /** The time limit in milliseconds. A case that takes longer is killed, because something is wrong. Default: a minute. */
  readonly longestMs?: number;
  readonly sample: () => Promise<Sample>;
}

// the warm-up lasts until the compiler has optimized the code; a shorter one measures the slow start of a process
const warmMs = 1_500;
const sliceMs = 40;
const slices = 7;

/** The median of several figures, with the least and the largest one. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Returns the spread of figures. Its median is what counts, because one disturbed round does not move the median. */
export function spread(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}

/**
 * Returns how many units of work are done per second: the median of several slices of time.
 *
 * @param units the units of work that one call of `run` does
 * @param run is called again and again; one call should take at least some microseconds
 */
export async function perSecond(units: number, run: () => Promise<unknown> | unknown): Promise<number> {
  await slice(run, warmMs);
  const rates: number[] = [];
  for (let i = 0; i < slices; i++) rates.push(await slice(run, sliceMs));
  return spread(rates).median * units;
}

async function slice(run: () => Promise<unknown> | unknown, ms: number): Promise<number> {
  const from = performance.now();
  let runs = 0;
  for (;;) {
    const running = run();
    if (running instanceof Promise) await running;
    runs++;
    const took = performance.now() - from;
    if (took >= ms) return (runs / took) * 1000;
  }
}

/** Resolves after `ms` milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
