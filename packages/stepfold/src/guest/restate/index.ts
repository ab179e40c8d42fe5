export type { RestateDurablePromise, RestateRunContext, RestateSharedContext } from "./restate-client.ts";
export { type RestateHostOptions, restateHost } from "./restate-host.ts";
export { type RestateMailbox, restateMailbox } from "./restate-mailbox.ts";
