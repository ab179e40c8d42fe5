export type { CloudflareInstance, CloudflareStep, CloudflareStepConfig } from "./cloudflare-client.ts";
export { type CloudflareHostOptions, cloudflareHost } from "./cloudflare-host.ts";
export { type CloudflareMailbox, cloudflareMailbox } from "./cloudflare-mailbox.ts";
