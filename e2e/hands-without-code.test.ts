import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let folder = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepfold-hands-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a process. `heard` resolves with its first message. */
function begin(role: string): { readonly child: ChildProcess; readonly heard: Promise<unknown> } {
  const env = { ...process.env, HANDS_LOG: join(folder, "log"), HANDS_ROLE: role };
  const child = fork(new URL(`./hands-${role}.ts`, import.meta.url), [join(folder, "store.db")], {
    env,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  children.push(child);
  let told = "";
  child.stderr?.on("data", (text) => {
    told += String(text);
  });
  const heard = new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new TypeError(`${role} ended with code ${code}: ${told}`)));
  });
  return { child, heard };
}

describe("a process that never loads the code of a node", () => {
  it("starts, answers, signals, cancels, retries, forks, restarts, lists, watches and explains what a worker drives", {
    timeout: 60_000,
  }, async () => {
    const worker = begin("worker");
    expect(await worker.heard).toBe("works");
    const { done, modules } = (await begin("process").heard) as { done: string[]; modules: number };
    expect(done).toEqual([
      'asked ["approved"]',
      "refused at once: RESUME_INVALID",
      "refused by the code: ada must be even",
      'result {"parcel":1}',
      expect.stringMatching(/^watched started suspended resumed .*resumed answerRefused resumed .*completed$/),
      "retried done",
      'restart {"applied":true,"reason":"restarted"}',
      "goes on at review and pay",
      "pay waits for an answer.",
      "paused cancelled,forked",
    ]);
    expect(modules).toBeGreaterThan(3);
    expect(readFileSync(join(folder, "log"), "utf8")).toBe("loaded by worker\n");
  });
});
