import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { importDriver, importOneOf } from "./import-driver.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stepfold-driver-"));
  // workers of tests cannot change their folder
  vi.spyOn(process, "cwd").mockReturnValue(folder);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function install(name: string, files: Readonly<Record<string, string>>): void {
  const home = join(folder, "node_modules", name);
  mkdirSync(home, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(home, file), text);
}

describe("importDriver", () => {
  it("takes the driver that is installed in this folder", async () => {
    install("driver-a", { "package.json": '{"main":"main.cjs"}', "main.cjs": "exports.here = true;" });
    expect(await importDriver("driver-a", "postgres")).toMatchObject({ here: true });
  });

  it.each([
    ["no-such-driver", "no-such-driver"],
    ["no-such-driver/promise", "no-such-driver"],
    ["@no-such/driver", "@no-such/driver"],
    ["@no-such/driver/web", "@no-such/driver"],
  ])("says what to install for %s", async (name, installed) => {
    await expect(importDriver(name, "postgres")).rejects.toMatchObject({
      code: "DRIVER_MISSING",
      message: expect.stringMatching(new RegExp(`npm install ${installed}$`)),
    });
  });

  it.each([
    ["commonjs", 'require("no-such-dependency");'],
    ["module", 'import "no-such-dependency";'],
  ])("does not say that a driver is missing which lacks something itself (%s)", async (type, text) => {
    install(`driver-${type}`, { "package.json": JSON.stringify({ type, main: "main.js" }), "main.js": text });
    await expect(importDriver(`driver-${type}`, "postgres")).rejects.toMatchObject({
      code: "STORE_REJECTED",
      message: expect.stringMatching(/"driver-\w+" is installed, but cannot be loaded: .*no-such-dependency/),
    });
  });

  it("looks beside this package if the package here has files for import only", async () => {
    const exports = { ".": { import: "./main.js" } };
    install("ioredis", { "package.json": JSON.stringify({ type: "module", exports }), "main.js": "export const isHere = true;" });
    const driver = await importDriver<object>("ioredis", "redis");
    expect(driver).toHaveProperty("Redis");
  });

  it("names the queue that needs it", async () => {
    await expect(importDriver("no-such-driver", { queue: "nats" })).rejects.toMatchObject({
      code: "DRIVER_MISSING",
      message: expect.stringMatching(/^Queue "nats" needs the package "no-such-driver"/),
    });
    install("driver-d", { "package.json": '{"main":"main.cjs"}', "main.cjs": 'throw new Error("wrong version");' });
    await expect(importDriver("driver-d", { queue: "nats" })).rejects.toMatchObject({ code: "QUEUE_REJECTED", details: { queue: "nats" } });
  });

  it("does not say that a driver is missing which throws", async () => {
    install("driver-b", { "package.json": '{"main":"main.cjs"}', "main.cjs": 'throw new Error("wrong version");' });
    await expect(importDriver("driver-b", "postgres")).rejects.toMatchObject({ code: "STORE_REJECTED", message: /wrong version/ });
  });
});

describe("importOneOf", () => {
  it("takes the first that is there", async () => {
    install("driver-c", { "package.json": '{"main":"main.cjs"}', "main.cjs": "exports.here = true;" });
    expect(await importOneOf(["no-such-driver", "driver-c"], "redis")).toMatchObject({ name: "driver-c", module: { here: true } });
  });

  it("names the first if none is there", async () => {
    await expect(importOneOf(["no-such-driver", "no-other-driver"], "redis")).rejects.toMatchObject({
      code: "DRIVER_MISSING",
      details: { driver: "no-such-driver" },
    });
  });
});
