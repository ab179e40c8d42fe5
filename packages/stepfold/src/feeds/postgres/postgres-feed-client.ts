/** The method that is used of the client for statements: a `Pool` or `Client` of pg, or a compatible one, such as the store's. */
export interface PostgresFeedClient {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** The methods that are used of the `Client` of pg that listens. The type is declared here, so that pg is not a dependency. */
export interface PostgresListenClient {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  on(event: "notification", listener: (message: { readonly channel: string; readonly payload?: string | undefined }) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  end(): Promise<unknown>;
}
