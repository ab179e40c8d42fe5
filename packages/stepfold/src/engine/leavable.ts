/**
 * An async iteration that can be left while it waits for its next item. The `return()` of an async generator waits until a pending `next()` is
 * answered; this one first aborts the signal that `begin` was given, so that `begin` can answer it at once.
 */
export function leavable<Item, Result>(
  begin: (leaving: AbortSignal) => AsyncGenerator<Item, Result, void>,
): AsyncGenerator<Item, Result, void> {
  const controller = new AbortController();
  const items = begin(controller.signal);
  const iteration = {
    next: () => items.next(),
    return: (value: Result | PromiseLike<Result>) => {
      controller.abort();
      return items.return(value);
    },
    throw: (error: unknown) => {
      controller.abort();
      return items.throw(error);
    },
    [Symbol.asyncIterator]: () => iteration,
    [Symbol.asyncDispose]: async () => void (await iteration.return(undefined as Result)),
  };
  return iteration as AsyncGenerator<Item, Result, void>;
}
