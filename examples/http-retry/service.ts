import { createServer, type Server } from "node:http";

/** A service that really fails: 401 for a token it does not know, 503 twice, then 200. */
export async function openService(): Promise<Server> {
  let failures = 2;
  const server = createServer(({ headers }, response) => {
    const status = headers.authorization !== "Bearer good-token" ? 401 : failures-- > 0 ? 503 : 200;
    response.writeHead(status, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify(status === 200 ? { visitors: 42 } : { error: status }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
