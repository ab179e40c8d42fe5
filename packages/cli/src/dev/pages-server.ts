import { spawn } from "node:child_process";
import { createServer, type Server, type ServerOptions, tokens } from "@stepfold/server";
import { studio } from "@stepfold/studio";
import type { DevAddress } from "./dev-address.ts";
import type { DevLog } from "./dev-log.ts";
import type { DevToken } from "./dev-token.ts";

/** Who uses the pages: events record this name. */
export const developer: string = process.env.USER || "developer";

/** Serves Studio and the API. Every request needs the token. */
export function pagesServer(
  parts: Pick<ServerOptions, "runtime" | "store" | "live" | "notice">,
  { address, token, log }: { readonly address: DevAddress; readonly token: DevToken; readonly log: DevLog },
): Server {
  return createServer({
    ...parts,
    studio: studio(),
    auth: tokens([{ sha256: token.sha256, name: developer, scopes: ["read", "values", "start", "answer", "operate", "edit", "admin"] }]),
    ...(address.names.length > 0 && { hosts: address.names }),
    maxRequestsPerMinute: 6_000,
    onProblem: (error) => log.problem(null, error),
  });
}

/** Shows a page in the browser of this machine. */
export function openBrowser(url: string): void {
  const [program, ...args] = { darwin: ["open"], win32: ["cmd", "/c", "start", ""] }[process.platform as string] ?? ["xdg-open"];
  // the page has been named in the terminal, so nothing is lost if there is no browser
  spawn(program!, [...args, url], { detached: true, stdio: "ignore" })
    .on("error", () => undefined)
    .unref();
}
