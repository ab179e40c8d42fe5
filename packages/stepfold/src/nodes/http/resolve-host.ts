/** One address of a host. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Finds the addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly ResolvedAddress[]>;
