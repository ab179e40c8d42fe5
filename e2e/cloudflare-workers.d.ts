/**
 * Declares the module of workerd with types of Cloudflare's package. Its global types are not loaded, because they would replace those
 * of Node.
 */
declare module "cloudflare:workers" {
  import type { CloudflareWorkersModule } from "@cloudflare/workers-types";

  export const DurableObject: typeof CloudflareWorkersModule.DurableObject;
  export const WorkflowEntrypoint: typeof CloudflareWorkersModule.WorkflowEntrypoint;
  export type WorkflowEvent<T> = CloudflareWorkersModule.WorkflowEvent<T>;
  export type WorkflowStep = CloudflareWorkersModule.WorkflowStep;
}
