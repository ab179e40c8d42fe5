import { hash32 } from "../../core/values/hash/seeded.ts";

/** Random numbers from a seed: the same seed gives the same numbers on every machine. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  /** True in this share of all cases. */
  chance(share: number): boolean;
  /** One item of the list, which must not be empty. */
  pick<T>(list: readonly T[]): T;
  /** An independent source: numbers taken from it do not change the numbers of this source, or the other way round. */
  fork(name: string): Random;
}

/** Makes random numbers from a seed (mulberry32). They are spread well and are fast, but not secret. */
export function seededRandom(seed: string): Random {
  let state = hash32(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick: (list) => list[between(0, list.length - 1)]!,
    fork: (name) => seededRandom(`${seed}/${name}`),
  };
}
