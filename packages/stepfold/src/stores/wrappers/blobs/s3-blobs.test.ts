import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type S3Double, s3Double } from "../../../../test/stores/blobs/s3-double.fixture.ts";
import { snapshotAfter, startCommit } from "../../../testing/index.ts";
import { memoryStore } from "../../databases/memory/index.ts";
import { blobbedStore, collectOrphans, type S3Client, s3Blobs } from "./index.ts";

let double: S3Double;
beforeAll(async () => {
  double = await s3Double();
});
afterEach(() => {
  double.objects.clear();
  double.fail(null);
});
afterAll(() => double.close());

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
async function keysOf(blobs: ReturnType<typeof s3Blobs>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of blobs.list()) keys.push(key);
  return keys;
}

describe("blobs in a bucket", () => {
  it("come back, under their prefix", async () => {
    const blobs = s3Blobs(double.client, { bucket: "orders", prefix: "workflows/" });
    expect(await blobs.get("a/b")).toBeNull();
    await blobs.put("a/b", bytes("one"));
    expect([...double.objects.keys()]).toEqual(["orders/workflows/a/b"]);
    expect(new TextDecoder().decode((await blobs.get("a/b"))!)).toBe("one");
    expect(await keysOf(blobs)).toEqual(["a/b"]);
  });

  it("are listed and deleted page by page, and only those of the folder", async () => {
    const blobs = s3Blobs(double.client, { bucket: "orders" });
    for (let index = 0; index < 8; index++) await blobs.put(`executions/a/1/${index}`, bytes("x"));
    await blobs.put("executions/a/10/x", bytes("x"));
    await s3Blobs(double.client, { bucket: "others" }).put("executions/a/1/x", bytes("x"));
    expect((await keysOf(blobs)).length).toBe(9);
    await blobs.deleteFolder("executions/a/1");
    expect([...double.objects.keys()].sort()).toEqual(["orders/executions/a/10/x", "others/executions/a/1/x"]);
  });

  it("serve a store", async () => {
    const blobs = s3Blobs(double.client, { bucket: "orders", prefix: "p/" });
    const inner = memoryStore();
    const store = blobbedStore(inner, blobs);
    const first = startCommit("a b/ü", { input: "x".repeat(100_000), status: "completed" });
    await store.create(first);
    expect(await store.load("a b/ü")).toEqual(snapshotAfter(first));
    await inner.delete("a b/ü");
    const now = () => Date.now() + 2 * 24 * 60 * 60 * 1000;
    expect(await collectOrphans(inner, blobs, { now })).toEqual({ executions: 1, blobs: 1 });
    expect(double.objects.size).toBe(0);
  });

  it("are out of reach, not missing, when the service fails", async () => {
    const store = blobbedStore(memoryStore(), s3Blobs(double.client, { bucket: "orders" }));
    await store.create(startCommit("a", { input: "x".repeat(100_000) }));
    for (const name of ["SlowDown", "AccessDenied", "NoSuchBucket"]) {
      double.fail(name);
      await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    }
  });

  it("say which could not be deleted", async () => {
    const refusing: S3Client = { ...double.client, deleteObjects: async () => ({ Errors: [{ Key: "a/b", Code: "AccessDenied" }] }) };
    const blobs = s3Blobs(refusing, { bucket: "orders" });
    await blobs.put("a/b", bytes("x"));
    await expect(blobs.deleteFolder("a")).rejects.toMatchObject({
      message: expect.stringContaining("a/b cannot be deleted: AccessDenied"),
    });
  });

  it("take no key or prefix that is none", async () => {
    const blobs = s3Blobs(double.client, { bucket: "orders" });
    await expect(blobs.put("../x", bytes("x"))).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(() => s3Blobs(double.client, { bucket: "orders", prefix: "a b" })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});

describe("the client", () => {
  it("may have its methods as the SDK writes them down: overloaded, with more in and more out", () => {
    interface Output {
      readonly $metadata: { readonly httpStatusCode?: number };
    }
    interface Method<In, Out> {
      (input: In, options?: { readonly requestTimeout?: number }): Promise<Out & Output>;
      (input: In, done: (error: unknown, output?: Out) => void): void;
    }
    interface Sdk {
      putObject: Method<{ Bucket: string | undefined; Key: string | undefined; Body?: Uint8Array | string; ContentType?: string }, object>;
      getObject: Method<
        { Bucket: string | undefined; Key: string | undefined },
        { Body?: Blob & { transformToByteArray(): Promise<Uint8Array> } }
      >;
      listObjectsV2: Method<
        { Bucket: string | undefined; Prefix?: string; ContinuationToken?: string },
        { Contents?: { Key?: string; LastModified?: Date; Size?: number }[]; NextContinuationToken?: string }
      >;
      deleteObjects: Method<
        { Bucket: string | undefined; Delete: { Objects: { Key: string | undefined }[] | undefined; Quiet?: boolean } | undefined },
        { Errors?: { Key?: string; Code?: string; Message?: string }[] }
      >;
    }
    const fits = (sdk: Sdk): S3Client => sdk;
    expect(fits).toBeTypeOf("function");
  });
});
