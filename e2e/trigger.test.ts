import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemEnvironment } from "stepfold";
import { afterAll, describe, expect, it, vi } from "vitest";
import { TriggerPlatform } from "../packages/stepfold/test/guest/trigger-platform.fixture.ts";

/** The stand-in for Trigger.dev on which the example runs, because there is no Trigger.dev server for tests. */
const trigger = vi.hoisted(() => ({ platform: null as TriggerPlatform | null }));

vi.mock("@trigger.dev/sdk", () => ({
  task: (config: never) => trigger.platform!.task(config),
  wait: new Proxy({}, { get: (_, method) => Reflect.get(trigger.platform!.wait, method) }),
}));

const calls: { readonly account: string; readonly key: string; readonly atMs: number }[] = [];
const service = createServer(({ url = "", headers }, response) => {
  const account = url.slice(1);
  calls.push({ account, key: String(headers["idempotency-key"]), atMs: Date.now() });
  const isEarly = account === "flaky" && calls.filter((call) => call.account === account).length < 3;
  response.statusCode = account === "theirs" ? 401 : isEarly ? 503 : 200;
  response.end(JSON.stringify({ visitors: 42 }));
});
await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
process.env.SERVICE_URL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
afterAll(() => service.close());

/** Loads the example on a platform of its own. */
async function example(killsAt?: ReadonlySet<number>): Promise<TriggerPlatform> {
  const platform = new TriggerPlatform(killsAt ? { killsAt } : {}, systemEnvironment);
  trigger.platform = platform;
  vi.resetModules();
  await import("../examples/trigger/tasks.ts");
  calls.length = 0;
  return platform;
}

const start = (account: string): object => ({ workflow: "visitors", workflowId: `visitors-${account}`, input: { account } });

describe("the example trigger, on a stand-in for Trigger.dev", () => {
  it("does what its sleep is for: an attempt fails, and the next one is made in time", async () => {
    const platform = await example();
    expect(await platform.run("stepfold-workflow", start("flaky"))).toMatchObject({
      ok: true,
      output: { status: "completed", output: "42 visitors" },
    });
    expect(calls).toHaveLength(3);
    expect(calls[1]!.atMs - calls[0]!.atMs).toBeGreaterThanOrEqual(1_000);
    expect(calls[2]!.atMs - calls[1]!.atMs).toBeGreaterThanOrEqual(2_000);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
  });

  it("takes the branch for what may not be retried", async () => {
    const platform = await example();
    expect(await platform.run("stepfold-workflow", start("theirs"))).toMatchObject({ output: { output: "renew the token of theirs" } });
    expect(calls).toHaveLength(1);
  });

  it("ends the same if a run is killed at any call, and asks the service twice at most, with the same key", async () => {
    const whole = await example();
    await whole.run("stepfold-workflow", start("ours"));
    for (let point = 0; point < whole.points; point++) {
      const platform = await example(new Set([point]));
      expect(await platform.run("stepfold-workflow", start("ours"))).toMatchObject({ output: { output: "42 visitors" } });
      expect(platform.kills).toBe(1);
      expect(calls.length).toBeLessThanOrEqual(2);
      expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    }
    expect(whole.points).toBeGreaterThan(8);
  });
});
