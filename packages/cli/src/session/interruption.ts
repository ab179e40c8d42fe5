import { exitCode } from "../exit-code.ts";
import { complain } from "../output.ts";
import { whenNpmHasGone } from "./npm-gone.ts";

/** A second signal within this time counts as the same one: npm passes Ctrl-C on although the terminal has sent it to all processes. */
const sameMs = 400;

/** Ctrl-C, SIGTERM or the end of npm: the first signal asks the command to stop, the second one ends the process at once. */
export interface Interruption {
  /** Resolves with the exit code when the first signal comes. */
  readonly asked: Promise<number>;
  /** Sets a function that is called before the user is told that the command is stopping. */
  beforeTelling(make: () => void): void;
  stopListening(): void;
}

/** Listens for signals from now on. Before this call a signal ends the process without a message, which is safe too. */
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
  const endLooks = whenNpmHasGone(listen(exitCode.terminated));
  return {
    asked,
    beforeTelling(make) {
      prepare = make;
    },
    stopListening() {
      for (const [signal, listener] of signals) process.off(signal, listener);
      endLooks();
    },
  };
}
