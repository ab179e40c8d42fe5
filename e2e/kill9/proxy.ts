import { createConnection, createServer, type Socket } from "node:net";

/**
 * What a network does to connections. `through`: nothing. `delay`: every packet comes late. `reset`: connections break, and
 * new ones too. `swallow`: packets vanish, and nobody is told: half-open connections.
 */
export type Weather = "through" | "delay" | "reset" | "swallow";

/** A TCP proxy before a server. */
export interface TcpProxy {
  /** The server's URL, through the proxy. */
  readonly url: string;
  set(weather: Weather): void;
  close(): Promise<void>;
}

const delayMs = 120;

/** Starts a proxy on a free port of loopback. */
export async function startProxy(url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let weather: Weather = "through";
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  };
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const server = createServer((near) => {
    keep(near);
    if (weather === "reset") {
      near.resetAndDestroy();
      return;
    }
    const far = createConnection(Number(port), hostname);
    keep(far);
    // what was swallowed once leaves a hole: nothing that follows on this connection makes sense to anybody
    let hasHole = false;
    const pass = (from: Socket, to: Socket): void => {
      const late: Buffer[] = [];
      from.on("data", (chunk) => {
        hasHole ||= weather === "swallow";
        if (hasHole) return;
        // nothing overtakes what is late
        if (weather !== "delay" && late.length === 0) to.write(chunk);
        else {
          late.push(chunk);
          setTimeout(() => to.write(late.shift()!), delayMs);
        }
      });
      from.on("close", () => {
        if (!hasHole) to.destroy();
      });
    };
    pass(near, far);
    pass(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String((server.address() as { port: number }).port);
  return {
    url: through.href,
    set(next) {
      weather = next;
      if (next === "reset") breakAll();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        breakAll();
      }),
  };
}
