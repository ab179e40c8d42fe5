import { createConnection, createServer, type Socket } from "node:net";

/**
 * What the proxy does to connections. `through`: nothing. `delay`: every packet comes late. `slow`: answers come too late, as from an
 * overloaded server. `reset`: connections break, and new ones too. `swallow`: packets disappear without an error, as on half-open
 * connections.
 */
export type Weather = "through" | "delay" | "slow" | "reset" | "swallow";

/** A TCP proxy in front of a server. */
export interface TcpProxy {
  /** The server's URL, through the proxy. */
  readonly url: string;
  set(weather: Weather): void;
  /** Ends all connections. New connections go to the server of this URL. */
  retarget(url: string): void;
  /** Makes the connections for which `chosen` returns true silent, without an error. New connections work. */
  silence(chosen: () => boolean): void;
  close(): Promise<void>;
}

/** A connection between a client and the server. */
interface Connection {
  /** True if a packet was swallowed. From then on nothing is passed on, because a gap makes the rest of the stream meaningless. */
  hasHole: boolean;
}

/** The delay of each packet in the weather `delay`, in milliseconds. */
const delayMs = 120;

/**
 * Starts a proxy on a free port of the loopback interface.
 * @param options.slowMs the delay of answers in the weather `slow`, in milliseconds
 */
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
        // a packet must not overtake earlier packets that are delayed
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
