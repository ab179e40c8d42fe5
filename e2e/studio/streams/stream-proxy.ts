import { createConnection, createServer, type Socket } from "node:net";

/**
 * What a proxy does to streams of events; all other answers pass. `collect`: it passes on what has come only once there is enough of it, or
 * after a while, as proxies that buffer do. `cut`: it ends a connection after some bytes, in the middle of whatever is just on its way.
 */
export type StreamTreatment = "collect" | "cut";

/** A proxy that treats streams badly. */
export interface StreamProxy {
  readonly url: string;
  /** How many streams it has cut so far. */
  readonly cuts: () => number;
  close(): Promise<void>;
}

const collectedBytes = 8 * 1024;
const collectedMs = 1_000;
/** A stream is cut after so many bytes, which are different each time. The heads of an answer, and the first events, fit in. */
const leastBytes = 3_000;
const mostBytes = 15_000;

/** Starts such a proxy in front of a server, on a free port of this machine. */
export async function startStreamProxy(to: string, treatment: StreamTreatment): Promise<StreamProxy> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let cuts = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = keep(createConnection(Number(port), hostname));
    keep(near);
    let pass: ((chunk: Buffer) => void) | null = null;
    near.on("data", (chunk) => {
      if (/^GET \/v1\/stream\b/.test(chunk.toString("latin1")))
        pass =
          treatment === "collect"
            ? collector(near)
            : cutter(near, leastBytes + ((cuts * 3_571) % (mostBytes - leastBytes)), () => {
                cuts++;
              });
      far.write(chunk);
    });
    far.on("data", (chunk) => (pass ? pass(chunk) : near.write(chunk)));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    cuts: () => cuts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function collector(near: Socket): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let timer: NodeJS.Timeout | null = null;
  const release = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    near.write(Buffer.concat(held));
    held = [];
  };
  return (chunk) => {
    held.push(chunk);
    if (held.reduce((sum, { byteLength }) => sum + byteLength, 0) >= collectedBytes) release();
    else timer ??= setTimeout(release, collectedMs);
  };
}

function cutter(near: Socket, bytes: number, onCut: () => void): (chunk: Buffer) => void {
  let left = bytes;
  return (chunk) => {
    near.write(chunk.subarray(0, Math.max(0, left)));
    left -= chunk.byteLength;
    if (left > 0 || near.destroyed) return;
    onCut();
    // what was written before still arrives
    near.destroySoon();
  };
}
