import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { StepfoldError } from "stepfold";
import type { Server } from "../create-server.ts";

/** Where a server listens. */
export interface ListenOptions {
  /** Default 7837. 0: any port that is free. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`: only programs of this machine. Another address needs a server with `auth`. */
  readonly host?: string | undefined;
}

/** A server that listens. */
export interface Listening {
  /** Such as `http://127.0.0.1:7837`. */
  readonly url: string;
  readonly port: number;
  /** Ends the streams, then the connections. It resolves when all are closed. Safe to call twice. */
  close(): Promise<void>;
}

const loopback: readonly string[] = ["127.0.0.1", "::1", "localhost"];

/**
 * Lets a server listen on a port of this machine.
 *
 * ```ts
 * const { url, close } = await listen(server, { port: 7837 });
 * process.once("SIGTERM", close);
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID`: the port is taken or not allowed, or the server has no `auth` and the host is not loopback
 */
export async function listen(server: Server, { port = 7837, host = "127.0.0.1" }: ListenOptions = {}): Promise<Listening> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new StepfoldError("OPTION_INVALID", { option: "port", reason: "must be a whole number from 0 to 65,535" });
  if (typeof host !== "string" || host === "") throw new StepfoldError("OPTION_INVALID", { option: "host", reason: "must be an address" });
  if (!server.hasAuth && !loopback.includes(host))
    throw new StepfoldError("OPTION_INVALID", {
      option: "host",
      reason: `must be 127.0.0.1, because the server has no \`auth\`: on ${host} everybody in the network could do everything`,
    });
  // the globals of the user's process stay as they are
  const http = createHttpServer(
    getRequestListener((request, { incoming }) => server.fetch(asSent(request, incoming.url ?? "")), { overrideGlobalObjects: false }),
  );
  // a request head that does not come, and a connection that sends nothing, are ended
  http.headersTimeout = 20_000;
  http.requestTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new StepfoldError("OPTION_INVALID", { option: "port", reason: `cannot be used (${error.code ?? error.message}): ${host}:${port}` }),
      ),
    );
    http.listen(port, host, resolve);
  });
  const { port: bound } = http.address() as AddressInfo;
  let closing: Promise<void> | null = null;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    port: bound,
    close() {
      closing ??= new Promise((resolve) => {
        server.close();
        http.close(() => resolve());
        http.closeIdleConnections();
        // those that do not end by themselves
        const force = setTimeout(() => http.closeAllConnections(), 2_000);
        http.once("close", () => clearTimeout(force));
      });
      return closing;
    },
  };
}

/** A part of a path that is one or two dots, also if they are written as `%2e`. */
const dots = /[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

/** Returns a request that the server refuses if its path was sent with parts of dots: URLs drop them, and proxies may read them differently. */
function asSent(request: Request, target: string): Request {
  const [path = ""] = target.split("?");
  return dots.test(path) ? new Request(new URL("/%", request.url)) : request;
}
