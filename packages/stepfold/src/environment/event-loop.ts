// browsers have no `setImmediate`
const { setImmediate: soon = setTimeout } = globalThis;

let seen = 0;
let isWatched = false;

/** Resolves after everything else that is ready in this process had its chance: timers, the network, other executions. */
export function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    soon(resolve);
  });
}

/**
 * A number that is another one at a later call if the rest of the process had its chance in between: then work that takes long
 * need not wait for `nextMacrotask` of its own.
 */
export function macrotasksSeen(): number {
  if (!isWatched) {
    isWatched = true;
    soon(() => {
      isWatched = false;
      seen++;
    });
  }
  return seen;
}
