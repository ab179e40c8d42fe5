import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Miniflare } from "miniflare";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./cli.ts";

const devices = ["phone", "tablet", "watch"];
const start = { workflow: "release", input: { devices } };
const approve = { type: "resume", target: "sign", payload: { approved: true } };

const folder = mkdtempSync(join(tmpdir(), "stepfold-workerd-"));
const effects = new Map<string, number>();
const world = createServer((request, response) => {
  const key = String(request.headers["idempotency-key"]);
  effects.set(key, (effects.get(key) ?? 0) + 1);
  response.end(JSON.stringify({ done: true }));
});
let script = "";
let workerd: Miniflare;

/** Starts workerd with the worker, on the data that earlier instances have stored. */
function open(): Miniflare {
  const { port } = world.address() as AddressInfo;
  return new Miniflare({
    host: "127.0.0.1",
    // without this, Miniflare fetches data about its location from Cloudflare
    cf: false,
    modules: true,
    script,
    compatibilityDate: "2026-01-01",
    bindings: { EFFECTS_URL: `http://127.0.0.1:${port}` },
    workflows: { STEPFOLD: { name: "stepfold", className: "Stepfold" } },
    workflowsPersist: folder,
  });
}

async function ask(path: string, body?: object): Promise<{ readonly status: string; readonly output?: unknown }> {
  const response = await workerd.dispatchFetch(`http://worker/${path}`, body && { method: "POST", body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return (await response.json()) as { readonly status: string; readonly output?: unknown };
}

async function until<T>(look: () => Promise<T | false | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await sleep(50);
  }
}

async function end(id: string): Promise<unknown> {
  return until(async () => {
    const { status, output } = await ask(id);
    return status === "complete" && output;
  });
}

beforeAll(async () => {
  await new Promise<void>((resolve) => world.listen(0, "127.0.0.1", resolve));
  const bundle = await rolldown({ input: join(root, "e2e/cloudflare-worker.ts"), external: ["cloudflare:workers"], platform: "neutral" });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  script = output[0].code;
  workerd = open();
});

afterAll(async () => {
  await workerd.dispose();
  world.close();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Starts an execution and waits until it has done everything before the answer: the build failed once and succeeded, and three devices
 * were looked at.
 */
async function begin(id: string): Promise<void> {
  await ask(`${id}/start`, start);
  await until(async () => timesOf(id).length === 4);
}

/** Returns how often each effect of an execution was requested, one number per idempotency key. */
function timesOf(id: string): number[] {
  return [...effects].filter(([key]) => key.startsWith(`${id}/`)).map(([, times]) => times);
}

const done = (id: string): object => ({ workflowId: id, status: "completed", output: "3 devices" });

describe("a guest on Cloudflare Workflows in workerd", () => {
  it("is retried, pauses, goes branches and is resumed", async () => {
    await begin("one");
    await ask("one/send", approve);
    expect(await end("one")).toEqual(done("one"));
    expect(timesOf("one")).toEqual([2, 1, 1, 1, 1]);
  });

  it("refuses what does not fit, passes over what is no message, and is cancelled", async () => {
    await begin("two");
    await ask("two/event", { approved: true });
    await ask("two/send", { type: "resume", target: "sign", payload: { approved: "perhaps" } });
    await ask("two/send", { type: "cancel" });
    expect(await end("two")).toMatchObject({ status: "cancelled" });
  });

  it("goes on where it stood after workerd was started again", async () => {
    await begin("three");
    await workerd.dispose();
    workerd = open();
    await ask("three/send", approve);
    expect(await end("three")).toEqual(done("three"));
    // the effect that was in flight at the restart is requested again with the same key
    expect(timesOf("three")).toHaveLength(5);
    expect(Math.max(...timesOf("three"))).toBe(2);
  });
});
