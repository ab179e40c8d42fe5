import { createServer, type Server } from "node:http";

/** Opens a service that really fails: it answers 401 for an unknown token, otherwise 503 twice and then 200. */
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
