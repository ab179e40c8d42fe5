import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy in front of a server. Its connections can be cut. */
export interface CuttingProxy {
  readonly port: number;
  /** Ends all connections now. New connections can be made. */
  cut(): void;
  /** Ends all connections in place of passing on an answer of the server, for the next `count` answers. */
  cutAnswers(count: number): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of a server. */
export async function cuttingProxy(target: URL): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let answersToCut = 0;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      // without this, a command in several pieces waits for the acknowledgement of its first piece
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (data) => upstream.write(data));
    upstream.on("data", (data) => {
      if (answersToCut === 0) return client.write(data);
      answersToCut--;
      return cut();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    cutAnswers(count) {
      answersToCut = count;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
