/**
 * What `work` emits, as an async iteration whose return value is what `work` gives. Leaving the iteration aborts the
 * signal that `work` was given.
 */
export async function* pump<Item, Result>(
  work: (emit: (item: Item) => void, left: AbortSignal) => Promise<Result>,
): AsyncGenerator<Item, Result, void> {
  const items: Item[] = [];
  const left = new AbortController();
  let wake = (): void => undefined;
  let over = false;
  const working = work((item) => {
    items.push(item);
    wake();
  }, left.signal);
  const end = (): void => {
    over = true;
    wake();
  };
  working.then(end, end);
  try {
    for (;;) {
      const news = new Promise<void>((resolve) => {
        wake = resolve;
      });
      yield* items.splice(0);
      if (items.length > 0) continue;
      if (over) return await working;
      await news;
    }
  } finally {
    left.abort();
  }
}
