import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { refusalOf } from "./address.ts";
import { FatalHttpError } from "./http-error.ts";
import type { ResolvedAddress, ResolveHost } from "./resolve-host.ts";

/**
 * Decides which addresses a call may connect to. A host that is allowed by name is allowed for calls of a workflow, and for redirects
 * from another allowed host: a public server must not be able to redirect a call to an internal host.
 */
export interface SsrfGuard {
  /**
   * Refuses a URL whose host is an address that must not be called. `lookupFor` cannot do this, because no socket looks up an address.
   *
   * @param from the URL that redirects to this one; null if the workflow names this one
   */
  check(url: URL, from: URL | null): void;
  /**
   * Returns the function with which the socket of a call looks up its host. The socket gets exactly the addresses that were checked here,
   * so an attacker gains nothing if the name has another address a moment later (DNS rebinding).
   */
  lookupFor(url: URL, from: URL | null): LookupFunction;
}

/** The resolver of the operating system. */
export const systemResolve: ResolveHost = (hostname) => systemLookup(hostname, { all: true });

/**
 * Returns a guard that allows public addresses and these hosts: `"localhost"` at any port, `"localhost:8080"` at this port only.
 *
 * @throws StepfoldError `OPTION_INVALID` for a text that is not a host name, because it could never match
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
        // The message does not name the address: a workflow must not be able to explore the network around the engine.
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

/**
 * Returns the address if the host of a URL is an address, else null. The class `URL`
 * has already turned decimal, octal and hexadecimal forms into dotted ones.
 */
function addressIn({ hostname }: URL): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

/** Returns a host name in the form that `URL` writes, so that both can be compared. */
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

/** The error for a host that is allowed by name but has no address of the family that the socket asks for. */
function unknown(url: URL): FatalHttpError {
  return new FatalHttpError("HTTP_ADDRESS_REFUSED", `The host "${url.hostname}" has no address that can be connected to`);
}

function refused(url: URL, reason: string): FatalHttpError {
  return new FatalHttpError(
    "HTTP_ADDRESS_REFUSED",
    `The host "${url.hostname}" ${reason}. If it may be called, the operator of this engine must allow it by name: httpNode({ allowHosts: ["${url.hostname}"] })`,
  );
}
