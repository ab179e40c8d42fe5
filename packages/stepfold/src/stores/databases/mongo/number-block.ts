import { type Collections, returning } from "./collections.ts";

/** Numbers that are taken from the database at once. */
const blockSize = 100;

/**
 * Numbers that no other execution has, rising: they order what one process creates within a millisecond, and tell apart
 * what several do. Most calls do not ask the database.
 */
export function numberBlock({ counters }: Collections): () => Promise<number> {
  let next = 0;
  let end = 0;
  let fetching: Promise<void> | null = null;
  const fetch = async (): Promise<void> => {
    const update = [{ $set: { end: { $add: [{ $ifNull: ["$end", 0] }, blockSize] } } }];
    const found = await counters.findOneAndUpdate({ _id: "seq" }, update, { ...returning, upsert: true });
    end = found!.end as number;
    next = end - blockSize;
  };
  return async () => {
    while (next === end) {
      fetching ??= fetch().finally(() => {
        fetching = null;
      });
      await fetching;
    }
    return next++;
  };
}
