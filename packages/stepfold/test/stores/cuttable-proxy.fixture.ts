import { createConnection, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy in front of a server. Its connections can be cut at any time. */
export interface CuttableProxy {
  readonly url: string;
  /** Ends every connection now. New connections are let through. */
  cut(): void;
  /** Ends every connection when the next answer of the server comes: the request is done, but its answer is lost. */
  swallowNextAnswer(): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port in front of the server of a URL. */
export async function cuttableProxy(url: string): Promise<CuttableProxy> {
  const { protocol, hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let swallows = false;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const server: Server = createServer((near) => {
    const far = createConnection(Number(port), hostname);
    keep(near);
    keep(far);
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk) => {
      if (swallows) {
        swallows = false;
        cut();
      } else near.write(chunk);
    });
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as { port: number };
  return {
    url: `${protocol}//127.0.0.1:${address.port}`,
    cut,
    swallowNextAnswer: () => {
      swallows = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
