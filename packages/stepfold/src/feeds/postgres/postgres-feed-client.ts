/** What of a client for statements is called: a `Pool` or `Client` of pg, or one made after it. The store's own will do. */
export interface PostgresFeedClient {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** What of a `Client` of pg is called that listens. Described here and not imported, so that pg is no dependency. */
export interface PostgresListenClient {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  on(event: "notification", listener: (message: { readonly channel: string; readonly payload?: string | undefined }) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  end(): Promise<unknown>;
}
