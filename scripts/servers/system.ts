import { execFile, spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Finds a program, also in the folders of servers, which are often not in a user's PATH. */
export function findProgram(name: string, ...folders: readonly string[]): string | undefined {
  const candidates = [...folders, ...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", "/sbin"];
  return candidates.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the account that Debian made for a server, or undefined if this process does not run as root and cannot change accounts. */
export function accountOf(name: string): { uid: number; gid: number } | undefined {
  if (!isRoot()) return undefined;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${name}:`));
  if (!line) throw new RangeError(`there is no account ${name}`);
  const [, , uid, gid] = line.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** Runs a program to its end. Rejects with the last lines of its output. */
export async function runToEnd(program: string, args: readonly string[], user?: { uid: number; gid: number }): Promise<void> {
  try {
    await execute(program, args, { ...user, timeout: 120_000, cwd: "/" });
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string };
    throw new RangeError(`${program} failed: ${lastLines(stdout + stderr) || message}`);
  }
}

/** Installs Debian packages without questions. Throws an error with the reason if this is not possible. */
export function installPackages(packages: readonly string[]): void {
  if (!isRoot()) throw new RangeError(`${packages.join(", ")} would have to be installed, which only root may do`);
  if (!findProgram("apt-get")) throw new RangeError(`${packages.join(", ")} would have to be installed, and there is no apt-get`);
  console.log(`installing ${packages.join(", ")} ...`);
  const apt = (...args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], {
      encoding: "utf8",
      timeout: 300_000,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  // The lists of packages may be missing or old: then they are fetched, and the installation is repeated.
  if (apt(...install).status === 0) return;
  apt("update");
  const { status, stdout, stderr } = apt(...install);
  if (status !== 0) throw new RangeError(`apt-get ${install.join(" ")} failed: ${lastLines(`${stdout}${stderr}`)}`);
}

/** Resolves to true if a program listens on a port of this machine. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: 1000 });
    const done = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.once("connect", () => done(true));
    socket.once("timeout", () => done(false));
    socket.once("error", () => done(false));
  });
}

export function lastLines(text: string, count = 15): string {
  return text.trimEnd().split("\n").slice(-count).join("\n");
}

/** Returns the reason of an error. Some clients put it in a cause, in a list of errors, or only in a code. */
export function reasonOf(error: unknown): string {
  const { message, code, errors, cause } = error as { message?: string; code?: string; errors?: readonly unknown[]; cause?: unknown };
  if (cause) return reasonOf(cause);
  if (message) return message;
  return errors?.[0] ? reasonOf(errors[0]) : (code ?? String(error));
}
