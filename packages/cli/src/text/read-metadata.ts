import { BadInput } from "../bad-input.ts";

type Scalar = string | number | boolean | null;

/**
 * A member of metadata, `key=value`: a value that is JSON counts as that, unless it is an object or a list; anything else is text.
 *
 * @param where in the command line it stands
 */
export function readMetadata(text: string, where: string): readonly [key: string, value: Scalar] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new BadInput("USAGE", `${where} must be key=value, not "${text}"`);
  try {
    const read = JSON.parse(value) as Scalar | object;
    return [key, typeof read === "object" && read !== null ? value : read];
  } catch {
    return [key, value];
  }
}
