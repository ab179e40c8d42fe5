/** How often it is looked whether npm still runs. */
const lookMs = 500;

/**
 * Calls `gone` once npm has ended, if it has started this process (`npx`, `npm exec`). npm does not pass a signal on to what it runs: it ends
 * alone, and its child would go on with nobody who knows of it. Elsewhere a process may outlive its parent, as a daemon does.
 *
 * @returns a function that ends the looks
 */
export function whenNpmHasGone(gone: () => void): () => void {
  if (process.env.npm_command !== "exec") return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}
