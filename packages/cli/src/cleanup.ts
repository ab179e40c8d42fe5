/** Closes what was opened, last first, each once. */
export interface Cleanup {
  add(close: () => unknown): void;
  /** Closes all of them, even if one fails. */
  run(): Promise<void>;
}

/** An empty cleanup. */
export function cleanup(): Cleanup {
  const closers: (() => unknown)[] = [];
  return {
    add: (close) => closers.push(close),
    async run() {
      for (let close = closers.pop(); close; close = closers.pop()) {
        try {
          await close();
        } catch {
          // the command is ending and has reported its result
        }
      }
    },
  };
}
