import { exactJson } from "stepfold/core";
import { BadInput } from "../bad-input.ts";

type Scalar = string | number | boolean | null;

/**
 * Reads a member of metadata, `key=value`. A value is read as JSON if it is a JSON number, text, boolean or null; any other value is text.
 *
 * @param where the place on the command line, for messages: `--meta`
 */
export function readMetadata(text: string, where: string): readonly [key: string, value: Scalar] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new BadInput("USAGE", `${where} must be key=value, not "${text}"`);
  try {
    const read = exactJson(value) as Scalar | object;
    return [key, typeof read === "object" && read !== null ? value : read];
  } catch {
    return [key, value];
  }
}
