import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { jsonArgument } from "./json-argument.ts";

describe("jsonArgument", () => {
  it("takes JSON, a file with and without @, and standard input", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stepfold-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "a.json");
    writeFileSync(file, '{"a":1}');
    expect(await jsonArgument('{"a":1}', "--payload")).toEqual({ a: 1 });
    expect(await jsonArgument("-5", "--payload")).toBe(-5);
    expect(await jsonArgument('{"id":7615917337495251231}', "--payload")).toEqual({ id: "7615917337495251231" });
    expect(await jsonArgument(file, "--payload")).toEqual({ a: 1 });
    expect(await jsonArgument(`@${file}`, "--payload")).toEqual({ a: 1 });
    expect(await jsonArgument("-", "--payload", Readable.from(['{"b"', ":2}\n"]))).toEqual({ b: 2 });
  });

  it("F16 f: refuses what never ends", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stepfold-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const path of [pipe, "/dev/zero"])
      await expect(jsonArgument(`@${path}`, "--input")).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(2 ** 20, 32));
      },
    });
    await expect(jsonArgument("-", "--input", endless)).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
  });

  it.skipIf(process.platform !== "linux")("F16 f: reads a file by what it holds, whatever size it tells", async () => {
    // the file reports a size of 0 bytes and holds "Linux"
    await expect(jsonArgument("@/proc/sys/kernel/ostype", "--input")).rejects.toMatchObject({
      message: expect.stringContaining('found "L"'),
    });
  });

  it("says what is wrong, where, and what to write", async () => {
    const wrong = (argument: string, input = ""): Promise<unknown> => jsonArgument(argument, "--payload", Readable.from([input]));
    await expect(wrong("{a:1}")).rejects.toMatchObject({ code: "JSON_INVALID", message: expect.stringContaining("--payload:1:2") });
    await expect(wrong("@nope.json")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await expect(wrong("-", "{")).rejects.toMatchObject({ code: "JSON_INVALID", message: expect.stringContaining("standard input:1:2") });
    await expect(wrong("-")).rejects.toMatchObject({ code: "JSON_INVALID" });
    await expect(wrong("yes")).rejects.toMatchObject({ code: "FILE_NOT_FOUND", hint: expect.stringContaining(`--payload '"yes"'`) });
  });
});
