/** Closes what was opened, last first, each once. */
export interface Cleanup {
  add(close: () => unknown): void;
  /** Closes all of them, even if one fails or never answers. */
  run(): Promise<void>;
}

/** How long one thing has for its end: longer than a runtime, a store and its client together take at most. */
const maxCloseMs = 45_000;

/** An empty cleanup. */
export function cleanup(): Cleanup {
  const closers: (() => unknown)[] = [];
  return {
    add: (close) => closers.push(close),
    async run() {
      for (let close = closers.pop(); close; close = closers.pop()) {
        try {
          await doneOrGivenUp(close());
        } catch {
          // the command is ending and has reported its result
        }
      }
    },
  };
}

async function doneOrGivenUp(closing: unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, maxCloseMs);
  });
  try {
    await Promise.race([closing, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
