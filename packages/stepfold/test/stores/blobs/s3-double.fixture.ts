import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { S3Client } from "../../../src/stores/wrappers/blobs/index.ts";

/** The number of keys in one page of a list. S3 has 1,000. */
const pageSize = 3;

/** A server that keeps objects, and a client with the methods of the S3 client. Only the form of the calls is that of S3. */
export interface S3Double {
  readonly client: S3Client;
  readonly objects: Map<string, Uint8Array>;
  /** Makes every following request fail with an error of this name; null ends that. */
  fail(name: string | null): void;
  close(): Promise<void>;
}

/** Starts a server with its client. */
export async function s3Double(): Promise<S3Double> {
  const objects = new Map<string, Uint8Array>();
  let failing: string | null = null;
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      if (failing !== null) answer(response, 500, { name: failing });
      else handle(objects, request, body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    client: clientOf(base),
    objects,
    fail: (name) => {
      failing = name;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function handle(objects: Map<string, Uint8Array>, request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const url = new URL(request.url!, "http://localhost");
  const key = decodeURIComponent(url.pathname.slice(1));
  if (request.method === "PUT") {
    objects.set(key, body);
    answer(response, 200, {});
  } else if (request.method === "POST") {
    for (const one of JSON.parse(body.toString()) as string[]) objects.delete(one);
    answer(response, 200, {});
  } else if (url.searchParams.has("prefix")) {
    const after = url.searchParams.get("after") ?? "";
    const found = [...objects.keys()].filter((one) => one.startsWith(url.searchParams.get("prefix")!) && one > after).sort();
    answer(response, 200, { keys: found.slice(0, pageSize), next: found.length > pageSize ? found[pageSize - 1] : undefined });
  } else {
    const found = objects.get(key);
    if (found) response.end(found);
    else answer(response, 404, { name: "NoSuchKey" });
  }
}

function clientOf(base: string): S3Client {
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`${base}/${path}`, init);
    if (response.ok) return response;
    const { name } = (await response.json()) as { name: string };
    throw Object.assign(new Error(name), { name });
  };
  const pathOf = (Bucket: string, Key: string): string => encodeURIComponent(`${Bucket}/${Key}`);
  return {
    putObject: ({ Bucket, Key, Body }) => ask(pathOf(Bucket, Key), { method: "PUT", body: Body as Uint8Array<ArrayBuffer> }),
    async getObject({ Bucket, Key }) {
      const response = await ask(pathOf(Bucket, Key));
      return { Body: { transformToByteArray: async () => new Uint8Array(await response.arrayBuffer()) } };
    },
    async listObjectsV2({ Bucket, Prefix, ContinuationToken: after }) {
      const query = new URLSearchParams({ prefix: `${Bucket}/${Prefix}`, ...(after !== undefined && { after: `${Bucket}/${after}` }) });
      const { keys, next } = (await (await ask(`?${query}`)).json()) as { keys: string[]; next?: string };
      const own = (key: string): string => key.slice(Bucket.length + 1);
      return { Contents: keys.map((key) => ({ Key: own(key), LastModified: new Date() })), NextContinuationToken: next && own(next) };
    },
    async deleteObjects({ Bucket, Delete: { Objects } }) {
      await ask("", { method: "POST", body: JSON.stringify(Objects.map(({ Key }) => `${Bucket}/${Key}`)) });
      return {};
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
