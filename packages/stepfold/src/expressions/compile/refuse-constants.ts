import type { Evaluate } from "../evaluation/frame.ts";
import { timeMethods } from "../functions/extra-functions.ts";
import { patternMistake } from "../functions/format-time.ts";
import { offsetMistake } from "../functions/times.ts";
import { type Compiler, constantOf, reject } from "./compiler.ts";

/** The arguments that are times. */
const times: ReadonlyMap<string, readonly number[]> = new Map([
  ...["parse", "iso", "format", "add", "subtract", "startOf"].map((name): [string, number[]] => [`date.${name}`, [0]]),
  ["date.diff", [0, 1]],
  ["Date.parse", [0]],
  ["DateTime.fromISO", [0]],
  ["DateTime.fromJSDate", [0]],
  ["diffTo", [0]],
]);

/** The argument that is a format of times. */
const patterns: ReadonlyMap<string, number> = new Map([
  ["date.format", 1],
  ["toFormat", 0],
  ["format", 0],
]);

/** A value in a call, and where it stands in the source. */
interface Part {
  readonly run: Evaluate;
  readonly position: number;
  readonly spread: boolean;
}

/**
 * Refuses constant times without an offset, and constant formats of times that have no meaning. Else the mistake would show only when the
 * expression is evaluated.
 *
 * @param name the function, such as `date.iso`, or the method
 * @param self what a method is called on
 */
export function refuseConstants(compiler: Compiler, name: string, given: readonly Part[], self: Part | null): void {
  if (compiler.isStored) return;
  // the places of arguments are not known if there is a list among them
  const args = given.some(({ spread }) => spread) ? [] : given;
  const refuse = (part: Part | undefined, mistakeOf: (value: unknown) => string | undefined): void => {
    const mistake = part && mistakeOf(constantOf(part.run)?.value);
    if (mistake !== undefined) reject(compiler, part!.position, mistake);
  };
  // a second argument of fromISO may hold the zone
  const ofTime = name === "DateTime.fromISO" && args.length > 1 ? [] : (times.get(name) ?? []);
  const ofSelf = self && timeMethods.has(name) ? [self] : [];
  for (const part of [...ofSelf, ...ofTime.map((index) => args[index])]) refuse(part, (value) => offsetMistake(name, value));
  const format = patterns.get(name);
  if (format !== undefined) refuse(args[format], (value) => (typeof value === "string" ? patternMistake(value) : undefined));
}
