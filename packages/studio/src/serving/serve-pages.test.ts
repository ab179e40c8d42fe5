import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StudioPages, studio } from "../index.ts";

const index = "<!doctype html><title>Studio</title>";
let folder: string;
let pages: StudioPages;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "studio-"));
  mkdirSync(join(folder, "dist/assets"), { recursive: true });
  writeFileSync(join(folder, "dist/index.html"), index);
  writeFileSync(join(folder, "dist/assets/index-B1x2.js"), "run()");
  writeFileSync(join(folder, "dist/assets/geist-C3.woff2"), new Uint8Array([1, 2, 3]));
  writeFileSync(join(folder, "dist/assets/notes.txt"), "no");
  writeFileSync(join(folder, "secret.js"), "secret");
  pages = studio({ folder: join(folder, "dist") });
});
afterAll(() => rmSync(folder, { recursive: true }));

const ask = (path: string, init: RequestInit = {}): Promise<Response | null> => pages(new Request(`http://127.0.0.1${path}`, init));

describe("the pages of Studio", () => {
  test.each([
    "/",
    "/executions",
    "/executions/",
    "/executions/order-1001",
    "/executions/~YS9i",
    "/executions?status=failed",
  ])("%s is the page, and is asked for each time", async (path) => {
    const response = await ask(path);
    expect(await response?.text()).toBe(index);
    expect(response?.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response?.headers.get("cache-control")).toBe("no-store");
  });

  test("the page allows only what comes from its own server", async () => {
    const response = await ask("/");
    expect(response?.headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(response?.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response?.headers.get("referrer-policy")).toBe("no-referrer");
  });

  test("assets are kept for ever, because their names change with their content", async () => {
    const response = await ask("/assets/index-B1x2.js");
    expect(await response?.text()).toBe("run()");
    expect(response?.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response?.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  });

  test("text is compressed for those who take it, fonts are not", async () => {
    const script = await ask("/assets/index-B1x2.js", { headers: { "accept-encoding": "br, gzip;q=0.8" } });
    expect(script?.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await script!.arrayBuffer()).toString()).toBe("run()");
    const refused = await ask("/assets/index-B1x2.js", { headers: { "accept-encoding": "gzip;q=0" } });
    expect(refused?.headers.get("content-encoding")).toBeNull();
    const font = await ask("/assets/geist-C3.woff2", { headers: { "accept-encoding": "gzip" } });
    expect(font?.headers.get("content-encoding")).toBeNull();
    expect(new Uint8Array(await font!.arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]));
  });

  test("HEAD has the headers and no body", async () => {
    const response = await ask("/assets/index-B1x2.js", { method: "HEAD" });
    expect(response?.headers.get("content-length")).toBe("5");
    expect(await response?.text()).toBe("");
  });

  test.each([
    "/secret.js",
    "/../secret.js",
    "/assets/%2e%2e/%2e%2e/secret.js",
    "/assets/..%2f..%2fsecret.js",
    "//assets/index-B1x2.js",
    "/assets",
    "/assets/",
    "/assets/notes.txt",
    "/index.html",
    "/executions/a/b",
    "/executionsx",
    "/v1/executions",
    "/constructor",
    "/__proto__",
  ])("%s is not answered", async (path) => {
    expect(await ask(path)).toBeNull();
  });

  test("other methods are not answered", async () => {
    expect(await ask("/", { method: "POST", body: "x" })).toBeNull();
  });

  test("what is written into the folder later is not served", async () => {
    writeFileSync(join(folder, "dist/assets/late.js"), "late");
    expect(await ask("/assets/late.js")).toBeNull();
  });
});
