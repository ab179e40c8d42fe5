import type { Environment } from "../../ports/environment.ts";

/** Resolves when `work` is done, or after `patienceMs`: what hangs for ever is not waited for. */
export async function within(environment: Environment, patienceMs: number, work: Promise<unknown>): Promise<void> {
  let cancel = (): void => undefined;
  const patience = new Promise<void>((resolve) => {
    cancel = environment.after(patienceMs, resolve);
  });
  await Promise.race([work, patience]);
  cancel();
}
