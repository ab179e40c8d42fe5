/** Closes what was opened, last first, each once. */
export interface Cleanup {
  add(close: () => unknown): void;
  /** One that fails does not keep the others from being closed. */
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
          // the command is ending; what it had to say is said
        }
      }
    },
  };
}
