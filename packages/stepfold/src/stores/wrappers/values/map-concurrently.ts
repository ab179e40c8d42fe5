/**
 * Maps items with at most `maxInFlight` calls of `work` at the same time. The results are in the order of the items. Rejects with the first
 * failure, and starts no further call after it.
 */
export async function mapConcurrently<T, R>(maxInFlight: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  if (items.length <= maxInFlight) return Promise.all(items.map(work));
  const results: R[] = [];
  let next = 0;
  const takeItems = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!);
    }
  };
  try {
    await Promise.all(Array.from({ length: maxInFlight }, takeItems));
  } finally {
    next = items.length;
  }
  return results;
}
