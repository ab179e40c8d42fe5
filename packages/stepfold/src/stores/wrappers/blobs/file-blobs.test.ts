import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../../../test/stores/values/wrapped-bench.fixture.ts";
import { fileBlobs } from "./index.ts";

const folder = testFolder("file-blobs");
let made = 0;
const fresh = (): string => join(folder, `${made++}`, "blobs");
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (found: Uint8Array | null): string | null => found && new TextDecoder().decode(found);

describe("blobs in a folder", () => {
  it("come back, and stay for the next process", async () => {
    const at = fresh();
    const blobs = fileBlobs(at);
    expect(await blobs.get("a/b/c")).toBeNull();
    await blobs.put("a/b/c", bytes("one"));
    await blobs.put("a/b/c", bytes("one"));
    await blobs.put("a/b/d", new Uint8Array([0, 255, 128]));
    expect(text(await fileBlobs(at).get("a/b/c"))).toBe("one");
    expect([...(await blobs.get("a/b/d"))!]).toEqual([0, 255, 128]);
  });

  it("are never seen half, nor is what was being written when the process died", async () => {
    const at = fresh();
    const blobs = fileBlobs(at);
    await blobs.put("a/b", bytes("whole"));
    writeFileSync(join(at, "a", ".writing-1"), "ha");
    const keys: string[] = [];
    for await (const { key } of blobs.list()) keys.push(key);
    expect(keys).toEqual(["a/b"]);
    await Promise.all(Array.from({ length: 20 }, () => blobs.put("a/c", bytes("x".repeat(100_000)))));
    expect(readFileSync(join(at, "a", "c"), "utf8").length).toBe(100_000);
    expect(readdirSync(join(at, "a")).sort()).toEqual([".writing-1", "b", "c"]);
  });

  it("are deleted by folder, and leave no empty ones of their own", async () => {
    const at = fresh();
    const blobs = fileBlobs(at);
    for (const key of ["executions/a/1/x", "executions/a/1/y", "executions/ab/1/x"]) await blobs.put(key, bytes(key));
    await blobs.deleteFolder("executions/a/1");
    await blobs.deleteFolder("executions/a/1");
    expect(existsSync(join(at, "executions", "a"))).toBe(false);
    expect(text(await blobs.get("executions/ab/1/x"))).toBe("executions/ab/1/x");
  });

  it("never leave the folder, whatever a key says", async () => {
    const at = fresh();
    const blobs = fileBlobs(join(at, "inside"));
    await mkdir(at, { recursive: true });
    writeFileSync(join(at, "outside"), "mine");
    const bad = [
      "",
      "/",
      "..",
      "../outside",
      "a/../../outside",
      "/etc/passwd",
      "a//b",
      "a/./b",
      ".a",
      "a\\..\\b",
      "a\u0000",
      "a b",
      "é",
      "x".repeat(256),
    ];
    for (const key of bad) {
      for (const work of [() => blobs.put(key, bytes("x")), () => blobs.get(key), () => blobs.deleteFolder(key)]) {
        await expect(work(), key).rejects.toMatchObject({ code: "OPTION_INVALID" });
      }
    }
    expect(readFileSync(join(at, "outside"), "utf8")).toBe("mine");
  });

  it("say when they were written", async () => {
    const blobs = fileBlobs(fresh());
    for await (const _ of blobs.list()) throw new TypeError("there is nothing yet");
    await blobs.put("a/b", bytes("x"));
    for await (const { key, writtenAt } of blobs.list()) {
      expect(key).toBe("a/b");
      expect(Math.abs(writtenAt - Date.now())).toBeLessThan(60_000);
    }
  });
});
