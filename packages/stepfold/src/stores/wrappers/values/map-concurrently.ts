/** What `work` makes of each item, in their order, at most so many under way at once. Rejects with the first failure. */
export async function atMost<T, R>(places: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  if (items.length <= places) return Promise.all(items.map(work));
  const results: R[] = [];
  let next = 0;
  const goOn = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!);
    }
  };
  try {
    await Promise.all(Array.from({ length: places }, goOn));
  } finally {
    next = items.length;
  }
  return results;
}
