import type { Json } from "../../src/core/values/json.ts";
import { defineDurable } from "../../src/durable/define-durable.ts";
import type { DurableStep, RunningStep } from "../../src/durable/durable-step.ts";
import type { Program } from "./random-program.fixture.ts";

/** How long a sleep takes, in milliseconds. */
export const napMs = 1_000;

/** Performs an attempt of a step. */
type Perform = (step: RunningStep, name: string) => Promise<Json>;

type Asking = DurableStep<Json, Record<string, Json>, Record<string, Json>>;

/** Returns durable code that runs a program. `perform` is called for each attempt of each `run` step. */
export function codeOf(program: Program, perform: Perform) {
  return defineDurable({
    id: "program",
    waits: { ask: true, tell: true },
    run: ({ step }) => go(program, step as Asking, perform),
  });
}

async function go(program: Program, step: Asking, perform: Perform): Promise<unknown> {
  const run = (part: Program): Promise<unknown> => go(part, step, perform);
  switch (program.kind) {
    case "run":
      return step.run(program.name, { retry: { maxAttempts: program.maxAttempts, interval: napMs } }, (sub) => perform(sub, program.name));
    case "wait":
      return step.waitFor(program.name);
    case "sleep":
      await step.sleep(program.name, napMs);
      return null;
    case "throw":
      throw new Error(program.message);
    case "sequence": {
      let last: unknown = null;
      for (const part of program.parts) last = await run(part);
      return last;
    }
    case "repeat": {
      let last: unknown = null;
      for (let i = 0; i < program.times; i++) last = await run(program.body);
      return last;
    }
    case "try":
      try {
        return await run(program.body);
      } catch {
        return run(program.handler);
      }
    case "all":
      return Promise.all(program.parts.map(run));
    case "race":
      return Promise.race(program.parts.map(run));
    case "any":
      return Promise.any(program.parts.map(run));
    case "settled": {
      const ends = await Promise.allSettled(program.parts.map(run));
      return ends.map((end) => (end.status === "fulfilled" ? end.value : (end.reason as Error).message));
    }
    case "twins": {
      const first = run(program.first);
      const twin = async (body: Program, nth: number): Promise<unknown> => {
        await first;
        for (let i = 0; i < 60 * nth; i++) await null;
        return run(body);
      };
      return Promise.all(program.bodies.map(twin));
    }
  }
}
