import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { servicesFolder } from "./services-folder.ts";

/** A server that this tool started, as recorded in its pid file. */
export interface OwnProcess {
  readonly pid: number;
  readonly port: number;
  /** The time at which the kernel started it, because another program may get the same pid later. */
  readonly startTime: string;
  readonly stopSignal: "SIGTERM" | "SIGINT";
}

/** Returns the started process if it still runs. The pid file of an ended process is removed. */
export function readOwnProcess(name: string): OwnProcess | undefined {
  const file = pidFile(name);
  if (!existsSync(file)) return undefined;
  const own = JSON.parse(readFileSync(file, "utf8")) as OwnProcess;
  if (isRunning(own)) return own;
  rmSync(file, { force: true });
  return undefined;
}

export function writeOwnProcess(name: string, own: Omit<OwnProcess, "startTime">): OwnProcess {
  const written = { ...own, startTime: startTimeOf(own.pid) ?? "" };
  writeFileSync(pidFile(name), `${JSON.stringify(written)}\n`);
  return written;
}

export function isRunning({ pid, startTime }: OwnProcess): boolean {
  return startTimeOf(pid) === startTime;
}

/** Asks the process to stop, and kills it after 20 seconds. */
export async function stopOwnProcess(name: string, own: OwnProcess): Promise<void> {
  process.kill(own.pid, own.stopSignal);
  const deadline = performance.now() + 20_000;
  while (isRunning(own)) {
    if (performance.now() > deadline) process.kill(own.pid, "SIGKILL");
    await sleep(50);
  }
  rmSync(pidFile(name), { force: true });
}

function pidFile(name: string): string {
  return join(servicesFolder(), name, "pid.json");
}

/**
 * Returns the start time of a process: the 22nd field of the kernel's line. Fields are counted after the name in parentheses, which may
 * contain spaces and parentheses. A zombie counts as ended.
 */
function startTimeOf(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
