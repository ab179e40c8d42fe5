import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { aText, checkOptions, requireMethods } from "../../../core/values/check-arguments.ts";
import type { BlobEntry, BlobStore } from "../../../ports/blob-store.ts";
import { segmentsOf } from "../../kit/blobs/blob-key.ts";

/** The methods of an S3 client that are used. The class `S3` of `@aws-sdk/client-s3` has them. */
export interface S3Client {
  putObject(input: { Bucket: string; Key: string; Body: Uint8Array; ContentType: string }): Promise<unknown>;
  getObject(input: { Bucket: string; Key: string }): Promise<{ Body?: { transformToByteArray(): Promise<Uint8Array> } | undefined }>;
  listObjectsV2(input: { Bucket: string; Prefix: string; ContinuationToken?: string }): Promise<S3Page>;
  deleteObjects(input: { Bucket: string; Delete: { Objects: { Key: string }[]; Quiet: boolean } }): Promise<{
    Errors?: { Key?: string | undefined; Code?: string | undefined }[] | undefined;
  }>;
}

/** A page of the list of objects in a bucket. */
export interface S3Page {
  Contents?: { Key?: string | undefined; LastModified?: Date | undefined }[] | undefined;
  NextContinuationToken?: string | undefined;
}

/** The place of the blobs in S3. */
export interface S3BlobsOptions {
  readonly bucket: string;
  /** The beginning of every key, such as `workflows/`: letters, digits and `. _ ~ % - /`, at most 100. Default: none. */
  readonly prefix?: string | undefined;
}

/**
 * Keeps blobs in a bucket of S3, or of another service with the same protocol. The client is handed in: `new S3({ region })` of
 * `@aws-sdk/client-s3`. The client needs the rights to put, get, list and delete objects.
 *
 * ```ts
 * import { type S3Client, s3Blobs } from "stepfold/stores/blobs";
 *
 * export function orderBlobs(client: S3Client) {
 *   return s3Blobs(client, { bucket: "orders", prefix: "workflows/" });
 * }
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID`
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function s3Blobs(client: S3Client, options: S3BlobsOptions): BlobStore {
  requireMethods("client", client, "new S3(...) of @aws-sdk/client-s3", ["putObject", "getObject"]);
  checkOptions("s3Blobs", options, { bucket: aText, prefix: aText }, ["bucket"]);
  const { bucket: Bucket, prefix = "" } = options;
  if (!/^[\w.~%/-]{0,100}$/.test(prefix)) {
    throw new StepfoldError("OPTION_INVALID", { option: "prefix", reason: "may have letters, digits and . _ ~ % - /, at most 100" });
  }
  const keyOf = (key: string): string => prefix + segmentsOf(key).join("/");
  const pages = async function* (Prefix: string): AsyncGenerator<NonNullable<S3Page["Contents"]>, void> {
    for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
      const page = await client.listObjectsV2({ Bucket, Prefix, ...(next !== undefined && { ContinuationToken: next }) });
      yield page.Contents ?? [];
      next = page.NextContinuationToken;
    }
  };
  return {
    name: `bucket "${Bucket}"`,
    async put(key, bytes) {
      await client.putObject({ Bucket, Key: keyOf(key), Body: bytes, ContentType: "application/json" });
    },
    async get(key) {
      try {
        const { Body } = await client.getObject({ Bucket, Key: keyOf(key) });
        return Body ? await Body.transformToByteArray() : new Uint8Array();
      } catch (cause) {
        if (cause instanceof Error && cause.name === "NoSuchKey") return null;
        throw cause;
      }
    },
    async deleteFolder(folder) {
      for await (const contents of pages(`${keyOf(folder)}/`)) {
        const Objects = contents.flatMap(({ Key }) => (Key === undefined ? [] : [{ Key }]));
        if (Objects.length === 0) continue;
        const { Errors = [] } = await client.deleteObjects({ Bucket, Delete: { Objects, Quiet: true } });
        const [failed] = Errors;
        if (failed)
          throw new StepfoldError("STORE_REJECTED", { store: "blobs", reason: `${failed.Key} cannot be deleted: ${failed.Code}` });
      }
    },
    async *list(): AsyncGenerator<BlobEntry, void> {
      for await (const contents of pages(prefix)) {
        for (const { Key, LastModified } of contents) {
          if (Key !== undefined) yield { key: Key.slice(prefix.length), writtenAt: LastModified?.getTime() ?? Date.now() };
        }
      }
    },
  };
}
