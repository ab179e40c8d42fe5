import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { refusalOf } from "./address.ts";
import { FatalHttpError } from "./http-error.ts";
import type { ResolvedAddress, ResolveHost } from "./resolve-host.ts";

/**
 * Decides which addresses a call may connect to. A host that is allowed by name is so for calls that a workflow makes, and for
 * redirects by such a host: a public server must not be able to send a call on to a host inside.
 */
export interface SsrfGuard {
  /**
   * Refuses a URL whose host is written as an address that must not be called: no socket looks such a host up.
   *
   * @param from what redirects to it; null if the workflow names it
   */
  check(url: URL, from: URL | null): void;
  /**
   * Gives the function with which the socket of a call looks up its host. It gives the socket exactly the addresses that were judged
   * here, so it does not help an attacker if the name has another address a moment later (DNS rebinding).
   */
  lookupFor(url: URL, from: URL | null): LookupFunction;
}

/** The resolver of the operating system. */
export const systemResolve: ResolveHost = (hostname) => systemLookup(hostname, { all: true });

/**
 * Allows public addresses, and the hosts named: `"localhost"` at any port, `"localhost:8080"` at one.
 *
 * @throws StepfoldError `OPTION_INVALID` for a text that is no host name, which could never match
 */
export function ssrfGuard(allowHosts: readonly string[], resolve: ResolveHost): SsrfGuard {
  const allowed = new Set(allowHosts.map(readHost));
  const isAllowed = (url: URL): boolean => allowed.has(url.hostname) || allowed.has(`${url.hostname}:${portOf(url)}`);
  const trusts = (url: URL, from: URL | null): boolean => isAllowed(url) && (from === null || isAllowed(from));
  return {
    check(url, from) {
      const literal = addressIn(url);
      const refusal = literal === null || trusts(url, from) ? null : refusalOf(literal);
      if (refusal !== null) throw refused(url, `is no public address (${refusal})`);
    },
    lookupFor(url, from) {
      const trusted = trusts(url, from);
      const usable = (found: readonly ResolvedAddress[]): readonly ResolvedAddress[] => {
        const allowedNow = trusted ? found : found.filter(({ address }) => refusalOf(address) === null);
        // the message does not name the address: a workflow must not explore the network it runs in
        if (allowedNow.length === 0) throw trusted ? unknown(url) : refused(url, "has no public address");
        return allowedNow;
      };
      return (hostname, options, callback) => {
        resolve(hostname)
          .then((found) => usable(found.filter((one) => fits(one, options.family))))
          .then(
            (addresses) => {
              if (options.all) callback(null, [...addresses]);
              else callback(null, addresses[0]!.address, addresses[0]!.family);
            },
            (error: unknown) => callback(error as Error, []),
          );
      };
    },
  };
}

function fits({ family }: ResolvedAddress, wanted: number | "IPv4" | "IPv6" | undefined): boolean {
  if (wanted === 4 || wanted === "IPv4") return family === 4;
  return wanted === 6 || wanted === "IPv6" ? family === 6 : true;
}

/** The address, if the host is written as one. The class `URL` has turned decimal, octal and hexadecimal forms into dotted ones. */
function addressIn({ hostname }: URL): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

/** A name as `URL` would write it, so that both can be compared. */
function readHost(name: string): string {
  const bracketed = typeof name === "string" && isIP(name) === 6 ? `[${name}]` : String(name);
  const [, host = "", port] = /^([^\s/?#@*\\:[\]]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?$/.exec(bracketed) ?? [];
  const url = host === "" ? null : URL.parse(`http://${host}`);
  if (!url || Number(port ?? 0) > 65_535) {
    const reason = `must hold host names such as "localhost", "localhost:8080" or "[::1]", not ${JSON.stringify(name)}`;
    throw new StepfoldError("OPTION_INVALID", { option: "allowHosts", reason });
  }
  return port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`;
}

/** A host that is allowed by name, and has no address of the kind that the socket asked for. */
function unknown(url: URL): FatalHttpError {
  return new FatalHttpError("HTTP_ADDRESS_REFUSED", `The host "${url.hostname}" has no address that can be connected to`);
}

function refused(url: URL, reason: string): FatalHttpError {
  return new FatalHttpError(
    "HTTP_ADDRESS_REFUSED",
    `The host "${url.hostname}" ${reason}. If it may be called, whoever runs this engine must allow it by name: httpNode({ allowHosts: ["${url.hostname}"] })`,
  );
}
