import { hostname, networkInterfaces } from "node:os";
import type { Server } from "@stepfold/server";
import { type Listening, listen } from "@stepfold/server/node";
import { StepfoldError } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { allowedToken } from "./allowed-token.ts";

/** S-T-E-P on the keys of a telephone. If it is taken, the next ones are tried. */
const firstPort = 7837;
const lastPort = 7847;
const loopback: readonly string[] = ["127.0.0.1", "localhost", "::1"];

/** Where the server of `stepfold dev` listens. */
export interface DevAddress {
  readonly host: string;
  /** Null: the first free one from 7837 on. */
  readonly port: number | null;
  /** Names under which it is reached, besides those of loopback. */
  readonly names: readonly string[];
}

/** @throws BadInput `USAGE` */
export function readAddress({
  host = "127.0.0.1",
  port,
  token,
}: {
  readonly host?: string;
  readonly port?: string;
  readonly token?: string;
}): DevAddress {
  if (token !== undefined) allowedToken(token);
  if (!loopback.includes(host) && token === undefined)
    throw new BadInput("USAGE", `--host ${host} needs --token: on this address others in the network reach the server`, {
      hint: "Choose a token of at least 16 characters, and open the address with #t=TOKEN",
    });
  const number = port === undefined ? null : /^\d{1,5}$/.test(port) ? Number(port) : Number.NaN;
  if (number !== null && !(number <= 65_535)) throw new BadInput("USAGE", `--port must be a whole number up to 65535, not "${port}"`);
  return { host, port: number, names: loopback.includes(host) ? [] : [...new Set([host, ...ownNames()])] };
}

/** The names and addresses of this machine. */
function ownNames(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
  );
  return [hostname().toLowerCase(), ...addresses];
}

/** Lets the server listen on the port that was named, or on the first free one. @throws BadInput `USAGE` */
export async function listenAt(server: Server, { host, port }: DevAddress): Promise<Listening> {
  for (let next = port ?? firstPort; ; next++) {
    try {
      return await listen(server, { port: next, host });
    } catch (cause) {
      if (!StepfoldError.is(cause, "OPTION_INVALID")) throw cause;
      if (port === null && next < lastPort) continue;
      throw new BadInput(
        "USAGE",
        port === null ? `The ports ${firstPort} to ${lastPort} are all taken` : `Port ${port} ${cause.details.reason}`,
        {
          hint: "Choose another one with --port",
          cause,
        },
      );
    }
  }
}
