import { leavable } from "./leavable.ts";

/**
 * Runs `work`, and returns what it emits as an async iteration. The return value of the iteration is the result of `work`; `for await` does
 * not show it, `next()` does. An error of `work` is thrown to the reader.
 *
 * `work` begins with the first `next()`. It does not wait for its reader: what it emits is kept until it is read.
 *
 * If the reader leaves the iteration, `leaving` is aborted at once, also while a `next()` waits for an item; this `next()` is answered when
 * `work` ends. If no `next()` waits, nobody learns the result or the error of `work`.
 */
export function pump<Item, Result>(
  work: (emit: (item: Item) => void, leaving: AbortSignal) => Promise<Result>,
): AsyncGenerator<Item, Result, void> {
  return leavable((leaving) => emittedBy(work, leaving));
}

async function* emittedBy<Item, Result>(
  work: (emit: (item: Item) => void, leaving: AbortSignal) => Promise<Result>,
  leaving: AbortSignal,
): AsyncGenerator<Item, Result, void> {
  const items: Item[] = [];
  let wake = (): void => undefined;
  let isOver = false;
  const working = work((item) => {
    items.push(item);
    wake();
  }, leaving);
  const end = (): void => {
    isOver = true;
    wake();
  };
  working.then(end, end);
  for (;;) {
    // the promise is made before items are yielded, so that an item that is emitted meanwhile ends the wait below
    const more = new Promise<void>((resolve) => {
      wake = resolve;
    });
    yield* items.splice(0);
    if (items.length > 0) continue;
    if (isOver) return await working;
    await more;
  }
}
