import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EndedExecution } from "stepfold/runtime";
import { BadInput } from "../bad-input.ts";
import { namePath } from "../name-path.ts";
import { historyFileName } from "./history-file-name.ts";

/**
 * Returns a function that writes histories into a folder, one file for each. The folder is created if it is missing. A file is either
 * complete or absent, and it is on the disk once the function has resolved. Writing the same history again changes nothing. Another
 * history with the same id (later runs, or the execution was deleted, and its id used again) gets a file of its own: `order-1~2.ndjson`.
 *
 * @throws BadInput `FOLDER_UNUSABLE`
 */
export async function historyFiles(folder: string): Promise<(execution: EndedExecution) => Promise<void>> {
  await usable(folder, () => mkdir(folder, { recursive: true }));
  return (execution) => usable(folder, () => keep(folder, historyFileName(execution.workflowId), Buffer.from(historyText(execution))));
}

/**
 * Returns a line about the execution, then a line for each event. The same history always gives the same text: of an execution that goes on,
 * the line says nothing that may change.
 */
export function historyText({ events, ...execution }: EndedExecution): string {
  const { workflowId, definition, status, version, createdAt, updatedAt, metadata, beforeRun } = execution;
  const head =
    beforeRun === undefined
      ? { type: "execution", workflowId, definition, status, version, createdAt, updatedAt, metadata }
      : { type: "execution", workflowId, beforeRun, createdAt };
  return `${[head, ...events.map(({ event }) => event)].map((line) => JSON.stringify(line)).join("\n")}\n`;
}

async function keep(folder: string, name: string, bytes: Buffer): Promise<void> {
  for (let count = 1; ; count++) {
    const path = join(folder, `${name}${count === 1 ? "" : `~${count}`}.ndjson`);
    const there = await unlessMissing(readFile(path));
    if (there !== null && !there.equals(bytes)) continue;
    if (there === null) await write(folder, path, bytes);
    // the folder is synced in any case, because a crash may have come between an earlier renaming and its sync
    await flushFolder(folder);
    return;
  }
}

/** Writes a file under another name and renames it, so that the file is either complete or absent. */
async function write(folder: string, path: string, bytes: Buffer): Promise<void> {
  const aside = join(folder, `.writing-${randomUUID()}`);
  try {
    const file = await open(aside, "wx");
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (cause) {
    await rm(aside, { force: true });
    throw cause;
  }
}

async function flushFolder(folder: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(folder, "r");
  } catch {
    // Windows cannot sync a folder
    return;
  }
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns null if the file does not exist. */
async function unlessMissing<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw cause;
  }
}

/** Does work in the folder, and explains its errors. @throws BadInput `FOLDER_UNUSABLE` */
async function usable<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { message } = cause as NodeJS.ErrnoException;
    throw new BadInput("FOLDER_UNUSABLE", `Histories cannot be kept in ${namePath(folder)}: ${message}`, {
      hint: "No execution was deleted without its history. Give the same command again, or another folder with --keep-events",
      cause,
    });
  }
}
