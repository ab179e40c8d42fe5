import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The root folder of the repository. */
export const root = fileURLToPath(new URL("..", import.meta.url));
/** The path of the built command line. */
export const bin = join(root, "packages/cli/bin/stepfold.js");
/** The files of the example order-flow. */
export const orderFlow = {
  file: join(root, "examples/order-flow/order.json"),
  input: join(root, "examples/order-flow/order-1001.json"),
  config: join(root, "examples/order-flow/stepfold.config.ts"),
} as const;

/** The end of a process: its exit code or signal, and everything that it printed. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running process. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when standard output or standard error holds the text. */
  saw(text: string): Promise<void>;
}

/** The folder and the additional environment variables of a command. */
export interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Makes a folder that is removed after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-e2e-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Starts `stepfold` with these arguments. */
export function startCli(args: readonly string[], place: Place): Running {
  return start(process.execPath, [bin, ...args], place);
}

/** Runs `stepfold` with these arguments to its end. */
export function cli(args: readonly string[], place: Place): Promise<Ended> {
  return startCli(args, place).ended;
}

/** Runs a command line that `stepfold` printed in a shell, as a user would. */
export function startPrinted(line: string, place: Place): Running {
  const command = line.trim().replace(/^(?:npx )?stepfold /, 'exec "$STEPFOLD_NODE" "$STEPFOLD_BIN" ');
  return start("/bin/sh", ["-c", command], { ...place, env: { ...place.env, STEPFOLD_NODE: process.execPath, STEPFOLD_BIN: bin } });
}

/** Returns the last line of the text that is a `stepfold` command. */
export function printedCommand(stdout: string): string {
  return stdout.split("\n").findLast((line) => /^ +(?:npx )?stepfold /.test(line)) ?? "no command printed";
}

/** Parses `--json` output, one object per line. */
export function jsonLines(stdout: string): Record<string, unknown>[] {
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Starts a process. If it still runs when the test ends, it is killed. */
export function start(command: string, args: readonly string[], { cwd, env }: Place): Running {
  if (!existsSync(join(root, "packages/cli/dist/main.js"))) throw new Error("packages/cli is not built: npm run build");
  const { FORCE_COLOR: _color, STEPFOLD_STORE: _db, STEPFOLD_QUEUE: _queue, STEPFOLD_LEASE_MS: _lease, ...inherited } = process.env;
  const child = spawn(command, args, { cwd, env: { ...inherited, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  const looking = new Set<() => void>();
  const take = (chunk: string, isError: boolean): void => {
    if (isError) stderr += chunk;
    else stdout += chunk;
    for (const look of looking) look();
  };
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => take(chunk, false));
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => take(chunk, true));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const saw = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stdout.includes(text) && !stderr.includes(text)) return;
        looking.delete(look);
        resolve();
      };
      looking.add(look);
      look();
      void ended.then(() => reject(new Error(`it ended without saying "${text}":\n${stdout}\n${stderr}`)));
    });
  return { child, ended, saw, stdout: () => stdout, stderr: () => stderr };
}
