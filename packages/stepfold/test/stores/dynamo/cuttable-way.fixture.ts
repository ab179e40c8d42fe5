import { connect, createServer, type Socket } from "node:net";

/** A proxy in front of a server. Its connections can be cut, so that requests and answers are lost. */
export interface CuttableWay {
  readonly url: string;
  /** Cuts every connection. New connections can be made. */
  cut(): void;
  /** Lets the next request through, and cuts its connection when the answer comes. */
  cutNextAnswer(): void;
  close(): Promise<void>;
}

/** Opens a proxy in front of the server at `to`. */
export async function cuttableWay(to: string): Promise<CuttableWay> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let losesAnswer = false;
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => other.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      // what it has said before still arrives
      other.destroySoon();
    });
  };
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    keep(near, far);
    keep(far, near);
    near.pipe(far);
    far.on("data", (bytes) => {
      if (!losesAnswer) near.write(bytes);
      else near.destroy();
      losesAnswer = false;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    cut,
    cutNextAnswer() {
      losesAnswer = true;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
