import type { Environment } from "../../ports/environment.ts";

/** Calls `tick` again and again, `intervalMs` apart, however long one takes. Returns how to end it. */
export function every(environment: Environment, intervalMs: number, tick: () => void): () => void {
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
