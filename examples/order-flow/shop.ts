import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** One request in the ledger. */
export interface LedgerLine {
  readonly at: number;
  readonly path: string;
  readonly key: string;
  readonly status: number;
  /** The id of what the request made. Absent if it made nothing: it failed, or it repeated a key. */
  readonly effect?: string;
}

/** The number of requests of each key that fail before one succeeds, by path. */
const failures: Readonly<Record<string, number>> = { "/reservations": 2, "/charges": 1, "/shipments": 0 };

/**
 * Opens a shop on a port of this machine. It fails at first, recognizes repeated requests by their Idempotency-Key, and survives `kill
 * -9`.
 */
export async function openShop(dataFolder: string): Promise<{ url: string; close: () => void }> {
  const ledger = join(dataFolder, "shop-ledger.jsonl");
  const server = createServer((request, response) => answer(ledger, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Reads the ledger, oldest line first. A last line that a crash cut short is left out. */
export function readLedger(ledger: string): LedgerLine[] {
  if (!existsSync(ledger)) return [];
  const lines = readFileSync(ledger, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LedgerLine);
}

function answer(ledger: string, { url: path = "/", headers }: IncomingMessage, response: ServerResponse): void {
  const reply = (status: number, body: object): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (headers.authorization !== "Bearer shop-secret") {
    reply(401, { error: "unknown token" });
    return;
  }
  const key = String(headers["idempotency-key"]);
  const before = readLedger(ledger).filter((line) => line.key === key && line.path === path);
  const known = before.find(({ effect }) => effect !== undefined)?.effect;
  const status = known === undefined && before.length < (failures[path] ?? 0) ? 503 : 200;
  const effect = known === undefined && status === 200 ? `${path.slice(1, 3)}_${before.length}${Date.now().toString(36)}` : undefined;
  const line: LedgerLine = { at: Date.now(), path, key, status, ...(effect === undefined ? {} : { effect }) };
  // the line is written before the answer is sent: if the caller dies before it gets the answer, it asks again and gets the same answer
  appendFileSync(ledger, `${JSON.stringify(line)}\n`);
  reply(status, status === 200 ? { id: known ?? effect, repeated: known !== undefined } : { error: "busy" });
}
