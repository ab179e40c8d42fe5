/** The module that workerd has, with Cloudflare's own types: their global ones would take the place of Node's. */
declare module "cloudflare:workers" {
  import type { CloudflareWorkersModule } from "@cloudflare/workers-types";

  export const DurableObject: typeof CloudflareWorkersModule.DurableObject;
  export const WorkflowEntrypoint: typeof CloudflareWorkersModule.WorkflowEntrypoint;
  export type WorkflowEvent<T> = CloudflareWorkersModule.WorkflowEvent<T>;
  export type WorkflowStep = CloudflareWorkersModule.WorkflowStep;
}
