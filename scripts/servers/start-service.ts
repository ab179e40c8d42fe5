import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning, type OwnProcess, stopOwnProcess, writeOwnProcess } from "./own-process.ts";
import type { Service } from "./service.ts";
import { servicesFolder } from "./services-folder.ts";
import { installPackages, isListening, lastLines, reasonOf } from "./system.ts";

const startTimeoutMs = 60_000;

/** Installs what the service needs. Throws an error with the reason if this is not possible. */
export function installService(service: Service): void {
  const missing = service.missing();
  if (missing?.debianPackages) installPackages(missing.debianPackages);
  missing?.install?.();
}

/** Starts a server on the port, and waits until it answers. If it does not, it throws an error with the end of the server's log. */
export async function startService(service: Service, port: number): Promise<void> {
  const folder = join(servicesFolder(), service.name);
  mkdirSync(folder, { recursive: true });
  // Servers that run under their own accounts must be able to reach their data.
  for (const path of [servicesFolder(), folder]) chmodSync(path, 0o755);
  const { program, args, cwd = folder, environment, user, stopSignal } = await service.prepare(folder, port);
  const log = join(folder, "log");
  const output = openSync(log, "w");
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...environment },
    ...user,
    detached: true,
    stdio: ["ignore", output, output],
  });
  const failure = new Promise<never>((_resolve, reject) => child.once("error", reject));
  child.unref();
  if (child.pid === undefined) return failure;
  const own = writeOwnProcess(service.name, { pid: child.pid, port, stopSignal });
  try {
    await answering(service, own);
  } catch (error) {
    if (isRunning(own)) await stopOwnProcess(service.name, own);
    throw new RangeError(`${reasonOf(error)}\n${lastLines(readFileSync(log, "utf8"))}`);
  }
}

/** Waits until a started process answers. It may still be starting. */
export async function answering(service: Service, own: OwnProcess): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  let populated = false;
  for (;;) {
    if (!isRunning(own)) throw new RangeError("it has ended");
    try {
      if (await isListening(own.port)) {
        if (!populated) await service.populate?.(own.port);
        populated = true;
        return await service.ping(service.url(own.port));
      }
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    if (performance.now() > deadline) throw new RangeError(`it does not answer after ${startTimeoutMs / 1000} s`);
    await sleep(50);
  }
}
