import { type Marking, type Net, Oracle } from "./petri-net.ts";

/** The abilities of a net. */
export interface Exploration {
  /** The number of reachable markings. */
  readonly markings: number;
  /** The indexes of transitions that can never fire. */
  readonly dead: readonly number[];
  /** Reachable markings, as lists of tokens, from which no last label can be reached. */
  readonly stuck: readonly (readonly string[])[];
}

/**
 * Explores every reachable marking of a net.
 * @throws RangeError if there are more than `limit` markings
 */
export function explore(net: Net, limit = 100_000): Exploration {
  const oracle = new Oracle(net);
  const [first] = oracle.start().markings;
  const found = new Map<string, Marking>();
  const before = new Map<string, string[]>();
  const fired = new Set<number>();
  const ended: string[] = [];
  const open = first ? [first] : [];
  for (let marking = open.pop(); marking !== undefined; marking = open.pop()) {
    const key = marking.join();
    if (found.has(key)) continue;
    if (found.size === limit) throw new RangeError(`More than ${limit} markings can be reached`);
    found.set(key, marking);
    if (oracle.endings(marking).length > 0) ended.push(key);
    for (const { transition, after } of oracle.successors(marking)) {
      fired.add(transition);
      open.push(after);
      const follower = after.join();
      before.set(follower, [...(before.get(follower) ?? []), key]);
    }
  }
  const good = backwards(ended, before);
  const stuck = [...found].flatMap(([key, marking]) => (good.has(key) ? [] : [tokensOf(marking, oracle.places)]));
  return { markings: found.size, dead: [...net.transitions.keys()].filter((i) => !fired.has(i)), stuck };
}

function backwards(from: readonly string[], before: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set<string>();
  const open = [...from];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (seen.has(key)) continue;
    seen.add(key);
    open.push(...(before.get(key) ?? []));
  }
  return seen;
}

function tokensOf(marking: Marking, places: readonly string[]): string[] {
  return places.flatMap((place, i) => new Array<string>(marking[i]!).fill(place));
}
