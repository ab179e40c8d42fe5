import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Readable } from "node:stream";
import { exactJson } from "stepfold/core";
import { BadInput } from "../bad-input.ts";
import { positionAt } from "./json-position.ts";
import { scanJson } from "./scan-json.ts";

/** The largest size of a file or of standard input: more than any input may have. */
const largestBytes = 64 * 2 ** 20;
const chunkBytes = 256 * 2 ** 10;

/** A JSON file as text and as value. */
export interface JsonFile {
  readonly path: string;
  readonly text: string;
  readonly value: unknown;
}

/**
 * Reads a JSON file.
 *
 * @param what what the file should contain, for messages: `a workflow`
 * @param maxBytes the largest size of the file in bytes. Default, and at most: 64 MiB
 * @throws BadInput `FILE_NOT_FOUND`, `FILE_UNREADABLE`, also if it is larger, `JSON_INVALID` with line and column
 */
export function readJsonFile(path: string, what: string, maxBytes: number = largestBytes): JsonFile {
  const text = readText(path, what, Math.min(maxBytes, largestBytes));
  return { path, text, value: parseJson(text, path) };
}

/** Reads all of standard input. @throws BadInput `FILE_UNREADABLE` if it is too large */
export async function readInput(input: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of input as AsyncIterable<Buffer | string>) {
    const more = Buffer.from(part);
    bytes += more.length;
    if (bytes > largestBytes) throw tooLarge("standard input", largestBytes);
    parts.push(more);
  }
  return Buffer.concat(parts).toString("utf8");
}

function tooLarge(name: string, maxBytes: number): BadInput {
  return new BadInput("FILE_UNREADABLE", `${name} is larger than ${Math.round(maxBytes / 2 ** 20)} MiB`, {
    details: { file: name, maxBytes },
  });
}

/**
 * Parses a JSON text; `name` says in messages where it comes from. A whole number that a JavaScript number cannot hold becomes text.
 *
 * @throws BadInput `JSON_INVALID` with line and column
 */
export function parseJson(text: string, name: string): unknown {
  try {
    return exactJson(text);
  } catch (cause) {
    const mistake = scanJson(text);
    const { line, column } = positionAt(text, mistake?.offset ?? 0);
    throw new BadInput("JSON_INVALID", `${name}:${line}:${column} is not JSON: ${mistake?.message ?? (cause as Error).message}`, {
      hint: mistake?.hint ?? null,
      details: { file: name, line, column },
    });
  }
}

function readText(path: string, what: string, maxBytes: number): string {
  try {
    // opening a pipe, or reading from one that is still empty, must not block
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const found = fstatSync(file);
      if (found.isDirectory()) throw new BadInput("FILE_UNREADABLE", `${path} is a folder; ${what} is a JSON file`);
      // a device or a pipe may never end
      if (!found.isFile())
        throw new BadInput("FILE_UNREADABLE", `${path} is not a regular file; ${what} must be a JSON file`, {
          hint: "To read the output of another program, give - and pipe it into standard input",
        });
      // editors on Windows may begin a file with a byte order mark, which is not JSON
      return readBytes(file, path, maxBytes)
        .toString("utf8")
        .replace(/^\uFEFF/, "");
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof BadInput) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new BadInput("FILE_NOT_FOUND", `There is no file ${path}`, { hint: `Give the path of ${what}`, details: { file: path } });
    throw new BadInput("FILE_UNREADABLE", `${path} cannot be read: ${message}`, { details: { file: path }, cause: error });
  }
}

/** Reads all bytes up to the limit. They are counted while they are read, because a file may hold more than the size that it reports. */
function readBytes(file: number, path: string, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const part = Buffer.allocUnsafe(chunkBytes);
    const read = readSync(file, part);
    if (read === 0) return Buffer.concat(parts);
    bytes += read;
    if (bytes > maxBytes) throw tooLarge(path, maxBytes);
    parts.push(part.subarray(0, read));
  }
}
