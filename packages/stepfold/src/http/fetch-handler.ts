/** A function that answers a web request, as servers of Node, Bun, Deno and edge platforms call it. */
export type FetchHandler = (request: Request) => Promise<Response>;
