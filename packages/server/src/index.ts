export { createServer, type RouteInfo, type Server } from "./create-server.ts";
export type { Authenticate, Principal } from "./guard/principal.ts";
export { type Token, tokens } from "./guard/tokens.ts";
export { type LiveEvents, type LiveMessage, liveEvents } from "./live/live-events.ts";
export type { ServerOptions, TenantSite } from "./server-options.ts";
