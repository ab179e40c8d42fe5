import { expect } from "vitest";
import { cli } from "./cli.ts";

/** The arguments of a command, the code of the expected error, and texts that its message must hold. */
export type Refused = readonly [args: readonly string[], code: string, ...says: (string | RegExp)[]];

/** Runs commands that must all end with exit code 2, with their own error code and texts, and without a stack trace. */
export async function expectRefused(cases: readonly Refused[], cwd: string): Promise<void> {
  await inPairs(cases, async ([args, code, ...says]) => {
    const { code: exit, stdout, stderr } = await cli(args, { cwd });
    expect({ args, exit, stdout }).toEqual({ args, exit: 2, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^error ${code}: `));
    for (const said of says) expect(stderr).toMatch(said);
    expect(stderr).not.toMatch(/^ +at /m);
  });
}

/** Processes the items two at a time, because machines that run tests have few cores. */
async function inPairs<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
