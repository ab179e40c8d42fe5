export type { TriggerStepTask, TriggerWait } from "./trigger-client.ts";
export { type TriggerHostOptions, triggerHost } from "./trigger-host.ts";
export { type TriggerMailbox, triggerMailbox } from "./trigger-mailbox.ts";
