import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../core/values/json.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../testing/index.ts";
import { memoryStore } from "../../databases/memory/index.ts";
import { compressedStore } from "./index.ts";

const mark = "~stepfold/compressed";
const text = "all work and no play ".repeat(500);

/** Creates an execution with an input. Returns the input in the inner store, and the input that is read back. */
async function stored(input: Json, options?: Parameters<typeof compressedStore>[1]): Promise<{ inner: Json; outer: Json }> {
  const inner = memoryStore();
  const store = compressedStore(inner, options);
  await store.create(startCommit("a", { input }));
  return { inner: (await inner.load("a"))!.input!, outer: (await store.load("a"))!.input! };
}

/** Reads an input that was written directly into the inner store. */
async function reading(input: Json, options?: Parameters<typeof compressedStore>[1]): Promise<Json> {
  const inner = memoryStore();
  await inner.create(startCommit("a", { input }));
  return (await compressedStore(inner, options).load("a"))!.input!;
}

describe("a compressed store", () => {
  it("compresses what is large, and nothing else", async () => {
    const large = await stored({ text });
    expect(large.outer).toEqual({ text });
    expect(JSON.stringify(large.inner).length).toBeLessThan(text.length / 20);
    expect((await stored("x".repeat(1022))).inner).toBe("x".repeat(1022));
    expect((await stored("x".repeat(1023))).inner).toEqual({ [mark]: 1, zstd: expect.any(String) });
    expect((await stored("é".repeat(511))).inner).toBe("é".repeat(511));
    expect((await stored("é".repeat(512))).inner).toEqual({ [mark]: 1, zstd: expect.any(String) });
  });

  it("leaves as it is what does not get smaller", async () => {
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(3000))).toString("base64");
    expect((await stored(noise)).inner).toBe(noise);
    expect((await stored("short", { aboveBytes: 0 })).inner).toBe("short");
  });

  it("reads what a platform without zstd wrote", async () => {
    const gzip = zlib.gzipSync(JSON.stringify({ text })).toString("base64");
    expect(await reading({ [mark]: 1, gzip })).toEqual({ text });
  });

  it("says what it lacks if a value was compressed in another way", async () => {
    const refused = { code: "STORE_REJECTED", message: expect.stringContaining("compressed with brotli; this platform has zstd and gzip") };
    await expect(reading({ [mark]: 1, brotli: "AAAA" })).rejects.toMatchObject(refused);
  });

  it("refuses what was made to burst", async () => {
    const bomb = zlib.zstdCompressSync(Buffer.alloc(50_000_000, "0")).toString("base64");
    const refused = { code: "STORE_REJECTED", message: expect.stringContaining("more than 1000000 bytes (maxBytes)") };
    await expect(reading({ [mark]: 1, zstd: bomb }, { maxBytes: 1_000_000 })).rejects.toMatchObject(refused);
    const gzip = zlib.gzipSync(Buffer.alloc(50_000_000, "0")).toString("base64");
    await expect(reading({ [mark]: 1, gzip }, { maxBytes: 1_000_000 })).rejects.toMatchObject(refused);
  });

  it("refuses values that are too large together", async () => {
    const inner = memoryStore();
    const half = { [mark]: 1, zstd: zlib.zstdCompressSync(JSON.stringify("x".repeat(600_000))).toString("base64") };
    await inner.create(startCommit("a", { input: half, metadata: { one: { two: half }, three: half } }));
    const load = (options?: Parameters<typeof compressedStore>[1]): Promise<unknown> => compressedStore(inner, options).load("a");
    await expect(load({ maxExecutionBytes: 1_500_000 })).rejects.toMatchObject({
      code: "STORE_REJECTED",
      message: expect.stringContaining("may have 1500000 together (maxExecutionBytes)"),
    });
    await expect(load({ maxExecutionBytes: 1_900_000 })).resolves.toMatchObject({ input: "x".repeat(600_000) });
    // each load has the whole
    const store = compressedStore(inner, { maxExecutionBytes: 1_900_000 });
    for (let i = 0; i < 3; i++) await store.load("a");
    await expect(store.events("a", -1, 10)).resolves.toHaveLength(1);
  });

  it("has bounds that suit the limits of values and executions", async () => {
    const bomb = (size: number): Json => ({ [mark]: 1, gzip: zlib.gzipSync(`"${"[],".repeat(size / 3)}"`).toString("base64") });
    await expect(reading(bomb(4_000_000))).resolves.toContain("[]");
    await expect(reading(bomb(5_000_000))).rejects.toMatchObject({
      message: expect.stringContaining("more than 4194304 bytes (maxBytes)"),
    });
  });

  it("never writes what it would refuse to read", async () => {
    expect(await stored(text, { maxBytes: 5000 })).toEqual({ inner: text, outer: text });
  });

  it("refuses what is damaged, or from a later version", async () => {
    const damaged = { code: "STORE_REJECTED", message: expect.stringContaining("damaged") };
    await expect(reading({ [mark]: 1, zstd: "AAAA" })).rejects.toMatchObject(damaged);
    await expect(reading({ [mark]: 1, json: "{" })).rejects.toMatchObject(damaged);
    const later = { code: "STORE_REJECTED", message: expect.stringContaining("a form that this version of Stepfold does not know") };
    await expect(reading({ [mark]: 2, zstd: "AAAA" })).rejects.toMatchObject(later);
  });

  it("leaves metadata that is text for list to find", async () => {
    const store = compressedStore(memoryStore());
    const metadata = { text, deep: { text } };
    const first = startCommit("a", { metadata });
    await store.create(first);
    expect((await store.list({ metadata: { text } })).items).toMatchObject([{ workflowId: "a", metadata }]);
    expect(await store.load("a")).toEqual(snapshotAfter(first));
  });

  it("keeps messages of errors text", async () => {
    const inner = memoryStore();
    const error = { name: "Error", message: text };
    const task = { pathId: "0", nodeId: "step", attempt: 1, at: 5, turn: 1, startedAt: 4 };
    const first = startCommit("a");
    const second = stepCommit(first, { event: (version) => ({ ...task, version, type: "failed", error, retryAt: null, handle: "error" }) });
    const store = compressedStore(inner);
    await store.create(first);
    await store.commit(second);
    expect((await inner.load("a"))!.context.step![0]!.error).toMatch(/^~stepfold\/compressed:\{.{50,300}\}$/);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
  });

  it("checks its options", () => {
    for (const options of [{ aboveBytes: -1 }, { aboveBytes: 1.5 }, { maxBytes: Number.NaN }, { maxExecutionBytes: -1 }]) {
      expect(() => compressedStore(memoryStore(), options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    }
  });
});
