import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "stepfold/client";
import { describe, expect, it } from "vitest";
import { cli, jsonLines, newFolder, startCli } from "./cli.ts";
import { maxMs, startDev, workerOf } from "./start-dev.ts";

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const order = (id: string) => ({
  workflow: "order",
  id,
  input: { order: id, customer: "Ada", items: [{ article: "desk", price: 10, count: 1 }] },
});

describe("stepfold dev", () => {
  it("writes a sample into an empty folder, starts it once, and goes on with it at the next start", async () => {
    const place = { cwd: newFolder() };
    const dev = await startDev(place);
    expect(["workflows/order.json", "stepfold.config.ts", "shop.ts"].every((path) => existsSync(join(place.cwd, path)))).toBe(true);
    expect(statSync(join(place.cwd, ".stepfold/token")).mode & 0o777).toBe(0o600);
    const nobody = await fetch(`${dev.url}/v1/executions`);
    expect(nobody.status).toBe(401);
    await expect
      .poll(async () => (await dev.client.executions.get("order-1").catch(() => null))?.waits[0]?.nodeId, { timeout: maxMs })
      .toBe("approve");
    await dev.client.executions.answer("order-1", { step: "approve", payload: { approved: false } });
    await expect.poll(async () => (await dev.client.executions.get("order-1")).status, { timeout: maxMs }).toBe("completed");
    const view = await dev.client.executions.get("order-1");
    expect(view.output).toEqual({ order: "1", declined: true });
    dev.running.child.kill("SIGINT");
    const { code, stdout } = await dev.running.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain("leaves the house");
    expect(
      jsonLines(
        stdout
          .split("\n")
          .filter((line) => line.startsWith("{"))
          .join("\n"),
      )[0],
    ).toMatchObject({ type: "ready", written: ["workflows/order.json", "stepfold.config.ts", "shop.ts"] });

    const second = await startDev(place);
    expect(second.token).toBe(dev.token);
    expect((await second.client.executions.list()).items.map(({ workflowId }) => workflowId)).toEqual(["order-1"]);
  });

  it("in a package that npm has made CommonJS, writes a config that loads", async () => {
    const place = { cwd: newFolder() };
    writeFileSync(join(place.cwd, "package.json"), JSON.stringify({ name: "mine", type: "commonjs" }));
    const dev = await startDev(place);
    expect(existsSync(join(place.cwd, "stepfold.config.mts"))).toBe(true);
    expect((await dev.client.executions.start(order("a"))).isNew).toBe(true);
    await expect.poll(async () => (await dev.client.executions.get("a")).waits[0]?.nodeId, { timeout: maxMs }).toBe("approve");
  });

  it("writes nothing into a folder with files of somebody else, and says what is missing", async () => {
    const place = { cwd: newFolder() };
    const own = "export const orders = 1;\n";
    writeFileSync(join(place.cwd, "shop.ts"), own);
    const { client, running } = await startDev(place);
    await running.saw("no workflows/*.json and no stepfold.config.ts");
    expect(readdirSync(place.cwd).sort()).toEqual([".stepfold", "shop.ts"]);
    expect(readFileSync(join(place.cwd, "shop.ts"), "utf8")).toBe(own);
    expect((await client.executions.list()).items).toEqual([]);
    mkdirSync(join(place.cwd, "workflows"));
    writeFileSync(join(place.cwd, "workflows/a.json"), JSON.stringify({ id: "a", nodes: [{ id: "n", type: "noop" }], edges: [] }));
    await expect
      .poll(async () => (await client.executions.start({ workflow: "a", id: "a" }).catch(() => null))?.workflowId, { timeout: maxMs })
      .toBe("a");
  });

  it("writes the sample beside what npm, git and editors have written", async () => {
    const place = { cwd: newFolder() };
    for (const folder of ["node_modules", ".git", ".vscode"]) mkdirSync(join(place.cwd, folder));
    for (const file of ["package.json", "package-lock.json", "tsconfig.json"]) writeFileSync(join(place.cwd, file), "{}");
    const { running } = await startDev(place);
    expect(running.stdout()).toContain('"written":["workflows/order.json"');
    expect(running.stdout()).not.toContain("nothing to run");
  });

  it("runs changed code and changed workflows, and keeps the last good workflow while one is wrong", async () => {
    const place = { cwd: newFolder() };
    const dev = await startDev(place);
    const total = async (id: string): Promise<unknown> => {
      await dev.client.executions.start(order(id));
      await expect
        .poll(async () => (await dev.client.executions.events(id, { type: "completed", node: "price" })).items.length, { timeout: maxMs })
        .toBe(1);
      const [event] = (await dev.client.executions.events(id, { type: "completed", node: "price" })).items;
      return (event as { output?: { total?: unknown } }).output?.total;
    };
    const change = async (file: string, from: string, to: string, said: string): Promise<void> => {
      const path = join(place.cwd, file);
      const before = dev.running.stdout().length;
      const text = readFileSync(path, "utf8");
      expect(text).toContain(from);
      writeFileSync(path, text.replace(from, to));
      await expect.poll(() => (dev.running.stdout().slice(before) + dev.running.stderr()).includes(said), { timeout: maxMs }).toBe(true);
    };
    expect(await total("a")).toBe(11.9);
    await change("stepfold.config.ts", "net * 119", "net * 200", "the code runs, as it is now");
    expect(await total("b")).toBe(20);
    await change("workflows/order.json", '"price-order"', '"price-ordr"', "NODE_TYPE_UNKNOWN");
    expect(await total("c")).toBe(20);
    await change("workflows/order.json", '"price-ordr"', '"price-order"', "the code runs, as it is now");
    // code that does not load, and code without a node type that a workflow needs: the code before goes on
    await change("shop.ts", "export async", "export asynk", "goes on until this is mended");
    expect(await total("d")).toBe(20);
    await change("shop.ts", "export asynk", "export async", "the code runs, as it is now");
    await change("stepfold.config.ts", '"price-order":', '"price-orders":', "goes on until this is mended");
    expect(await total("e")).toBe(20);
    await change("stepfold.config.ts", '"price-orders":', '"price-order":', "the code runs, as it is now");
    expect(await total("f")).toBe(20);
  });

  it("starts the process again that runs the executions, and ends it with itself, also by kill -9", async () => {
    const place = { cwd: newFolder() };
    const dev = await startDev(place);
    await expect
      .poll(async () => (await dev.client.nodeTypes()).nodeTypes.some(({ type }) => type === "price-order"), { timeout: maxMs })
      .toBe(true);
    const first = workerOf(dev);
    process.kill(first, "SIGKILL");
    await dev.running.saw("has ended (SIGKILL)");
    await dev.client.executions.start(order("a"));
    await expect.poll(async () => (await dev.client.executions.get("a")).waits[0]?.nodeId, { timeout: maxMs }).toBe("approve");
    const second = workerOf(dev);
    expect(second).not.toBe(first);
    dev.running.child.kill("SIGKILL");
    await dev.running.ended;
    await expect.poll(() => isAlive(second), { timeout: maxMs }).toBe(false);
  });

  it("runs the workflows that are named, and starts one of them", async () => {
    const place = { cwd: newFolder() };
    const file = join(place.cwd, "hello.json");
    writeFileSync(file, JSON.stringify({ id: "hello", nodes: [{ id: "say", type: "set", data: { text: "{{ input.to }}" } }], edges: [] }));
    const { client } = await startDev(place, ["hello.json", "--input", '{"to":"you"}', "--id", "h"]);
    await expect
      .poll(async () => (await client.executions.get("h").catch(() => null))?.output, { timeout: maxMs })
      .toEqual({ text: "you" });
    expect((await client.workflows()).workflows.map(({ id }) => id)).toEqual(["hello"]);
    expect(existsSync(join(place.cwd, "workflows"))).toBe(false);
  });

  it("serves over a database without running anything: stepfold studio", async () => {
    const place = { cwd: newFolder() };
    const refused = await cli(["studio"], place);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("DATABASE_NOT_FOUND")]);
    expect(existsSync(join(place.cwd, ".stepfold"))).toBe(false);
    const { client, running } = await startDev(place);
    await expect.poll(async () => (await client.executions.get("order-1").catch(() => null))?.status, { timeout: maxMs }).toBe("paused");
    running.child.kill("SIGINT");
    await running.ended;
    const pages = startCli(["studio", "--json", "--port", "0", "--token", "a-token-of-sixteen"], place);
    await pages.saw('"type":"ready"');
    const [, url] = /"url":"([^"#]+)\/#t=a-token-of-sixteen"/.exec(pages.stdout())!;
    const reader = createClient({ url: url!, token: "a-token-of-sixteen" });
    await reader.executions.cancel("order-1", { reason: "enough" });
    await expect.poll(async () => (await reader.executions.get("order-1")).status, { timeout: maxMs }).toBe("cancelled");
    expect((await fetch(url!)).headers.get("content-type")).toContain("text/html");
    pages.child.kill("SIGINT");
    expect((await pages.ended).code).toBe(0);
  });

  it.each([
    [["--host", "0.0.0.0"], "--token"],
    [["--port", "99999"], "--port"],
    [["--token", "short"], "--token"],
    [["none.json"], "none.json"],
    [["--config", "none.ts"], "none.ts"],
    [["--input", "{}"], "name the file"],
  ])("refuses %j and writes nothing", async (args, said) => {
    const place = { cwd: newFolder() };
    const { code, stderr } = await cli(["dev", ...args], place);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(existsSync(join(place.cwd, "workflows"))).toBe(false);
  });
});
