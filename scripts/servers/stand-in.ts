import type { AddressInfo, Server, Socket } from "node:net";

/** A replacement for a server that cannot be installed here. */
export interface StandIn {
  readonly url: string;
  /** Ends every connection and frees the port. Afterwards the server does not keep the process alive. */
  close(): Promise<void>;
}

/** Lets a server listen on a free port of the loopback interface. `close` does not wait for clients that keep connections open. */
export async function listenOnLoopback(server: Server, scheme: string): Promise<StandIn> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { url: `${scheme}://127.0.0.1:${port}`, close };
}

/** Runs a stand-in as a process: prints its URL and closes it on SIGINT or SIGTERM. */
export async function serveAlone(start: () => Promise<StandIn>): Promise<void> {
  const standIn = await start();
  console.log(standIn.url);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => standIn.close());
}
