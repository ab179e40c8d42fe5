import type { Environment } from "../ports/environment.ts";

/** What a platform's timer can hold; more would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** The real clock, timers and random ids of this process. */
export const systemEnvironment: Environment = Object.freeze({
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  newId: uuid7,
  after(delayMs: number, callback: () => void, { background = false }: { readonly background?: boolean } = {}): () => void {
    const dueAt = Date.now() + delayMs;
    let timer: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const leftMs = dueAt - Date.now();
      timer = leftMs > longestTimerMs ? setTimeout(arm, longestTimerMs) : setTimeout(callback, Math.max(0, leftMs));
      // browsers give a number; there nothing is kept alive
      if (background && typeof timer === "object") timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
});

/** UUID version 7 (RFC 9562): in order of time, so that neighbours in time are neighbours in an index. */
function uuid7(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const now = Date.now();
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(now / 2 ** (8 * (5 - i))) & 0xff;
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
