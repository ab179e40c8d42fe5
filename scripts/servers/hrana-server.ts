import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectionPool } from "./hrana/connection-pool.ts";
import type { PipelineRequest } from "./hrana/pipeline.ts";
import { describeError, SqlStream } from "./hrana/sql-stream.ts";
import { WriteLockQueue } from "./hrana/write-lock-queue.ts";
import { answerJson, readText } from "./http-exchange.ts";
import { listenOnLoopback, type StandIn, serveAlone } from "./stand-in.ts";

/**
 * Starts a stand-in for a libSQL server (sqld, Turso): Hrana 2 and 3 over HTTP in JSON, as `@libsql/client` speaks it to an `http:`
 * URL, on the engine of the native `libsql` package.
 *
 * The engine is real, and so are SQL, types, isolation and constraint errors. The server is our reading of the protocol: it cannot
 * prove how sqld balances, replicates, limits, authenticates or names its own errors. Cursors, protobuf and WebSockets are missing.
 * Pragmas and temporary tables outlive their stream. Of SQL with several statements only the first one runs, where sqld refuses all.
 *
 * @param options.path the database file; without it, a temporary file that `close` deletes
 * @param options.streamTimeoutMs how long a stream lives without requests, and how long a statement waits for the write lock, in
 * milliseconds
 */
export async function hranaServer(options: { path?: string; streamTimeoutMs?: number } = {}): Promise<StandIn> {
  const { streamTimeoutMs = 10_000 } = options;
  const folder = options.path === undefined ? mkdtempSync(join(tmpdir(), "stepfold-hrana-")) : undefined;
  const streams = new StreamTable(options.path ?? `${folder}/database.db`, streamTimeoutMs);
  const server = createServer((request, response) => {
    answer(streams, request, response).catch((error) => answerJson(response, 400, describeError(error)));
  });
  const standIn = await listenOnLoopback(server, "http");
  return {
    url: standIn.url,
    async close() {
      await standIn.close();
      streams.closeAll();
      if (folder) rmSync(folder, { recursive: true });
    },
  };
}

async function answer(streams: StreamTable, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "/";
  if (request.method === "GET" && /^\/(v2|v3|health)$/.test(path)) return void response.end();
  if (request.method !== "POST" || !/^\/v[23]\/pipeline$/.test(path)) return void response.writeHead(404).end();
  const { baton, requests } = JSON.parse(await readText(request)) as PipelineRequest;
  const stream = baton ? streams.take(baton) : streams.open();
  if (!stream) return answerJson(response, 400, { message: "The stream has expired", code: "STREAM_EXPIRED" });
  const results: object[] = [];
  for (const one of requests) {
    try {
      results.push({ type: "ok", response: await stream.answer(one) });
    } catch (error) {
      results.push({ type: "error", error: describeError(error) });
    }
  }
  answerJson(response, 200, { baton: streams.put(stream), base_url: null, results });
}

/** The open streams. A stream that waits for its next request is stored under a baton, which is valid for one request. */
class StreamTable {
  readonly #pool: ConnectionPool;
  readonly #timeoutMs: number;
  readonly #lock: WriteLockQueue;
  readonly #open = new Set<SqlStream>();
  readonly #idle = new Map<string, { readonly stream: SqlStream; readonly timer: NodeJS.Timeout }>();

  constructor(path: string, timeoutMs: number) {
    this.#pool = new ConnectionPool(path);
    this.#timeoutMs = timeoutMs;
    this.#lock = new WriteLockQueue(timeoutMs);
  }

  open(): SqlStream {
    const stream = new SqlStream(this.#pool, this.#lock);
    this.#open.add(stream);
    return stream;
  }

  take(baton: string): SqlStream | undefined {
    const found = this.#idle.get(baton);
    clearTimeout(found?.timer);
    this.#idle.delete(baton);
    return found?.stream;
  }

  /** Stores a stream until its next request. Returns the baton for that request, or null if the stream was closed. */
  put(stream: SqlStream): string | null {
    if (stream.closed) {
      this.#open.delete(stream);
      return null;
    }
    const baton = randomUUID();
    const expire = (): void => {
      this.take(baton);
      this.#open.delete(stream);
      stream.close();
    };
    this.#idle.set(baton, { stream, timer: setTimeout(expire, this.#timeoutMs).unref() });
    return baton;
  }

  closeAll(): void {
    for (const { timer } of this.#idle.values()) clearTimeout(timer);
    for (const stream of this.#open) stream.close();
    this.#pool.close();
  }
}

if (import.meta.main) await serveAlone(hranaServer);
