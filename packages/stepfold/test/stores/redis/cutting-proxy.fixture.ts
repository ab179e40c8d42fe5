import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut. */
export interface CuttingProxy {
  readonly port: number;
  /** Ends all connections now. New ones can be made. */
  cut(): void;
  /** Ends all connections as soon as the server answers, before the answer is passed on; so many times. */
  cutAnswers(count: number): void;
  close(): Promise<void>;
}

/** A proxy before a server. */
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
      // a command in several pieces would otherwise wait for the acknowledgement of the first
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
