import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { FatalHttpError } from "./http-error.ts";
import { labelOf } from "./http-request.ts";
import { asHttpError, type Received } from "./send.ts";

const decoders = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/**
 * Reads the whole body and decompresses it. The reading stops and the connection ends as soon as there are more than `maxBytes`,
 * compressed or decompressed, whatever the headers say.
 *
 * @throws FatalHttpError `HTTP_TOO_LARGE`, `HTTP_BODY_UNREADABLE` for an unknown compression
 * @throws HttpError `HTTP_NETWORK` if the connection breaks or the compressed data is damaged
 */
export async function readBody(received: Received, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const { response, sent } = received;
  if (sent.method !== "HEAD" && Number(response.headers["content-length"]) > maxBytes) throw tooLarge(received, maxBytes);
  const chunks: Buffer[] = [];
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) chunks.push(chunk);
  };
  const capped = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let sizeBytes = 0;
    for await (const chunk of source) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw tooLarge(received, maxBytes);
      yield chunk;
    }
  };
  const decoder = decoderOf(response, received);
  try {
    if (decoder) await pipeline(response, capped, decoder(), capped, collect, { signal });
    else await pipeline(response, capped, collect, { signal });
  } catch (error) {
    throw asHttpError(error, sent);
  }
  return Buffer.concat(chunks);
}

function decoderOf(response: IncomingMessage, { sent }: Received): (typeof decoders)[keyof typeof decoders] | null {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  const empty = sent.method === "HEAD" || response.statusCode === 204 || response.statusCode === 304;
  if (empty || encoding === "" || encoding === "identity") return null;
  if (Object.hasOwn(decoders, encoding)) return decoders[encoding as keyof typeof decoders];
  const said = encoding.slice(0, 50);
  throw new FatalHttpError("HTTP_BODY_UNREADABLE", `${labelOf(sent)} answered with the unknown compression "${said}"`);
}

function tooLarge({ sent }: Received, maxBytes: number): FatalHttpError {
  return new FatalHttpError(
    "HTTP_TOO_LARGE",
    `${labelOf(sent)} answered with more than ${maxBytes} bytes. Ask for less, or raise maxBytes`,
  );
}
