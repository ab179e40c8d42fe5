import { exitCode } from "../exit-code.ts";
import { complain } from "../output.ts";

/** npm passes Ctrl-C on although the terminal has sent it already: a second signal within this time is the same one. */
const sameMs = 400;

/** Ctrl-C or SIGTERM: the first asks the command to come to an end, the second ends it. */
export interface Interruption {
  /** Resolves with the exit code when the first signal comes. */
  readonly asked: Promise<number>;
  /** Does something before the user is told that the command is stopping. */
  beforeTelling(make: () => void): void;
  stopListening(): void;
}

/** Listens from now on: before that, a signal ends the process, which is safe but says nothing. */
export function listenForInterruption(silent: boolean): Interruption {
  let prepare = (): void => undefined;
  let askedAt: number | null = null;
  let ask: (code: number) => void;
  const asked = new Promise<number>((resolve) => {
    ask = resolve;
  });
  const listen = (code: number) => (): void => {
    const now = performance.now();
    if (askedAt !== null) {
      if (now - askedAt > sameMs) process.exit(code);
      return;
    }
    askedAt = now;
    prepare();
    if (!silent) complain("\nStopping: waiting for the steps under way. Ctrl-C again ends at once.\n");
    ask(code);
  };
  const signals = [
    ["SIGINT", listen(exitCode.interrupted)],
    ["SIGTERM", listen(exitCode.terminated)],
  ] as const;
  for (const [signal, listener] of signals) process.on(signal, listener);
  return {
    asked,
    beforeTelling(make) {
      prepare = make;
    },
    stopListening() {
      for (const [signal, listener] of signals) process.off(signal, listener);
    },
  };
}
