import type { Environment } from "../../ports/environment.ts";

/** Calls `tick` every `intervalMs`, however long one call takes. Returns the function that stops it. */
export function repeatEvery(environment: Environment, intervalMs: number, tick: () => void): () => void {
  let cancel = (): void => undefined;
  const arm = (): void => {
    cancel = environment.after(intervalMs, () => {
      arm();
      tick();
    });
  };
  arm();
  return () => cancel();
}
