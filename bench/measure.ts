/** What one process measured of one case: figures by name. */
export type Sample = Readonly<Record<string, number>>;

/** Something to measure, in a process of its own. */
export interface Case {
  /** The same in every round: measured once. */
  readonly once?: true;
  readonly sample: () => Promise<Sample>;
}

// until the compiler has done its work: with less, the figure is that of the first half second of a process
const warmMs = 1_500;
const sliceMs = 40;
const slices = 7;

/** The middle of several figures, with the least and the most. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** The median is what counts: one round that something else on the machine disturbed does not move it. */
export function spread(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}

/**
 * How often `run` does its `units` of work in a second: the median of several slices of time.
 *
 * @param run is called again and again; let it work for some microseconds at least
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

/** Waits. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
