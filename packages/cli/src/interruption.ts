import { exitCode } from "./exit-code.ts";

/** npm passes Ctrl-C on although the terminal has sent it already: what comes so soon is the same one. */
const sameMs = 400;

/** Ctrl-C or SIGTERM: the first asks the command to come to an end, the second ends it. */
export interface Interruption {
  /** Resolves with the exit code when the first signal comes. */
  readonly asked: Promise<number>;
  stopListening(): void;
}

/** @param onAsked told at once, for a message */
export function listenForInterruption(onAsked: () => void): Interruption {
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
    onAsked();
    ask(code);
  };
  const signals = [
    ["SIGINT", listen(exitCode.interrupted)],
    ["SIGTERM", listen(exitCode.terminated)],
  ] as const;
  for (const [signal, listener] of signals) process.on(signal, listener);
  return {
    asked,
    stopListening() {
      for (const [signal, listener] of signals) process.off(signal, listener);
    },
  };
}
