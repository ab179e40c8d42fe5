/** Closes everything that a command has opened, in reverse order, each thing once. */
export interface Cleanup {
  /** Registers a function that closes one thing. */
  add(close: () => unknown): void;
  /** Closes everything, even if one function fails or never ends. */
  run(): Promise<void>;
}

/** The longest wait for one function. It is longer than a runtime, a store and its client together need to close. */
const maxCloseMs = 45_000;

/** Makes an empty cleanup. */
export function cleanup(): Cleanup {
  const closers: (() => unknown)[] = [];
  return {
    add: (close) => closers.push(close),
    async run() {
      for (let close = closers.pop(); close; close = closers.pop()) {
        try {
          await doneOrGivenUp(close());
        } catch {
          // the error is ignored: the command is ending and has reported its result
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
