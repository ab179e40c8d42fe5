import type { Environment } from "../ports/environment.ts";

/** What a platform's timer can hold; more would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

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
      timer = leftMs > maxTimerMs ? setTimeout(arm, maxTimerMs) : setTimeout(callback, Math.max(0, leftMs));
      // browsers give a number; there nothing is kept alive
      if (background && typeof timer === "object") timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
});

/** Random bytes are cheap by the page, and dear one by one. */
const pool = new Uint8Array(4096);
let used = pool.length;

/** UUID version 7 (RFC 9562): in order of time, so that neighbours in time are neighbours in an index. */
function uuid7(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const now = Date.now();
  let id = (now + 2 ** 48).toString(16).slice(1);
  for (let i = 6; i < 16; i++) {
    const byte = pool[used + i]!;
    id += hex[i === 6 ? 0x70 | (byte & 0x0f) : i === 8 ? 0x80 | (byte & 0x3f) : byte];
  }
  used += 16;
  return `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20)}`;
}

const hex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
