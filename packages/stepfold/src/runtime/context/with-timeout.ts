import type { Environment } from "../../ports/environment.ts";

/** Resolves when `work` is done, or after `timeoutMs` if it is not. Rejects if `work` does so before that. */
export async function withTimeout(environment: Environment, timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let cancel = (): void => undefined;
  const timeout = new Promise<void>((resolve) => {
    cancel = environment.after(timeoutMs, resolve);
  });
  await Promise.race([work, timeout]);
  cancel();
}
