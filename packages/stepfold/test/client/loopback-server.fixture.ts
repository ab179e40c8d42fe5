import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request that has come, and the means to answer it byte by byte. */
export class Exchange {
  readonly method: string;
  /** The path with the query, exactly as it was sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Resolves when the response has ended, or the client has closed the connection. */
  readonly closed: Promise<unknown>;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, body: string, response: ServerResponse) {
    this.method = request.method ?? "";
    this.url = request.url ?? "";
    this.headers = request.headers;
    this.body = body;
    this.#response = response;
    this.closed = once(response, "close");
  }

  /** True if the response has ended, or the client has closed the connection. */
  get isClosed(): boolean {
    return this.#response.closed;
  }

  /** Answers with a text, or with JSON. */
  reply(status: number, body: object | string = "", headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, headers);
    this.#response.end(typeof body === "string" ? body : JSON.stringify(body));
  }

  /** Refuses as the server does. */
  refuse(status: number, code: string, more: Readonly<Record<string, unknown>> = {}, headers: Readonly<Record<string, string>> = {}): void {
    const problem = {
      type: `urn:stepfold:error:${code}`,
      title: code,
      status,
      detail: `It is ${code}.`,
      code,
      retryable: false,
      details: {},
    };
    this.reply(status, { ...problem, requestId: "r-1", ...more }, { "content-type": "application/problem+json", ...headers });
  }

  /** Begins a body whose end is not known. */
  openStream(status = 200): this {
    this.#response.writeHead(status, { "content-type": "text/event-stream" });
    this.#response.flushHeaders();
    return this;
  }

  /** Sends a part of the body. Resolves when the system has taken it. */
  write(part: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#response.write(part, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the response as a server that stops. */
  end(): void {
    this.#response.end();
  }

  /** Breaks the connection. */
  cut(): void {
    this.#response.destroy();
  }
}

/** A server on loopback whose answers a test gives one by one. */
export class LoopbackServer {
  readonly url: string;
  readonly #server: Server;
  readonly #waiting: Exchange[] = [];
  #wake = (): void => undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => void this.#take(request, response));
  }

  /** Opens a server until the end of the test. */
  static async open(): Promise<LoopbackServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const opened = new LoopbackServer(server);
    onTestFinished(() => opened.close());
    return opened;
  }

  /** The requests that have come and were not asked for. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Returns the next request, when it has come. */
  async next(): Promise<Exchange> {
    for (;;) {
      const exchange = this.#waiting.shift();
      if (exchange) return exchange;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends the server with all its connections. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.#waiting.push(new Exchange(request, Buffer.concat(chunks).toString(), response));
    this.#wake();
  }
}
