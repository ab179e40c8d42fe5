/** Resolves after everything else that is ready in this process had its chance: timers, the network, other executions. */
export function nextMacrotask(): Promise<void> {
  // browsers have no `setImmediate`
  const { setImmediate: soon = setTimeout } = globalThis;
  return new Promise((resolve) => {
    soon(resolve);
  });
}
