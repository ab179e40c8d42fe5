import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { BadInput } from "../bad-input.ts";
import { parseJson, readInput, readJsonFile } from "./read-json-file.ts";

/**
 * Reads an argument that is JSON, the path of a JSON file (an argument that begins with `@` is always a path), or `-` for
 * standard input.
 *
 * @param option the name of the option, for messages: `--input`
 * @throws BadInput
 */
export async function jsonArgument(argument: string, option: string, input: Readable = process.stdin): Promise<unknown> {
  const text = argument.trim();
  if (text === "-") return parseJson(await readInput(input), "standard input");
  if (text.startsWith("@")) return readJsonFile(text.slice(1), `the value of ${option}`).value;
  if (text !== "" && existsSync(argument)) return readJsonFile(argument, `the value of ${option}`).value;
  if (/^[[{"\d-]/.test(text) || ["true", "false", "null"].includes(text)) return parseJson(text, option);
  const hint = /^['\\]/.test(text)
    ? `Your shell passed the quotes on. Put the JSON into a file, and write ${option} @FILE`
    : `Write ${option} @FILE, or JSON in quotes: ${option} '{"key": "value"}'. A plain text needs both kinds of quotes: ${option} '"${text || "text"}"'`;
  throw new BadInput("FILE_NOT_FOUND", `${option} ${argument}: there is no such file, and it is not JSON`, { hint });
}
