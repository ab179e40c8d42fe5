import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { servicesFolder } from "./services-folder.ts";

/** A server that we started, as its pid file has it. */
export interface OwnProcess {
  readonly pid: number;
  readonly port: number;
  /** When the kernel started it: a pid alone may belong to another program by now. */
  readonly startTime: string;
  readonly stopSignal: "SIGTERM" | "SIGINT";
}

/** The one that runs still. A pid file of one that does not is removed. */
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

/** Asks it to stop, and after 20 seconds makes it. */
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

/** The 22nd field of the kernel's line, counted behind the name in parentheses, which may hold anything. A zombie has ended. */
function startTimeOf(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
