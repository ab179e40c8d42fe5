import { type OwnProcess, readOwnProcess } from "./own-process.ts";
import type { Service } from "./service.ts";
import { isListening, reasonOf } from "./system.ts";

/** The URL of a service, and who has started it. */
export type ServiceState =
  | { readonly kind: "already there"; readonly url: string }
  | { readonly kind: "started by us"; readonly url: string; readonly own: OwnProcess }
  | { readonly kind: "not there"; readonly url: string; readonly reason: string };

/**
 * Looks for a service in this order: the server that the environment names, the one that this tool started, the one on the standard
 * port.
 */
export async function findService(service: Service): Promise<ServiceState> {
  const named = process.env[service.urlVariable];
  if (named) return stateOf(service, named, service.urlVariable);
  const own = readOwnProcess(service.name);
  if (own) {
    const url = service.url(own.port);
    const state = await stateOf(service, url, `our process ${own.pid}`);
    return state.kind === "already there" ? { kind: "started by us", url, own } : state;
  }
  const port = preferredPort(service);
  if (!(await isListening(port))) return { kind: "not there", url: service.url(port), reason: `nothing listens on port ${port}` };
  return stateOf(service, service.url(port), `port ${port}`);
}

/** Returns the standard port, unless the environment sets another one. */
export function preferredPort({ portVariable, standardPort }: Service): number {
  return Number(process.env[portVariable] || standardPort);
}

async function stateOf(service: Service, url: string, who: string): Promise<ServiceState> {
  try {
    await service.ping(url);
    return { kind: "already there", url };
  } catch (error) {
    return { kind: "not there", url, reason: `${who} does not answer as ${service.name}: ${reasonOf(error)}` };
  }
}
