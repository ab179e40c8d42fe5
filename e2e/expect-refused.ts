import { expect } from "vitest";
import { cli } from "./cli.ts";

/** Arguments, the code of the error, and what the message must hold. */
export type Refused = readonly [args: readonly string[], code: string, ...says: (string | RegExp)[]];

/** Gives commands that must all end with exit code 2, their own code, and what to do; without a stack. */
export async function expectRefused(cases: readonly Refused[], cwd: string): Promise<void> {
  await inPairs(cases, async ([args, code, ...says]) => {
    const { code: exit, stdout, stderr } = await cli(args, { cwd });
    expect({ args, exit, stdout }).toEqual({ args, exit: 2, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^error ${code}: `));
    for (const said of says) expect(stderr).toMatch(said);
    expect(stderr).not.toMatch(/^ +at /m);
  });
}

/** Two at a time: machines that run tests have few cores. */
async function inPairs<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
