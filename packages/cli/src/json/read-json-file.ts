import { readFileSync, statSync } from "node:fs";
import { BadInput } from "../bad-input.ts";
import { positionAt } from "./json-position.ts";
import { scanJson } from "./scan-json.ts";

/** A JSON file as text and as value. */
export interface JsonFile {
  readonly path: string;
  readonly text: string;
  readonly value: unknown;
}

/** @throws BadInput `FILE_NOT_FOUND`, `FILE_UNREADABLE`, `JSON_INVALID` with line and column */
export function readJsonFile(path: string, what: string): JsonFile {
  const text = readText(path, what);
  return { path, text, value: parseJson(text, path) };
}

/** @throws BadInput `JSON_INVALID` with line and column */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const mistake = scanJson(text);
    const { line, column } = positionAt(text, mistake?.offset ?? 0);
    throw new BadInput("JSON_INVALID", `${name}:${line}:${column} is not JSON: ${mistake?.message ?? (cause as Error).message}`, {
      hint: mistake?.hint ?? null,
      details: { file: name, line, column },
    });
  }
}

function readText(path: string, what: string): string {
  try {
    if (statSync(path).isDirectory()) throw new BadInput("FILE_UNREADABLE", `${path} is a folder; ${what} is a JSON file`);
    // editors on Windows like to begin a file with a byte order mark, which is no JSON
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (error instanceof BadInput) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new BadInput("FILE_NOT_FOUND", `There is no file ${path}`, { hint: `Give the path of ${what}`, details: { file: path } });
    throw new BadInput("FILE_UNREADABLE", `${path} cannot be read: ${message}`, { details: { file: path }, cause: error });
  }
}
