import { type Environment, systemEnvironment } from "stepfold";

const hourMs = 3_600_000;
const errorsMs = [-24 * hourMs, -hourMs, -400, 0, 300, hourMs, 24 * hourMs];

/** The environment of a process; with `jumps`, one whose clock is set anew every few moments. */
export function environmentOf(jumps: boolean | undefined): Environment {
  if (!jumps) return systemEnvironment;
  let errorMs = 0;
  setInterval(() => {
    errorMs = errorsMs[Math.floor(Math.random() * errorsMs.length)]!;
  }, 150).unref();
  return { ...systemEnvironment, now: () => Date.now() + errorMs };
}
