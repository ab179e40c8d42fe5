import { type ServiceName, serviceUrl } from "../scripts/servers/service-url.ts";

/** Thrown if a package or server to compare with is not available. */
export class PeerMissing extends TypeError {
  readonly peer: string;

  constructor(peer: string) {
    super(`${peer} is not installed`);
    this.peer = peer;
  }
}

/** Imports a package of bench/package.json. These packages are needed only for comparisons. */
export async function peer<T>(name: string): Promise<T> {
  try {
    return (await import(name)) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND") throw new PeerMissing(name);
    throw error;
  }
}

/** Returns the URL of a running server. The peer counts as missing if the server was not started. */
export async function serverUrl(service: ServiceName): Promise<string> {
  const url = await serviceUrl(service);
  if (url === null) throw new PeerMissing(service);
  return url;
}
