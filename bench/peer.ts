import { type ServiceName, serviceUrl } from "../scripts/servers/service-url.ts";

/** A peer that is not installed. */
export class PeerMissing extends TypeError {
  readonly peer: string;

  constructor(peer: string) {
    super(`${peer} is not installed`);
    this.peer = peer;
  }
}

/** A package of bench/package.json, which nobody needs who does not want to compare. */
export async function peer<T>(name: string): Promise<T> {
  try {
    return (await import(name)) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND") throw new PeerMissing(name);
    throw error;
  }
}

/** Where a server is that somebody has started. */
export async function serverUrl(service: ServiceName): Promise<string> {
  const url = await serviceUrl(service);
  if (url === null) throw new PeerMissing(service);
  return url;
}
