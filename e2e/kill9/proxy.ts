import { createConnection, createServer, type Socket } from "node:net";

/**
 * What a network does to connections. `through`: nothing. `delay`: every packet comes late. `slow`: answers come too late, as
 * those of an overloaded server. `reset`: connections break, and new ones too. `swallow`: packets vanish, and nobody is told:
 * half-open connections.
 */
export type Weather = "through" | "delay" | "slow" | "reset" | "swallow";

/** A TCP proxy before a server. */
export interface TcpProxy {
  /** The server's URL, through the proxy. */
  readonly url: string;
  set(weather: Weather): void;
  /** Ends all connections. New ones go to another server. */
  retarget(url: string): void;
  /** Those of the connections for which `chosen` says so are silent from now on, and nobody is told. New ones work. */
  silence(chosen: () => boolean): void;
  close(): Promise<void>;
}

/** Between a client and the server. */
interface Connection {
  /** What was swallowed once leaves a hole: nothing that follows makes sense to anybody. */
  hasHole: boolean;
}

const delayMs = 120;

/** Starts a proxy on a free port of loopback. @param options.slowMs by how much answers come too late */
export async function startProxy(url: string, { slowMs = 1_000 } = {}): Promise<TcpProxy> {
  let { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const connections = new Set<Connection>();
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
    const connection: Connection = { hasHole: false };
    connections.add(connection);
    near.on("close", () => connections.delete(connection));
    const pass = (from: Socket, to: Socket): void => {
      const lateMs = (): number => (weather === "delay" ? delayMs : weather === "slow" && from === far ? slowMs : 0);
      const late: Buffer[] = [];
      from.on("data", (chunk) => {
        connection.hasHole ||= weather === "swallow";
        if (connection.hasHole) return;
        const ms = lateMs();
        // nothing overtakes what is late
        if (ms === 0 && late.length === 0) to.write(chunk);
        else {
          late.push(chunk);
          setTimeout(() => to.write(late.shift()!), ms);
        }
      });
      from.on("close", () => {
        if (!connection.hasHole) to.destroy();
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
    retarget(next) {
      ({ hostname, port } = new URL(next));
      breakAll();
    },
    silence(chosen) {
      for (const connection of connections) connection.hasHole ||= chosen();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        breakAll();
      }),
  };
}
